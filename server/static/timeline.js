// The timeline under the player: a slider, lanes of segments, and the playhead over them.

import { clock, fill, h, roughly } from "./dom.js";
import { lanesOf, nameOf, ofEvidence, rowsOf, ticks } from "./lanes.js";

const LATER = "of the answer, once there is one";

/** A timeline of a memory: `element`, `setTime(s)`, `setEvidence(list or null)`, `look(ranges)`. `go(segment)` seeks. */
export function timeline(memory, go) {
  const duration = Math.max(memory.video.duration_s, 0.1);
  const share = (time) => `${Math.min(100, Math.max(0, (100 * time) / duration))}%`;
  const slider = h("input", { type: "range", min: 0, max: duration.toFixed(2), step: 0.1, value: 0, "aria-label": "Position in the video" });
  const now = h("output", { class: "now", "aria-hidden": "true" }, clock(0));
  const head = h("span", { class: "head", "aria-hidden": "true" });
  const lanes = lanesOf(memory).map((lane) => laneOf(lane, share, go));
  const proof = laneOf({ name: "Evidence", kind: "evidence", segments: [] }, share, go);
  const element = h("section", { class: "timeline", "aria-label": "Timeline" },
    h("div", { class: "lane" }, now, h("div", { class: "track ruler" }, slider)),
    [...lanes, proof].map((lane) => lane.element),
    h("div", { class: "lane marks", "aria-hidden": "true" }, h("span", {}), h("div", { class: "track" }, ticks(duration).map((at) => placed(h("span", { class: "tick" }, roughly(at)), share(at))))),
    h("div", { class: "lane over", "aria-hidden": "true" }, h("span", {}), h("div", { class: "track" }, head)));
  slider.addEventListener("input", () => go({ start: Number(slider.value) }));

  return {
    element,
    setTime(time) {
      slider.value = time;
      slider.setAttribute("aria-valuetext", `${clock(time)} of ${clock(duration)}`);
      now.textContent = clock(time);
      head.style.left = share(time);
      [...lanes, proof].forEach((lane) => lane.light(time));
    },
    setEvidence(evidence) { proof.set(ofEvidence(evidence ?? []), evidence ? "the answer cites none" : LATER); },
    /** Ranges that the agent looks at, while it does. */
    look(ranges) { proof.band(ranges); },
  };
}

function placed(element, left) {
  element.style.left = left;
  return element;
}

/** One lane: one stop of the Tab key, in which the arrow keys move. */
function laneOf({ name, kind, segments }, share, go) {
  const track = h("div", { class: `track ${kind}`, role: "toolbar", "aria-label": `${name} on the timeline` });
  const element = h("div", { class: "lane" }, h("span", { class: "lane-name", "aria-hidden": "true" }, name), track);
  let shown = [];
  const set = (found, none = "none") => {
    const rows = rowsOf(found);
    const many = Math.max(0, ...rows) + 1;
    track.style.setProperty("--rows", many);
    shown = found.map((segment, index) => ({ segment, button: buttonOf(segment, rows[index], share, go) }));
    fill(track, shown.length ? shown.map(({ button }) => button) : h("span", { class: "none" }, none));
    shown.forEach(({ button }, index) => { button.tabIndex = index ? -1 : 0; });
    track.setAttribute("role", shown.length ? "toolbar" : "group");
  };
  track.addEventListener("keydown", (event) => move(event, shown.map(({ button }) => button)));
  set(segments, kind === "evidence" ? LATER : "none");
  return {
    element,
    set,
    band(ranges) {
      track.querySelector(".none")?.remove();
      track.prepend(...ranges.map(({ start_s: start, end_s: end }) => {
        const band = placed(h("span", { class: "band", "aria-hidden": "true" }), share(start));
        band.style.width = share(end - start);
        return band;
      }));
    },
    light(time) {
      for (const { segment, button } of shown) button.classList.toggle("lit", segment.start <= time && time < segment.end);
    },
  };
}

function buttonOf(segment, row, share, go) {
  const button = h("button", { type: "button", class: "segment", title: nameOf(segment), "aria-label": nameOf(segment), "data-id": segment.id, on: { click: () => go(segment) } },
    h("span", { class: segment.short.length < 4 ? "brief" : null, "aria-hidden": "true" }, segment.short));
  button.style.left = share(segment.start);
  button.style.width = share(segment.end - segment.start);
  button.style.setProperty("--row", row);
  return button;
}

const MOVES = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -1e9, End: 1e9 };

function move(event, buttons) {
  const by = MOVES[event.key];
  const here = buttons.indexOf(document.activeElement);
  if (!by || here < 0) return;
  event.preventDefault();
  const next = buttons[Math.min(buttons.length - 1, Math.max(0, here + by))];
  buttons[here].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
