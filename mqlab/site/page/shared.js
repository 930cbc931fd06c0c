// What the parts of a page share. All scripts of this folder but the worker are one closure.
const site = JSON.parse(document.getElementById("site").textContent),
  words = site.words;
const worded = (key, values) => words[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
const assets = new URL(".", document.currentScript.src);
const make = (tag, attributes = {}, ...inside) => {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) found.setAttribute(name, "");
    else if (value !== false && value != null) found.setAttribute(name, value);
  }
  found.append(...inside);
  return found;
};
