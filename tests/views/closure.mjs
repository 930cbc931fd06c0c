// Some scripts of the page as they are there, one closure, but without a page: what they need of one when they are
// loaded is empty. A name of the answer is what it is in the closure; `tables` are the columns of the one panel.
import { readFileSync } from "node:fs";

const PAGE = new URL("../../mqlab/views/page/", import.meta.url);
const TABLE = readFileSync(new URL("../../mqlab/views/words.toml", import.meta.url), "utf8");
const words = Object.fromEntries(
  [...TABLE.matchAll(/^(\w+) = (".*")$/gm)].map(([, key, text]) => [key, JSON.parse(text)])
);

export const closure = (scripts, tables = {}) => {
  const models = new Map(Object.entries(tables).map(([name, data]) => [name, { data }]));
  const root = { document: { get_model_by_name: (name) => models.get(name) ?? null }, tags: [] };
  const nothing = { getContext: () => ({ measureText: (text) => ({ width: text.length }) }) };
  const document = { createElement: () => nothing };
  const code = scripts.map((name) => readFileSync(new URL(`${name}.js`, PAGE), "utf8")).join("\n");
  const make = new Function("TEXTS", "root", "document", "matchMedia", `${code}\nreturn (name) => eval(name);`);
  const read = make(words, root, document, () => ({ matches: false }));
  return new Proxy({}, { get: (_, name) => read(name) });
};
