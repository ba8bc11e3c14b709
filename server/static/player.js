// The player; where the video cannot be played, its pictures stand in.

import { key, picture, request, videoPath } from "./api.js";
import { clock, fill, h } from "./dom.js";

const LARGEST = 200e6;

/** A player of a memory, whose file is `there` or not: `element`, `time`, `seek(s)`, `point(box)`, `onTime(f)`, `close()`. */
export function player(memory, there) {
  const { video } = memory;
  const film = h("video", { controls: true, preload: "metadata", playsinline: true, "aria-label": `Video ${video.id}` });
  const mark = h("span", { class: "mark", hidden: true, "aria-hidden": "true" });
  const screen = h("div", { class: "screen" }, film, mark);
  const note = h("p", { class: "soft player-note", role: "status" });
  const element = h("div", { class: "player" }, screen, note);
  if (video.width && video.height) screen.style.setProperty("--ratio", video.width / video.height);
  const listeners = [];
  const self = { element, time: 0, still: false, seek, point, onTime: (f) => listeners.push(f), close };
  const captions = subtitles(memory);
  const blobs = [captions].filter(Boolean);
  if (captions) film.append(h("track", { kind: "captions", label: "Speech", src: captions, default: true }));

  function tell(time) {
    self.time = time;
    listeners.forEach((f) => f(time));
  }
  function seek(time) {
    const within = Math.min(Math.max(0, time), Math.max(0, video.duration_s - 0.04));
    point(null);
    if (self.still) stillAt(within);
    else film.currentTime = within;
    tell(within);
  }
  function point(box) {
    mark.hidden = !box;
    if (!box) return;
    const [left, top, right, bottom] = box.map((part) => 100 * Math.min(1, Math.max(0, part)));
    Object.assign(mark.style, { left: `${left}%`, top: `${top}%`, width: `${right - left}%`, height: `${bottom - top}%` });
  }
  function stillAt(time) {
    const image = picture(video.id, time, memory.provenance.built_at, { alt: `The picture at ${clock(time)}`, loading: "eager" });
    fill(screen, image, mark);
  }
  function standIn(why) {
    self.still = true;
    note.textContent = why;
    stillAt(self.time);
  }
  function close() {
    film.pause();
    blobs.forEach((blob) => URL.revokeObjectURL(blob));
    film.removeAttribute("src");
    film.load();
  }
  film.addEventListener("timeupdate", () => tell(film.currentTime));
  film.addEventListener("play", () => point(null));
  film.addEventListener("error", () => { if (film.getAttribute("src")) standIn("This browser cannot play the video; its pictures are shown instead."); });
  load(film, there ? video : { path: "" }, note, blobs).catch((problem) => standIn(`${problem.message} Its pictures are shown instead.`));
  return self;
}

/** Where a key is needed the file is fetched whole: a <video> cannot send one. */
async function load(film, video, note, blobs) {
  if (!video.path) throw new Error("The video file is not there any more.");
  if (!key()) {
    film.src = videoPath(video.id, "media");
    return;
  }
  if (video.file_bytes > LARGEST) throw new Error("With a key the video is too large for this page.");
  note.textContent = `Loading the video, ${(video.file_bytes / 1e6).toFixed(1)} MB …`;
  const blob = await (await request(videoPath(video.id, "media"))).blob();
  note.textContent = "";
  blobs.push(URL.createObjectURL(blob));
  film.src = blobs.at(-1);
}

/** What is said, as captions; null where nothing is. */
function subtitles(memory) {
  if (!memory.utterances.length) return null;
  return URL.createObjectURL(new Blob([webvtt(memory.utterances)], { type: "text/vtt" }));
}

export function webvtt(utterances) {
  const stamp = (s) => new Date(Math.max(0, s) * 1000).toISOString().slice(11, 23);
  const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replace(/\s+/g, " ");
  const cues = utterances.map((each) => {
    const who = each.speaker ? `${plain(each.speaker)}: ` : "";
    return `${stamp(each.start_s)} --> ${stamp(each.end_s)}\n${who}${plain(each.text)}`;
  });
  return ["WEBVTT", ...cues].join("\n\n");
}
