// Uploads, and the jobs that build memories.

import { askForKey, json, Problem, request, stream, withKey } from "./api.js";
import { fill, h, icon, notice, roughly, say } from "./dom.js";

const WORDS = { queued: "Waiting", running: "Building the memory", done: "Done", failed: "Failed", cancelled: "Cancelled" };

// What is under way goes on, and stays to be seen, whichever view is open.
const rows = h("ul", { class: "jobs", "aria-label": "Uploads" });
const followed = new Set();
let changed = () => {};

/** The field that takes videos, and what becomes of them. `reload` shows the videos anew. */
export function uploads(place, can, reload) {
  changed = reload;
  fill(place, field((files) => [...files].forEach(sendFile)), rows);
  if (can.jobs) resume();
}

function field(take) {
  const input = h("input", { type: "file", id: "file", accept: "video/*", multiple: true, class: "unseen" });
  input.addEventListener("change", () => { take(input.files); input.value = ""; });
  const drop = h("div", { class: "drop" }, input,
    h("label", { for: "file", class: "button" }, icon("upload"), "Upload a video"),
    h("span", { class: "soft" }, "or drop it here"));
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    take(event.dataTransfer.files);
  });
  return drop;
}

/** A line with a name, a bar, words, and a way to stop. */
function row(name, stop) {
  const bar = h("progress", { max: 100, "aria-label": `Progress of ${name}` });
  const told = h("span", { class: "soft told" });
  const button = h("button", { type: "button", class: "plain", "aria-label": `Cancel ${name}`, on: { click: () => stop() } }, "Cancel");
  const item = h("li", {}, h("span", { class: "job-name" }, name), bar, told, button);
  rows.append(item);
  const close = (...parts) => {
    bar.remove();
    fill(told, parts);
    button.replaceWith(h("button", { type: "button", class: "plain", "aria-label": `Hide ${name}`, on: { click: () => item.remove() } }, "Hide"));
  };
  return {
    close,
    fail: (problem) => {
      say(`${name}: ${problem.heading}`);
      close(h("strong", {}, problem.heading), `: ${problem.message}`);
    },
    tell: (text, percent) => {
      if (told.textContent !== text) told.textContent = text;
      if (percent === null) bar.removeAttribute("value");
      else bar.value = percent;
    },
  };
}

async function sendFile(file) {
  const stopper = { stop: () => {} };
  const line = row(file.name, () => stopper.stop());
  try {
    const job = await send(file, line, stopper);
    await follow(job, line, stopper);
  } catch (problem) {
    if (problem instanceof Problem) line.fail(problem);
    else line.close("Stopped.");
  }
}

/** The bytes, by XMLHttpRequest: fetch does not tell how much has gone. */
async function send(file, line, stopper) {
  for (;;) {
    const sent = new XMLHttpRequest();
    stopper.stop = () => sent.abort();
    await new Promise((resolve, reject) => {
      sent.open("POST", `/videos?name=${encodeURIComponent(file.name)}`);
      const kind = file.type.startsWith("video/") ? file.type : "video/mp4";
      for (const [name, value] of Object.entries({ "Content-Type": kind, ...withKey() })) sent.setRequestHeader(name, value);
      sent.upload.addEventListener("progress", ({ loaded, total }) => {
        const percent = total ? (100 * loaded) / total : null;
        line.tell(`Uploading, ${Math.floor(percent ?? 0)} %`, percent);
      });
      sent.addEventListener("load", resolve);
      sent.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")));
      sent.addEventListener("error", () => reject(new Problem({ title: "gone", detail: "The upload broke off." })));
      sent.send(file);
    });
    const body = parsed(sent.responseText);
    if (sent.status >= 200 && sent.status < 300) return body;
    if (sent.status !== 401) throw new Problem({ ...body, status: sent.status });
    await askForKey();
  }
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

const isOver = (job) => ["done", "failed", "cancelled"].includes(job.state);

/** Tell of a job until it is over. */
async function follow(job, line, stopper) {
  followed.add(job.id);
  stopper.stop = () => request(`/jobs/${encodeURIComponent(job.id)}`, { method: "DELETE" }).catch((problem) => line.fail(problem));
  let last = job;
  tellOf(last, line);
  while (!isOver(last)) {
    for await (const [name, data] of stream(`/jobs/${encodeURIComponent(job.id)}`)) {
      if (name === "problem") throw new Problem(data);
      last = data;
      tellOf(last, line);
      if (isOver(last)) break;
    }
    if (!isOver(last)) await new Promise((resolve) => { setTimeout(resolve, 1000); });
  }
  await finish(last, line);
}

/** "Building the memory: read text, 40 %, about 0:12 left". */
export function told(job) {
  const stage = job.stage ? `: ${job.stage}` : "";
  const percent = typeof job.percent === "number" ? `, ${Math.floor(job.percent)} %` : "";
  const left = typeof job.left_s === "number" ? `, about ${roughly(job.left_s)} left` : "";
  return job.state === "running" ? `${WORDS.running}${stage}${percent}${left}` : WORDS[job.state] ?? job.state;
}

function tellOf(job, line) {
  line.tell(told(job), typeof job.percent === "number" ? job.percent : null);
}

async function finish(job, line) {
  if (job.state === "done") {
    line.close(job.reused ? "It was known already. " : "", h("a", { href: `#/v/${encodeURIComponent(job.video_id)}` }, `Ask about ${job.video_id}`));
    say(`${job.name} can be asked about`);
    await changed();
  } else if (job.state === "failed") {
    line.fail(new Problem({ title: job.error?.kind, detail: job.error?.detail }));
  } else {
    line.close("Cancelled.");
  }
}

/** The jobs that were begun before this page was opened. */
async function resume() {
  try {
    const found = await json("/jobs");
    for (const job of (found.jobs ?? found).filter((each) => !isOver(each) && !followed.has(each.id))) {
      const stopper = { stop: () => {} };
      const line = row(job.name, () => stopper.stop());
      follow(job, line, stopper).catch((problem) => line.fail(problem));
    }
  } catch (problem) {
    rows.before(notice(problem.heading, problem.message));
  }
}
