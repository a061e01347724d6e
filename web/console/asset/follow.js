// Live progress. The server sends the part of the page as it is now; an entry's page waits for the end
// of its run and is loaded anew.
export function follow() {
  const run = document.querySelector("[data-follow]");
  if (run) {
    const events = new EventSource(run.dataset.follow);
    const show = (event) => {
      if (run.contains(document.activeElement) && document.activeElement.matches("input")) return; // not under somebody's hands
      const open = [...run.querySelectorAll("details")].map((details) => details.open);
      run.innerHTML = event.data;
      run.querySelectorAll("details").forEach((details, i) => { details.open ||= open[i] ?? false; });
    };
    events.addEventListener("progress", show);
    events.addEventListener("done", (event) => {
      events.close();
      document.activeElement?.blur();
      show(event);
      delete run.dataset.follow;
      document.title = document.title.replace(/Queued|Running/, run.querySelector(".badge")?.textContent.trim() ?? "");
    });
  }
  const entry = document.querySelector("[data-watch]");
  if (entry) {
    const events = new EventSource(entry.dataset.watch);
    events.addEventListener("done", () => {
      events.close();
      location.replace(location.pathname);
    });
  }
}
