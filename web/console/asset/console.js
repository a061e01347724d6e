// What scripts add to pages that work without them. Each part finds its own element and leaves pages
// without it alone.
import {timeline} from "/assets/timeline.js";
import {keys} from "/assets/keys.js";
import {follow} from "/assets/follow.js";
import {preview} from "/assets/preview.js";
import {bulk, copies} from "/assets/bulk.js";
import {clocks} from "/assets/clocks.js";

document.documentElement.classList.add("js");
for (const part of [timeline, keys, follow, preview, bulk, copies, clocks]) {
  part();
}
document.querySelector("main .alert[role=alert]")?.focus({preventScroll: false});
document.documentElement.dataset.ready = "";
