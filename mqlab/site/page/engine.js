// The engine: Python in a worker of this browser. The page does not wait for it; who asks too early waits in line.
const engine = { state: "none", generation: 0, busy: 0, worker: null };
const asked = new Map(),
  ready = { done: null, promise: null };

const tellEngine = (state, text) => {
  engine.state = state;
  const place = document.querySelector(".engine");
  place.dataset.state = state;
  place.textContent = text;
  document.dispatchEvent(new CustomEvent("mqlab-engine", { detail: state }));
};

engine.start = () => {
  if (location.protocol === "file:") {
    tellEngine("failed", words.from_file);
    return;
  }
  engine.generation += 1;
  ready.promise = new Promise((done, fail) => Object.assign(ready, { done, fail }));
  ready.promise.catch(() => {});
  tellEngine("loading", words.loading.replace("{megabytes}", Math.round(site.engine.bytes / 1e6)));
  const worker = new Worker(new URL("engine/worker.js", assets), { type: "module" });
  engine.worker = worker;
  worker.postMessage({ files: site.files ?? {} });
  const fail = (why) => {
    tellEngine("failed", words.failed.replace("{why}", why));
    ready.fail(new Error(why));
    for (const { fail } of asked.values()) fail(new Error(why));
    asked.clear();
  };
  worker.onerror = (event) => fail(event.message ?? words.worker_failed);
  worker.onmessage = ({ data }) => {
    if (data.starting) tellEngine("loading", words.starting);
    else if (data.ready) {
      tellEngine("ready", words.ready);
      ready.done();
    } else if (data.failed) fail(data.failed);
    else {
      const { done, fail: no } = asked.get(data.id) ?? {},
        found = JSON.parse(data.text);
      asked.delete(data.id);
      if (found.error == null) done?.(found.value);
      else no?.(new Error(found.error));
    }
  };
};

// Ask, and wait for the engine if it is still loading.
engine.ask = async (what, data) => {
  if (!ready.promise || engine.state === "failed") throw new Error(words.failed.replace("{why}", "").trim());
  await ready.promise;
  const id = Math.random().toString(36).slice(2);
  return new Promise((done, fail) => {
    asked.set(id, { done, fail });
    engine.worker.postMessage({ id, text: JSON.stringify({ what, ...data }) });
  });
};

// A run that does not end ends with its worker; another begins at once.
engine.stop = () => {
  engine.worker?.terminate();
  for (const { fail } of asked.values()) fail(new Error(words.stopped));
  asked.clear();
  engine.start();
};
