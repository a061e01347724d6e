// Dragging over the bars selects a window of whole steps; the form beside it does the same by keyboard.
export function timeline() {
  const plot = document.querySelector("#timeline");
  const form = document.querySelector("#window");
  if (!plot || !form) return;
  const svg = plot.querySelector("svg");
  const width = Number(plot.dataset.width);
  const step = Number(plot.dataset.step) * 3600e3;
  const from = Date.parse(plot.dataset.from);
  const steps = width / 10;
  let start = null;
  let box = null;
  let tip = null;

  const at = (event) => {
    const area = svg.getBoundingClientRect();
    return Math.min(Math.max((event.clientX - area.left) / area.width, 0), 1) * steps;
  };
  const instant = (n) => new Date(from + n * step).toISOString().slice(0, 16);
  const words = (n) => instant(n).replace("T", " ");
  const bounds = (here) => [Math.floor(Math.min(start, here)), Math.max(Math.ceil(Math.max(start, here)), Math.floor(Math.min(start, here)) + 1)];

  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    svg.setPointerCapture(event.pointerId);
    start = at(event);
    box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    box.setAttribute("class", "drag");
    box.setAttribute("y", "0");
    box.setAttribute("height", "100%");
    svg.append(box);
    tip = document.createElement("div");
    tip.className = "plot-tip";
    plot.append(tip);
    draw(start);
  });
  svg.addEventListener("pointermove", (event) => {
    if (start !== null) draw(at(event));
  });
  svg.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const [low, high] = bounds(at(event));
    end();
    form.elements.first_attempt_from.value = instant(low);
    form.elements.first_attempt_to.value = instant(high);
    form.requestSubmit(form.querySelector("button"));
  });
  svg.addEventListener("pointercancel", end);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") end();
  });

  function draw(here) {
    const [low, high] = bounds(here);
    box.setAttribute("x", String(low * 10));
    box.setAttribute("width", String((high - low) * 10));
    tip.textContent = `${words(low)} to ${words(high)}`;
    const room = plot.clientWidth;
    const middle = (low + high) / 2 / steps * room;
    tip.style.left = `${Math.min(Math.max(middle, tip.offsetWidth / 2), room - tip.offsetWidth / 2)}px`;
  }
  function end() {
    start = null;
    box?.remove();
    tip?.remove();
    box = tip = null;
  }
}
