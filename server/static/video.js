// One video: player, timeline, what its memory says, and the conversation.

import { json, videoPath } from "./api.js";
import { conversation } from "./ask.js";
import { clock, count, fill, h, notice, roughly, show, words } from "./dom.js";
import { player } from "./player.js";
import { timeline } from "./timeline.js";

const NARROW = matchMedia("(max-width: 999px)");

/** The view of a video, in `place`, at a time. Returns what ends it. */
export function showVideo(place, id, time) {
  document.title = `${id} · AD-MIR`;
  const title = h("h1", { tabindex: -1 }, id);
  const body = h("div", { "aria-busy": "true" }, h("p", { class: "soft" }, "Loading the memory …"));
  fill(place, h("nav", { "aria-label": "Way back" }, h("a", { href: "#/" }, "Videos")), title, body);
  const view = { ended: false, end: () => {} };
  const load = async () => {
    try {
      const [memory, { media }] = await Promise.all([json(videoPath(id, "memory")), json(videoPath(id))]);
      if (!view.ended) view.end = watch(body, memory, media, time);
    } catch (problem) {
      fill(body, notice(problem.heading ?? "The memory cannot be shown", problem.message, { label: "Try again", act: load }));
    }
    body.removeAttribute("aria-busy");
  };
  load();
  return () => { view.ended = true; view.end(); };
}

function watch(body, memory, media, time) {
  const film = player(memory, media);
  const line = timeline(memory, (segment) => go(segment.at ?? segment.start, segment.box));
  const stage = {
    go(piece, all) {
      line.setEvidence(all);
      go(piece.kind === "speech" ? piece.start_s : piece.frame_s ?? piece.start_s, piece.box);
      if (NARROW.matches) show(film.element);
    },
    prove: line.setEvidence,
    look: line.look,
  };
  function go(at, box) {
    film.seek(at);
    film.point(box ?? null);
    remember(memory.video.id, at);
  }
  film.onTime(line.setTime);
  const talk = conversation(memory, stage);
  const left = h("div", { class: "left" }, film.element, line.element);
  const more = h("div", { class: "more-of-it" }, about(memory), transcript(memory, go));
  const grid = h("div", { class: "watch" }, left, talk.element);
  const arrange = () => (NARROW.matches ? grid : left).append(more);
  arrange();
  NARROW.addEventListener("change", arrange);
  fill(body, grid);
  line.setTime(0);
  if (time) film.seek(time);
  return () => { film.close(); talk.close(); NARROW.removeEventListener("change", arrange); };
}

/** The address of this moment, for whoever copies it. */
function remember(id, at) {
  history.replaceState(null, "", `#/v/${encodeURIComponent(id)}?t=${at.toFixed(1)}`);
}

function about(memory) {
  const { narrative, video, provenance } = memory;
  const devices = labelled(narrative.inferences, "device");
  const facts = [
    ["Genre", narrative.genre],
    ["Names", narrative.entities.join(", ")],
    ["Persuasion", devices],
    ["Audience", labelled(narrative.inferences, "audience")],
    ["Emotion", labelled(narrative.inferences, "emotion")],
    ["Themes", labelled(narrative.inferences, "theme")],
    ["At odds", narrative.mismatches.join("; ")],
    ["Video", [roughly(video.duration_s), video.width ? `${video.width} × ${video.height}` : "", count(memory.shots.length, "shot")].filter(Boolean).join(" · ")],
    ["Memory", [`preset ${provenance.preset}`, provenance.speech_source ? `speech: ${provenance.speech_source}` : ""].filter(Boolean).join(" · ")],
  ].filter(([, value]) => value);
  return h("details", { class: "about" }, h("summary", {}, "What the memory says"),
    narrative.summary ? h("p", {}, narrative.summary) : h("p", { class: "soft" }, "No summary was made."),
    h("dl", {}, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    provenance.warnings.map((warning) => notice(warning, "", null, "worry")));
}

const labelled = (inferences, kind) => [...new Set(inferences.filter((each) => each.kind === kind).map((each) => each.label))].join(", ");

/** Everything said and shown, in order: the timeline as text. */
function transcript(memory, go) {
  const said = memory.utterances.map((each) => ({ ...each, kind: each.speaker ?? "speech" }));
  const shown = memory.screen_text.map((each) => ({ ...each, kind: "on screen" }));
  const lines = [...said, ...shown].sort((a, b) => a.start_s - b.start_s);
  return h("details", { class: "transcript" }, h("summary", {}, `Everything said and shown, ${count(lines.length, "line")}`),
    lines.length ? h("ol", {}, lines.map((each) => h("li", {}, h("button", { type: "button", on: { click: () => go(each.start_s, null) } },
      h("span", { class: "when" }, clock(each.start_s)), h("span", { class: "who" }, words(each.kind)), h("span", {}, each.text))))) : h("p", { class: "soft" }, "Nothing is said, and no text is shown."));
}
