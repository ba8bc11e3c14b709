// The way from the address to a view.

import { json } from "./api.js";
import { fill, notice } from "./dom.js";
import { showLibrary } from "./library.js";
import { showVideo } from "./video.js";

const main = document.getElementById("main");
let view = { id: undefined, end: () => {} };

/** "#/v/ad?t=12.5" -> {id: "ad", time: 12.5}; id null for the library. */
export function readAddress(hash) {
  const found = /^#\/v\/([^?]+)(?:\?(.*))?$/.exec(hash);
  if (!found) return { id: null, time: 0 };
  const time = Number(new URLSearchParams(found[2] ?? "").get("t"));
  return { id: decoded(found[1]), time: Number.isFinite(time) && time > 0 ? time : 0 };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function open(byPerson) {
  const { id, time } = readAddress(location.hash);
  view.end();
  view = { id, end: (id === null ? showLibrary(main) : showVideo(main, id, time)) ?? (() => {}) };
  if (byPerson) {
    scrollTo(0, 0);
    main.querySelector("h1")?.focus({ preventScroll: true });
  }
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
json("/healthz").then(({ preset }) => { document.getElementById("preset").textContent = `Preset ${preset}`; }).catch(() => {});
addEventListener("hashchange", () => open(true));
try {
  open(false);
} catch (error) {
  fill(main, notice("The page cannot be shown", error.message));
  throw error;
}
