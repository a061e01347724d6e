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
    try {
      const answer = await fetch(`${place.dataset.preview}?${query}`, {headers: {"X-Part": "1"}});
      if (answer.status === 401) {
        location.reload();
        return;
      }
      body = await answer.text();
    } catch {
      body = "";
    }
    if (mine !== asked) return;
    place.removeAttribute("aria-busy");
    if (!body) {
      place.querySelector("[data-asking]")?.replaceChildren("The service did not answer. Try again.");
      return;
    }
    place.innerHTML = body.includes("<!doctype") ? "" : body;
    if (place.innerHTML === "") {
      location.reload();
      return;
    }
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
    if (event.target.matches("[data-mode], [name=field]")) look();
  });
  if (!place.querySelector("[name=expect]") && !place.querySelector("[role=alert]")) look();
}
