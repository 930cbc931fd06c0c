// Cells: code that can be changed and run. What stands above and has not run yet runs first, so that names are known.
const cells = [];

const outputOf = (found) => {
  if (found.text != null) return make("pre", { tabindex: "0" }, found.text.replace(/\n$/, ""));
  if (found.error != null) return make("pre", { class: "error", role: "alert", tabindex: "0" }, found.error);
  if (found.html != null) {
    const box = make("div", { class: "html scroll", tabindex: "0" });
    box.innerHTML = found.html; // the lab's own tables: their names are escaped where they are made
    return box;
  }
  const place = make("div", { class: "picture" });
  queueMicrotask(() =>
    makePicture(place, { ...found, run: found.header, title: found.columns.meta?.title?.[0] ?? "" })
  );
  return place;
};

const makeCell = (section) => {
  const { source, picture } = JSON.parse(section.querySelector("script").textContent);
  const shown = section.querySelector(".source"),
    outputs = section.querySelector(".outputs");
  const cell = {
    section,
    source,
    area: null,
    ran: "",
    get code() {
      return cell.area?.value ?? source;
    }
  };
  if (picture) makePicture(outputs.querySelector(".picture"), picture);
  if (!site.engine) return cell;
  const run = make("button", { type: "button", class: "run" }, words.run),
    edit = make("button", { type: "button" }, words.edit);
  const undo = make("button", { type: "button", hidden: true }, words.undo),
    told = make("span", { class: "told", role: "status" });
  const bar = make("div", { class: "bar" }, run, edit, undo, told);
  section.insertBefore(bar, outputs);
  edit.addEventListener("click", () => {
    cell.area = make("textarea", {
      "aria-label": words.code,
      spellcheck: "false",
      rows: source.split("\n").length + 1
    });
    cell.area.value = source;
    cell.area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      cell.run();
    });
    shown.hidden = edit.hidden = true;
    undo.hidden = false;
    section.insertBefore(cell.area, bar);
    cell.area.focus();
  });
  undo.addEventListener("click", () => {
    cell.area.remove();
    cell.area = null;
    shown.hidden = edit.hidden = false;
    undo.hidden = true;
    edit.focus();
  });
  cell.show = (found) => {
    section.querySelector(".covered button")?.click();
    outputs.replaceChildren(...found.map(outputOf));
  };
  cell.run = async () => {
    if (engine.busy) return;
    engine.busy += 1;
    run.textContent = words.stop;
    told.textContent = engine.state === "ready" ? words.running : words.waiting;
    try {
      await ready.promise;
      told.textContent = words.running;
      const begun = performance.now(),
        above = cells.slice(0, cells.indexOf(cell)).filter((one) => one.ran !== `${engine.generation} ${one.code}`);
      for (const one of above) {
        const found = await engine.ask("run", { code: one.code });
        one.ran = `${engine.generation} ${one.code}`;
        if (found.some((output) => output.error) && !one.section.querySelector(".error")) {
          one.show(found);
          one.section.scrollIntoView({ block: "nearest" });
        }
      }
      cell.show(await engine.ask("run", { code: cell.code }));
      cell.ran = `${engine.generation} ${cell.code}`;
      const seconds = words.ran.replace("{seconds}", ((performance.now() - begun) / 1000).toFixed(1));
      told.textContent = above.length ? `${seconds}, ${words.before_ran}` : seconds;
    } catch (error) {
      told.textContent = error.message;
    }
    run.textContent = words.run;
    engine.busy -= 1;
  };
  run.addEventListener("click", () => {
    if (run.textContent === words.stop) engine.stop();
    else cell.run();
  });
  return cell;
};
