// The beginning: the theme as the reader's system has it, then tasks, cells and, at last, the engine.
const dark = matchMedia("(prefers-color-scheme: dark)");
const setTheme = () => {
  document.body.dataset.jpThemeLight = String(!dark.matches);
};
dark.addEventListener("change", setTheme);
setTheme();
if (document.querySelector(".lessons")) setUpContents();
const deck = document.querySelector(".deck");
if (deck) setUpDeck(deck);
for (const section of document.querySelectorAll(".task")) setUpTask(section);
for (const section of document.querySelectorAll(".code")) cells.push(makeCell(section));
for (const article of document.querySelectorAll(".lesson")) setUpCovers(article);
if (site.engine) {
  if (document.readyState === "complete") engine.start();
  else addEventListener("load", engine.start);
}
globalThis.mqlabSite = { engine, pictures, cells };
