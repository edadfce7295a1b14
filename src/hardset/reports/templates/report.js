"use strict";
// Filters the cards that are already on the page; without it, all of them show.
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const count = form.querySelector("output");
  const none = document.getElementById("none");
  const cards = Array.from(document.querySelectorAll(".card"), (element) => ({
    element,
    cuts: JSON.parse(element.dataset.cuts),
    text: element.textContent.toLowerCase(),
    replies: Array.from(element.querySelectorAll(".reply")),
  }));
  const cuts = Array.from(form.querySelectorAll("select[data-cut]"));
  const value = (name) => (form.elements[name] ? form.elements[name].value : "");

  const apply = () => {
    const model = value("model"), state = value("state"), right = value("right");
    const words = value("text").toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const card of cards) {
      const rights = new Set(card.replies.map((reply) => reply.dataset.right));
      let fits = false;
      for (const reply of card.replies) {
        const { model: by, state: ended, right: was } = reply.dataset;
        reply.hidden = model !== "" && by !== model;
        if (reply.hidden || (state && ended !== state)) continue;
        if (right === "differ" ? rights.size > 1 : !right || was === right) fits = true;
      }
      fits = fits
        && cuts.every((cut) => !cut.value || card.cuts[cut.dataset.cut] === cut.value)
        && words.every((word) => card.text.includes(word));
      card.element.hidden = !fits;
      shown += fits;
    }
    count.value = `${shown} of ${cards.length} items`;
    none.hidden = shown > 0;
  };

  form.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  apply();
})();
