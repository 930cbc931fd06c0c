"""A bar of how far a long job is, in a notebook, with the time left and a button that cancels.

While a cell runs, its kernel hears nothing of buttons. So the page asks the server to interrupt the
kernel, as JupyterLab's own button does; whoever runs the job takes that for a cancellation.
"""

from __future__ import annotations

import time
from pathlib import Path

import anywidget
import traitlets

_ESM = """
function render({ model, el }) {
  const bar = document.createElement("progress"), text = document.createElement("span");
  const stop = document.createElement("button");
  stop.textContent = "Cancel";
  stop.className = "jp-Button jupyter-button";
  text.setAttribute("role", "status");
  text.style.margin = "0 1em";
  const draw = () => {
    bar.max = model.get("total"); bar.value = model.get("done");
    text.textContent = model.get("text");
    stop.hidden = model.get("over");
  };
  stop.onclick = async () => {
    stop.disabled = true; stop.textContent = "Cancelling";
    const found = document.getElementById("jupyter-config-data");
    const config = found ? JSON.parse(found.textContent) : {};
    const token = document.cookie.match(/_xsrf=([^;]+)/);
    const headers = token ? { "X-XSRFToken": token[1] } : {};
    if (config.token) headers.Authorization = `token ${config.token}`;
    const url = `${config.baseUrl || "/"}api/kernels/${model.get("kernel")}/interrupt`;
    const answer = await fetch(url, { method: "POST", headers }).catch(() => ({ ok: false }));
    if (!answer.ok) { stop.disabled = false; stop.textContent = "Cancel"; }
  };
  el.append(bar, text, stop);
  for (const name of ["done", "text", "over"]) model.on(`change:${name}`, draw);
  draw();
}
export default { render };
"""


class NotebookBar(anywidget.AnyWidget):
    """Shows how many of *total* are done; `to` says it, `close` ends it."""

    _esm = _ESM
    total = traitlets.Int(1).tag(sync=True)
    done = traitlets.Int(0).tag(sync=True)
    text = traitlets.Unicode("").tag(sync=True)
    over = traitlets.Bool(False).tag(sync=True)
    kernel = traitlets.Unicode("").tag(sync=True)

    def __init__(self, what: str, total: int) -> None:
        super().__init__(total=total, kernel=_kernel(), text=f"{what}: 0 of {total:,}")
        self.what, self.begin, self.first = what, time.monotonic(), 0

    def __repr__(self) -> str:
        return f"<mqlab.NotebookBar {self.text}>"

    def show(self) -> None:
        """Show the bar below the cell that runs."""
        from IPython.display import display

        display(self)

    def to(self, done: int) -> None:
        """Show how many are done, and how long the rest will take."""
        if not self.done:  # what an earlier call has done took no time of this one
            self.first, self.begin = done, time.monotonic()
        self.done = done
        self.text = f"{self.what}: {done:,} of {self.total:,}{self._left(done)}"

    def _left(self, done: int) -> str:
        fresh = done - self.first
        if fresh <= 0 or done >= self.total:
            return ""
        seconds = (time.monotonic() - self.begin) * (self.total - done) / fresh
        return f", {seconds / 60:.0f} min left" if seconds > 90 else f", {seconds:.0f} s left"

    def close(self) -> None:
        """Take the button away; what was done stays to be seen."""
        self.over = True


def _kernel() -> str:
    """Return the id of this kernel, as the server knows it."""
    from ipykernel.connect import get_connection_file

    return Path(get_connection_file()).stem.removeprefix("kernel-")
