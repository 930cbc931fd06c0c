// What was done, in this browser: the same lines that a notebook's progress file has.
const KEY = "mqlab-progress";
const progress = {
  all() {
    try {
      return JSON.parse(localStorage.getItem(KEY) ?? "[]");
    } catch {
      return [];
    }
  },
  add({ lesson, id }, { right, mistake = "" }, given, hints) {
    const line = {
      lesson,
      task: id,
      right,
      given: JSON.stringify(given).slice(0, 200),
      mistake,
      hints,
      learner: "",
      at: Math.round(Date.now() / 100) / 10
    };
    try {
      localStorage.setItem(KEY, JSON.stringify([...progress.all(), line]));
    } catch {
      /* the lesson goes on without */
    }
  },
  isDone: (lesson, task) => progress.all().some((one) => one.lesson === lesson && one.task === task && one.right),
  isTried: (lesson, task) => progress.all().some((one) => one.lesson === lesson && one.task === task),
  forget() {
    try {
      localStorage.removeItem(KEY);
    } catch {
      /* there is none */
    }
  }
};

const showProgress = () => {
  for (const row of document.querySelectorAll(".lessons li")) {
    const tasks = row.dataset.tasks.split(" ").filter(Boolean),
      done = tasks.filter((id) => progress.isDone(row.dataset.lesson, id)).length;
    row.querySelector(".progress").textContent = done
      ? words.of_tasks.replace("{done}", done).replace("{all}", tasks.length)
      : "";
  }
};

const setUpContents = () => {
  showProgress();
  const forget = document.getElementById("forget"),
    told = forget.textContent;
  document.getElementById("take").addEventListener("click", () => {
    const text = progress
      .all()
      .map((line) => `${JSON.stringify(line)}\n`)
      .join("");
    const link = make("a", {
      href: URL.createObjectURL(new Blob([text], { type: "application/jsonl" })),
      download: "progress.jsonl"
    });
    link.click();
    URL.revokeObjectURL(link.href);
  });
  forget.addEventListener("click", () => {
    if (forget.dataset.sure) {
      progress.forget();
      showProgress();
    }
    forget.textContent = forget.dataset.sure ? told : words.forget_sure;
    forget.dataset.sure = forget.dataset.sure ? "" : "yes";
  });
};
