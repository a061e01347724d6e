// Keys for lists and for going about. They rest while somebody types.
export function keys() {
  const help = document.querySelector("#help");
  const opener = document.querySelector("[data-help]");
  if (!help) return;
  opener.hidden = false;
  opener.addEventListener("click", () => help.showModal());
  const rows = [...document.querySelectorAll("[data-row]")];
  let row = -1;
  let going = false;

  const move = (by) => {
    if (rows.length === 0) return;
    rows[row]?.classList.remove("cursor");
    row = Math.min(Math.max(row + by, 0), rows.length - 1);
    rows[row].classList.add("cursor");
    rows[row].scrollIntoView({block: "nearest"});
    rows[row].querySelector("[data-open]")?.focus({preventScroll: true});
  };
  const places = {o: "/", e: "/entries?status=pending_review", r: "/runs", c: "/connect"};
  const actions = {
    j: () => move(1),
    k: () => move(-1),
    x: () => rows[row]?.querySelector("input[type=checkbox]")?.click(),
    n: () => document.querySelector("[data-next]")?.click(),
    "?": () => help.showModal(),
    "/": () => document.querySelector("[data-search]")?.focus(),
    g: () => { going = true; },
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select")) return;
    if (going) {
      going = false;
      if (places[event.key]) {
        event.preventDefault();
        location.assign(places[event.key]);
        return;
      }
    }
    const act = actions[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
}
