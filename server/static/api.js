// The service: requests with the key where one is needed, problems, streams of events.

import { h } from "./dom.js";
import { events } from "./sse.js";

const KEY = "admir-key";
const TITLES = {
  "no-key": "The service needs a key",
  "unknown-video": "There is no memory of this video",
  "bad-question": "This cannot be asked",
  "bad-correction": "This cannot be corrected",
  "memory-damaged": "The memory of this video is damaged",
  busy: "The service is busy",
  "too-large": "The file is too large",
  "unsupported-media-type": "This is no video that can be read",
  "video-unreadable": "This video cannot be read",
  "memory-version": "The memory of this video is newer than the service",
  gone: "The service does not answer",
  unexpected: "Something went wrong in the service",
};

/** What went wrong: `title` is the stable name of a problem document, `detail` its line. */
export class Problem extends Error {
  constructor({ title = "unexpected", detail = "", status = 0 } = {}) {
    super(detail || title);
    Object.assign(this, { title, detail, status });
  }

  get heading() {
    return TITLES[this.title] ?? this.title.replaceAll("-", " ").replace(/^./, (c) => c.toUpperCase());
  }
}

const GONE = { title: "gone", detail: "Is it still running? Nothing is lost: try again once it is." };

export const key = () => sessionStorage.getItem(KEY);
export const withKey = () => (key() ? { Authorization: `Bearer ${key()}` } : {});

let asking = null;

/** Ask for the key once, however many requests wait for it. */
export function askForKey() {
  asking ??= keyDialog().finally(() => { asking = null; });
  return asking;
}

function keyDialog() {
  return new Promise((resolve, reject) => {
    const field = h("input", { type: "password", id: "key", autocomplete: "off", required: true });
    const form = h("form", { method: "dialog" },
      h("h2", { id: "key-title" }, "The service needs a key"),
      h("label", { for: "key" }, "Key"), field,
      h("p", { class: "soft" }, key() ? "The last key was refused." : "It is kept in this tab only, until the tab is closed."),
      h("p", { class: "row" }, h("button", { class: "main", type: "submit" }, "Use this key"),
        h("button", { type: "button", on: { click: () => dialog.close() } }, "Cancel")));
    const dialog = h("dialog", { "aria-labelledby": "key-title" }, form);
    form.addEventListener("submit", () => sessionStorage.setItem(KEY, field.value.trim()));
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (field.value.trim() && key() === field.value.trim()) resolve();
      else reject(new Problem({ title: "no-key", status: 401, detail: "Without it nothing can be shown." }));
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** The problem that a response tells of. */
export async function problemOf(response) {
  const told = await response.json().catch(() => ({}));
  const text = (value, other) => (typeof value === "string" ? value : other);
  return new Problem({
    title: text(told.title, "unexpected"),
    detail: text(told.detail, `The service answered ${response.status}.`),
    status: response.status,
  });
}

/** A response that is good; a Problem is thrown for any other. */
export async function request(path, options = {}) {
  for (;;) {
    let response;
    try {
      response = await fetch(path, { ...options, headers: { ...options.headers, ...withKey() } });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem(GONE);
    }
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (response.status !== 401) throw problem;
    await askForKey();
  }
}

/** The JSON at a path. */
export const json = async (path, options) => (await request(path, options)).json();

/** The events that a path sends, as [name, data]. Works with a body, which EventSource cannot. */
export async function* stream(path, options = {}) {
  const headers = { Accept: "text/event-stream", ...options.headers };
  const response = await request(path, { ...options, headers });
  if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
    yield ["whole", await response.json()];
    return;
  }
  try {
    for await (const [name, data] of events(response.body)) yield [name, JSON.parse(data)];
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(GONE);
  }
}

let known = null;

/** What this service can do beyond reading, from its own description. */
export function features() {
  known ??= json("/openapi.json").then(({ paths }) => ({
    upload: Boolean(paths["/videos"]?.post),
    jobs: Boolean(paths["/jobs"]?.get),
    remove: Boolean(paths["/videos/{video_id}"]?.delete),
  })).catch(() => { known = null; return { upload: false, jobs: false, remove: false }; });
  return known;
}

/** `/videos/ID/...`. */
export const videoPath = (id, ...rest) => ["/videos", encodeURIComponent(id), ...rest].join("/");

/** A picture of the video at a time; what cannot be had becomes an empty field that says so. */
export function picture(id, time, built, props = {}) {
  const image = h("img", { alt: "", loading: "lazy", decoding: "async", ...props });
  const path = `${videoPath(id, "frames", `${Math.max(0, time).toFixed(2)}.jpg`)}?of=${encodeURIComponent(built)}`;
  image.addEventListener("error", () => {
    image.replaceWith(h("span", { class: "no-picture" }, "No picture"));
  }, { once: true });
  if (key()) {
    request(path).then((got) => got.blob()).then((blob) => { image.src = URL.createObjectURL(blob); })
      .then(() => image.addEventListener("load", () => URL.revokeObjectURL(image.src), { once: true }))
      .catch(() => image.dispatchEvent(new Event("error")));
  } else {
    image.src = path;
  }
  return image;
}
