// Covers: what a cell gave when the page was made stays covered until the prediction before it has been made, since it
// would give the answer away. Whoever only reads presses the button.
const setUpCovers = (article) => {
  let task = null;
  for (const part of article.children) {
    if (part.matches(".task")) task = part;
    else if (task && part.matches(".code")) cover(part.querySelector(".outputs"), task);
  }
};

const cover = (outputs, section) => {
  const { task } = JSON.parse(section.querySelector("script").textContent);
  if (task.kind !== "predict" || !outputs.childElementCount || progress.isTried(task.lesson, task.id)) return;
  const show = make("button", { type: "button" }, words.uncover),
    note = make("p", { class: "note covered" }, words.covered, " ", show);
  const uncover = () => {
    note.remove();
    outputs.hidden = false;
  };
  outputs.hidden = true;
  outputs.before(note);
  show.addEventListener("click", uncover);
  section.addEventListener("predicted", uncover, { once: true });
};
