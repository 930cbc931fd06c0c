// Tasks: what is said to an answer. With the engine the engine says it; without it the page puts it together from the
// key and the answers of wrong rules, which the engine computed when the page was made (mqlab.lessons.feedback).
const MOST = 1_000_000;
const say = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const quoted = (text) => (text.includes("'") ? `"${text}"` : `'${text}'`);

const toldOf = (answer) =>
  Object.entries(answer)
    .map(([name, value]) => `${name} ${value === "" ? "nobody" : value}`)
    .join(", ");
const isSame = (one, other, within) =>
  Object.keys(one).every((name) =>
    typeof one[name] === "string" || typeof other[name] === "string"
      ? one[name] === other[name]
      : Math.abs(one[name] - other[name]) <= within
  );

// A prediction in the kinds of value that its key has; throws what a learner is told.
const read = (given, task) => {
  const missing = task.fields.find((name) => !(name in given));
  if (missing)
    throw new Error(
      worded("field_missing", { name: missing, fields: task.fields.map((name) => `${name}=...`).join(", ") })
    );
  return Object.fromEntries(
    task.fields.map((name) => {
      const text = given[name],
        right = task.key[name];
      if (typeof right === "string") {
        const names = text.replaceAll(",", " ").replaceAll("->", " ").split(/\s+/).filter(Boolean);
        return [name, (name === "route" ? names : names.sort()).join(" ")];
      }
      if (!/^\s*(\d+\.?\d*|\.\d+)\s*$/.test(text)) throw new Error(worded("not_number", { name, value: quoted(text) }));
      const value = Number(text),
        written = Number.isInteger(value) ? `${value}.0` : `${value}`;
      if (value > MOST)
        throw new Error(worded("not_in_range", { name, value: written, most: MOST.toLocaleString("en") }));
      if (task.whole.includes(name) && !Number.isInteger(value))
        throw new Error(worded("not_whole", { name, value: written }));
      return [name, value];
    })
  );
};

const onPrediction = (given, task) => {
  const said = site.said,
    answer = read(given, task),
    after = task.told ? [task.told] : [];
  if (isSame(answer, task.key, task.within))
    return { right: true, lines: [say(said.right, { key: task.key_told }), ...after], mistake: "" };
  const lines = [say(said.wrong, { given: toldOf(answer), key: task.key_told })],
    names = task.fields;
  if (names.length > 1) {
    const right = names.filter((name) => isSame({ [name]: answer[name] }, task.key, task.within)).length;
    if (right) lines.push(say(said.close, { right, all: names.length }));
    const sum = (of) => Object.values(of).reduce((all, value) => all + (typeof value === "string" ? 0 : value), 0);
    if (task.sums && sum(answer) > Math.max(task.sent, sum(task.key)))
      lines.push(say(said.sum_over, { given: sum(answer), sent: task.sent }));
  }
  const [name = "", , rule] =
    task.mistakes.find(([, under]) => !isSame(under, task.key, task.within) && isSame(answer, under, task.within)) ??
    [];
  lines.push(name ? say(said.mistake, { rule }) : say(said.no_mistake, { ask: task.ask }), ...after);
  return { right: false, lines, mistake: name };
};

const onExercise = (given, task) => {
  const typed = task.fields
    .map((name) =>
      (given[name] ?? "")
        .trim()
        .replace(/,/g, task.kind === "arrange" ? " " : ",")
        .replace(/\s+/g, " ")
    )
    .join("\n");
  const found = task.tried[typed] ?? task.tried[typed.toLowerCase()];
  return (
    found ?? {
      right: false,
      lines: [say(words.only_engine, { known: Object.keys(task.tried).join("; ").replaceAll("\n", ", ") })],
      unknown: true
    }
  );
};

const stored = (given, task) => {
  try {
    return task.kind === "predict" ? onPrediction(given, task) : onExercise(given, task);
  } catch (error) {
    return { right: false, lines: [error.message], mistake: "", nonsense: true };
  }
};

const answerTo = async (given, task) => {
  if (engine.state === "ready" && !engine.busy) {
    const { lesson, language, id, kind } = task;
    try {
      return await engine.ask("task", { lesson, language, task: id, kind, given });
    } catch {
      /* what is stored will do */
    }
  }
  return stored(given, task);
};

const setUpTask = (section) => {
  const { task, picture } = JSON.parse(section.querySelector("script").textContent);
  const form = section.querySelector("form"),
    said = section.querySelector(".said"),
    hints = section.querySelector(".hints");
  const done = section.querySelector(".done");
  let asked = 0;
  if (task.kind !== "predict" || task.fields.some((name) => name.length > 8 || typeof task.key?.[name] === "string"))
    form.querySelector(".fields").classList.add("wide");
  done.hidden = !progress.isDone(task.lesson, task.id);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value.trim()));
    const found = await answerTo(given, task);
    said.classList.toggle("right", found.right);
    said.replaceChildren(...found.lines.map((line) => make("p", {}, line)));
    if (!found.unknown && !found.nonsense) progress.add(task, found, given, asked);
    if (!found.nonsense) section.dispatchEvent(new Event("predicted"));
    if (picture && !found.nonsense && !section.querySelector(".place"))
      makePicture(section.querySelector(".picture"), picture);
  });
  section.querySelector(".hint").addEventListener("click", () => {
    hints.append(make("li", {}, task.hints[Math.min(asked, task.hints.length - 1)]));
    asked += 1;
  });
  section.mqlab = { stored: (given) => stored(given, task) };
};
