// Previews in place: asked once when an entry's page opens, and again on demand or for another mode.
export function preview() {
  const place = document.querySelector("#preview");
  if (!place) return;
  let asked = 0;

  async function look() {
    const mine = ++asked;
    const form = place.querySelector("form");
    const query = new URLSearchParams();
    if (form) {
      for (const [name, value] of new FormData(form)) {
        if (name !== "expect") query.append(name, value);
      }
    }
    const focused = document.activeElement?.closest("#preview") ? document.activeElement : null;
    place.setAttribute("aria-busy", "true");
    let body = "";
    let wrong = "The service did not answer.";
    try {
      const answer = await fetch(`${place.dataset.preview}?${query}`, {headers: {"X-Part": "1"}});
      if (answer.status === 401) {
        location.reload(); // to the login, and back
        return;
      }
      if (answer.ok) body = await answer.text();
      else wrong = `There is no preview: the service answered ${answer.status}.`;
    } catch {
      // said below
    }
    if (mine !== asked) return;
    place.removeAttribute("aria-busy");
    if (!body) {
      const note = document.createElement("p");
      note.setAttribute("role", "alert");
      note.textContent = `${wrong} Nothing was written. Try again, or load the page anew.`;
      place.querySelector("[role=alert]")?.remove();
      place.prepend(note);
      return;
    }
    place.innerHTML = body;
    if (focused) {
      const again = focused.matches("[data-mode]") ? place.querySelector("[data-mode]:checked") : place.querySelector("[data-look], [data-press]");
      again?.focus({preventScroll: true});
    }
  }

  place.addEventListener("click", (event) => {
    if (event.target.closest("[data-look]")) {
      event.preventDefault();
      look();
    }
  });
  place.addEventListener("change", (event) => {
    if (event.target.matches("[data-mode]")) look();
  });
  if (!place.querySelector("[name=expect]") && !place.querySelector("[role=alert]")) look();
}
