// Runs one figure under Pyodide and prints what Python prints.
// node run.mjs <folder with node_modules> <wheel>... -- <python code>
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, ...rest] = process.argv.slice(2);
const cut = rest.indexOf("--");
const { loadPyodide } = await import(pathToFileURL(`${folder}/node_modules/pyodide/pyodide.mjs`));
const pyodide = await loadPyodide();
for (const wheel of rest.slice(0, cut)) pyodide.unpackArchive(new Uint8Array(readFileSync(wheel)), "zip", { extractDir: "/lab" });
pyodide.runPython("import sys; sys.path.insert(0, \"/lab\")");
pyodide.runPython(rest[cut + 1]);
