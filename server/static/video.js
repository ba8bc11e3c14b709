// One video: player, timeline, what its memory says, and the conversation.

import { json, videoPath } from "./api.js";
import { conversation } from "./ask.js";
import { brandOf, corrector } from "./correct.js";
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
  const seek = (segment) => go(segment.at ?? segment.start, segment.box);
  let line = timeline(memory, seek);
  let proof = null;
  const stage = {
    go(piece, all) {
      stage.prove(all);
      go(piece.kind === "speech" ? piece.start_s : piece.frame_s ?? piece.start_s, piece.box);
      if (NARROW.matches) show(film.element);
    },
    prove(all) { proof = all; line.setEvidence(all); },
    look: (ranges) => line.look(ranges),
  };
  function go(at, box) {
    film.seek(at);
    film.point(box ?? null);
    remember(memory.video.id, at);
  }
  film.onTime((now) => line.setTime(now));
  const talk = conversation(memory, stage);
  const left = h("div", { class: "left" }, film.element, line.element);
  const correct = corrector(memory.video.id, async () => tell(await json(videoPath(memory.video.id, "memory"))));
  const more = h("div", { class: "more-of-it" }, about(memory, correct), transcript(memory, go, correct));
  const grid = h("div", { class: "watch" }, left, talk.element);

  /** Show what a memory says anew; the player and the conversation stay. */
  function tell(corrected) {
    const parts = [...more.children];
    const opened = parts.map((part) => part.open);
    const here = parts.findIndex((part) => part.contains(document.activeElement));
    fill(more, about(corrected, correct), transcript(corrected, go, correct));
    [...more.children].forEach((part, index) => { part.open = opened[index]; });
    const fresh = timeline(corrected, seek);
    line.element.replaceWith(fresh.element);
    line = fresh;
    line.setTime(film.time);
    if (proof) line.setEvidence(proof);
    more.children[here]?.querySelector("summary").focus();
  }

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

function about(memory, correct) {
  const { narrative, video, provenance } = memory;
  const devices = labelled(narrative.inferences, "device");
  const told = brandOf(memory);
  const brand = [told ? `${told.text}, told by a person ` : "As the answers find it ", correct.brand(memory)];
  const facts = [
    ["Brand", brand],
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
function transcript(memory, go, correct) {
  const said = memory.utterances.map((each) => ({ ...each, kind: each.speaker ?? "speech", correct: null }));
  const shown = memory.screen_text.map((each) => ({ ...each, kind: each.was ? "corrected" : "on screen", correct: correct.line(each) }));
  const lines = [...said, ...shown].sort((a, b) => a.start_s - b.start_s);
  return h("details", { class: "transcript" }, h("summary", {}, `Everything said and shown, ${count(lines.length, "line")}`),
    lines.length ? h("ol", {}, lines.map((each) => h("li", {}, h("button", { type: "button", class: "line", on: { click: () => go(each.start_s, null) } },
      h("span", { class: "when" }, clock(each.start_s)), h("span", { class: "who" }, words(each.kind)), h("span", {}, each.text)), each.correct))) : h("p", { class: "soft" }, "Nothing is said, and no text is shown."),
    correct.list(memory));
}
