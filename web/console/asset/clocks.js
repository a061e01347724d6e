// Keeps words such as "3 min ago" true while a page stays open; the exact time stands in the title.
const spans = [[60e3, 1e3, "s"], [3600e3, 60e3, "min"], [48 * 3600e3, 3600e3, "h"], [90 * 86400e3, 86400e3, "days"], [730 * 86400e3, 30 * 86400e3, "months"], [Infinity, 365 * 86400e3, "years"]];

export function clocks() {
  const loaded = Date.now();
  const tell = () => {
    for (const node of document.querySelectorAll("time[datetime]")) {
      const past = Date.now() - Date.parse(node.dateTime);
      if (Number.isNaN(past)) continue;
      const [, unit, name] = spans.find(([limit]) => Math.abs(past) < limit);
      const n = Math.floor(Math.abs(past) / unit);
      node.textContent = past < 0 ? `in ${n} ${name}` : past < 5e3 ? "just now" : `${n} ${name} ago`;
    }
  };
  setInterval(() => { if (Date.now() - loaded > 5e3 && !document.hidden) tell(); }, 10e3);
}
