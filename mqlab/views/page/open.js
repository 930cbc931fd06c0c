// Another network on the stage: a file of this machine, chosen or dropped, or one that was drawn before.
const OPENED = ".json,.xml,.properties";
const MOST_BYTES = 2e6; // of configuration files: more is something else

const openFiles = async (/** @type {Iterable<File>} */ files) => {
  const chosen = [...files],
    bytes = chosen.reduce((sum, one) => sum + one.size, 0);
  if (!chosen.length) return;
  if (bytes > MOST_BYTES) {
    lab.say("", worded("files_too_large", chosen[0].name, (bytes / 1e6).toFixed(1), MOST_BYTES / 1e6));
    return;
  }
  const read = chosen.map(async (one) => ({ name: one.webkitRelativePath || one.name, text: await one.text() }));
  const drawn = lab.state?.branches.some((one) => one.name === lab.state.own);
  if ((await lab.do("open", { files: await Promise.all(read) })) && drawn)
    player.emit("busy", worded("your_network_is_kept"), ""); // until something else is said
};

// Kept: a browser may collect one that nobody holds before it has opened its dialog.
const chooser = element("input", { type: "file", multiple: true, accept: OPENED });
chooser.addEventListener("change", () => openFiles(chooser.files));
const chooseFiles = () => {
  chooser.value = ""; // the same file may be chosen again
  chooser.click();
};

const openKinds = () => [
  { text: worded("configuration_or_lab_files"), act: chooseFiles },
  ...lab.state.drawn.map((brokers, number) => ({
    text: worded("my_network_of", short(brokers, 40)),
    act: () => lab.do("begin", { drawn: number })
  }))
];

player.on("ready", () => {
  const has = (event) => player.kernel && event.dataTransfer?.types.includes("Files");
  player.element.addEventListener("dragover", (event) => {
    if (!has(event)) return;
    event.preventDefault();
    event.stopPropagation(); // JupyterLab would put the file into its folder
    lab.say(worded("drop_to_open"));
  });
  player.element.addEventListener("dragleave", (event) => {
    if (has(event)) lab.say("");
  });
  player.element.addEventListener("drop", (event) => {
    if (!has(event)) return;
    event.preventDefault();
    event.stopPropagation();
    lab.say("");
    openFiles(event.dataTransfer.files);
  });
});
