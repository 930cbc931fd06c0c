// The engine's worker: Pyodide with mqlab in it, and the files of its page, which come first. A request is a text
// of JSON, and so is its answer.
const say = (data) => postMessage(data);
const waiting = [];
let answer = null;

self.onmessage = ({ data }) => {
  if (data.files) begin(data.files).catch(fail);
  else if (answer) say({ id: data.id, text: answer(data.text) });
  else waiting.push(data);
};

const begin = async (files) => {
  const archive = fetch(new URL("python.zip", import.meta.url));
  const { loadPyodide } = await import("./pyodide.mjs");
  const pyodide = await loadPyodide();
  say({ starting: true });
  const found = await archive;
  if (!found.ok) throw new Error(`python.zip: ${found.status}`);
  pyodide.unpackArchive(await found.arrayBuffer(), "zip", { extractDir: "/lab" });
  for (const [name, text] of Object.entries(files)) pyodide.FS.writeFile(name, text);
  pyodide.runPython(`
import sys
sys.path.insert(0, "/lab")
sys.dont_write_bytecode = True
from mqlab.site import front
front.install()
from mqlab.site.kernel import Kernel
`);
  answer = pyodide.runPython("Kernel().answer");
  say({ ready: true });
  for (const data of waiting.splice(0)) say({ id: data.id, text: answer(data.text) });
};

const fail = (error) =>
  say({
    failed: String(error.message ?? error)
      .trim()
      .split("\n")
      .at(-1)
  });
