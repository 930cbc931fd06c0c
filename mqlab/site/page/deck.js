// Slides: one is shown. Arrow keys turn them over, unless a picture has the keyboard; N shows the notes, P opens a
// second window for whoever speaks, with notes, which turns with the first.
const setUpDeck = (deck) => {
  const slides = [...deck.querySelectorAll(".slide")],
    count = deck.querySelector(".count");
  const others = new BroadcastChannel("mqlab-deck"),
    mine = location.pathname;
  let at = 0,
    hasNotes = new URLSearchParams(location.search).has("notes");
  for (const slide of slides) {
    const data = slide.querySelector("script");
    if (data) makePicture(slide.querySelector(".picture"), JSON.parse(data.textContent));
  }
  const show = (number, moved = true) => {
    at = Math.max(0, Math.min(slides.length - 1, number));
    slides.forEach((slide, no) => {
      slide.hidden = no !== at;
      slide.querySelector(".notes").hidden = !hasNotes;
    });
    count.textContent = `${at + 1} / ${slides.length}`;
    document.getElementById("notes").setAttribute("aria-pressed", String(hasNotes));
    if (!moved) return;
    history.replaceState(null, "", `#${at + 1}`);
    scrollTo(0, 0);
    others.postMessage({ deck: mine, at });
  };
  const turnNotes = () => {
    hasNotes = !hasNotes;
    show(at);
  };
  const openNotes = () => open(`${mine}?notes#${at + 1}`, "mqlab-notes", "width=1100,height=800");
  const keys = {
    ArrowRight: () => show(at + 1),
    PageDown: () => show(at + 1),
    ArrowLeft: () => show(at - 1),
    PageUp: () => show(at - 1),
    Home: () => show(0),
    End: () => show(slides.length),
    n: turnNotes,
    N: turnNotes,
    p: openNotes,
    P: openNotes
  };
  addEventListener("keydown", (event) => {
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      !keys[event.key] ||
      event.target.closest?.(".picture, input, select")
    )
      return;
    event.preventDefault();
    keys[event.key]();
  });
  document.getElementById("back").addEventListener("click", () => show(at - 1));
  document.getElementById("on").addEventListener("click", () => show(at + 1));
  document.getElementById("notes").addEventListener("click", turnNotes);
  others.onmessage = ({ data }) => {
    if (data.deck === mine && data.at !== at) {
      at = data.at;
      show(at, false);
    }
  };
  addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1, false));
  show((Number(location.hash.slice(1)) || 1) - 1, false);
};
