// Ticking many rows, and copying what is shown.
export function bulk() {
  const form = document.querySelector("#bulk");
  const all = form?.querySelector("[data-all]");
  if (!all) return;
  const words = form.querySelector("[data-ticked]");
  const boxes = [...form.querySelectorAll("input[name=id]")];
  const buttons = [...form.querySelectorAll("button[name=do]")];
  all.hidden = false;
  const count = () => {
    const n = boxes.filter((box) => box.checked).length;
    all.checked = n === boxes.length;
    all.indeterminate = n > 0 && n < boxes.length;
    words.textContent = n === 0 ? "Tick entries to act on them:" : `${n} ticked:`;
    buttons.forEach((button) => { button.disabled = n === 0; });
  };
  let last = null;
  boxes.forEach((box, i) => box.addEventListener("click", (event) => {
    if (event.shiftKey && last !== null) {
      for (let j = Math.min(i, last); j <= Math.max(i, last); j++) boxes[j].checked = box.checked;
    }
    last = i;
    count();
  }));
  all.addEventListener("change", () => {
    boxes.forEach((box) => { box.checked = all.checked; });
    count();
  });
  form.addEventListener("keydown", (event) => { // Enter in a box presses the button beside it
    if (event.key === "Enter" && event.target.matches("details input")) {
      event.preventDefault();
      event.target.closest("details").querySelector("button")?.click();
    }
  });
  count();
}

export function copies() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    const source = document.getElementById(button.dataset.copy);
    if (!source || !navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }
}
