// All videos: what there is to ask about, and what cannot be read.

import { features, json, picture, request, videoPath } from "./api.js";
import { count, fill, h, notice, roughly, say } from "./dom.js";
import { uploads } from "./upload.js";

/** The view of all videos, in `place`. */
export function showLibrary(place) {
  document.title = "AD-MIR";
  const list = h("div", { class: "library" }, h("p", { class: "soft" }, "Loading the videos …"));
  const load = async () => {
    try {
      const [{ videos, unreadable }, can] = await Promise.all([json("/videos"), features()]);
      fill(list, gallery(videos, can, load), Object.entries(unreadable).map(damaged));
    } catch (problem) {
      fill(list, notice(problem.heading, problem.message, { label: "Try again", act: load }));
    }
  };
  const sent = h("div", {});
  fill(place, h("h1", { tabindex: -1 }, "Videos"), sent, list);
  load();
  features().then((can) => { if (can.upload) uploads(sent, can, load); });
}

function gallery(videos, can, reload) {
  if (!videos.length) return empty(can);
  return h("ul", { class: "cards" }, videos.map((video) => card(video, can, reload)));
}

function empty(can) {
  return h("div", { class: "empty" }, h("h2", {}, "No video yet"),
    h("p", {}, can.upload ? "Upload one above, or build its memory on the command line:" : "Build the memory of one on the command line, and load this page again:"),
    h("p", {}, h("code", {}, "admir build-memory ad.mp4")));
}

function card(video, can, reload) {
  const id = video.video_id;
  const about = [roughly(video.duration_s), count(video.shots, "shot"), count(video.utterances, "spoken line"), count(video.screen_texts, "line")  + " on screen"];
  const item = h("li", { class: "card" },
    h("a", { href: `#/v/${encodeURIComponent(id)}` },
      h("span", { class: "thumb" }, picture(id, video.duration_s * 0.4, video.built_at),
        h("span", { class: "length", "aria-hidden": "true" }, roughly(video.duration_s))),
      h("span", { class: "card-name" }, id)),
    h("p", { class: "soft" }, about.slice(1).join(" · ")),
    video.summary ? h("p", { class: "summary" }, video.summary) : null,
    video.media ? null : h("p", { class: "soft" }, "The video file is not there any more; its memory is."),
    video.warnings.length ? h("details", {}, h("summary", {}, count(video.warnings.length, "warning")), h("ul", {}, video.warnings.map((line) => h("li", {}, line)))) : null,
    can.remove ? removal(id, reload) : null);
  return item;
}

/** Two clicks, so that no memory goes by a slip. */
function removal(id, reload) {
  const place = h("p", { class: "removal" });
  const ask = () => {
    fill(place, "Delete this memory? ", h("button", { type: "button", class: "plain", on: { click: act } }, "Delete"), " ",
      h("button", { type: "button", class: "plain", on: { click: rest } }, "Keep"));
    place.querySelector("button").focus();
  };
  const act = async () => {
    try {
      await request(videoPath(id), { method: "DELETE" });
      say(`${id} is deleted`);
      await reload();
      document.querySelector("h1")?.focus();
    } catch (problem) {
      fill(place, notice(problem.heading, problem.message));
    }
  };
  const rest = () => fill(place, h("button", { type: "button", class: "plain", "aria-label": `Delete ${id}`, on: { click: ask } }, "Delete"));
  rest();
  return place;
}

function damaged([id, why]) {
  return notice(`${id} cannot be read`, why, null, "worry");
}
