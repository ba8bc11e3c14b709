// An answer with its claims, and of each claim the evidence.

import { picture } from "./api.js";
import { clock, count, h, icon, notice, words } from "./dom.js";

const STATUS = {
  verified: "Verified",
  expert: "Expert's reading",
  inferred: "Inferred",
  unverified: "Unverified",
  contradicted: "Contradicted",
};
const UNPROVED = {
  inference: "Quoted, not proved: these words stand in the video; that they answer the question is inferred",
  absence: "Not found; that it is absent is not proved",
  premise: "No answer: the question supposes something that nothing in the ad speaks of",
};
const AT_ONCE = 4;

/** The answer as people read it. `go(evidence)` shows a piece of evidence in the player. */
export function answerOf(answer, built, go) {
  const byId = new Map(answer.evidence.map((each) => [each.id, each]));
  const cited = new Set(answer.claims.flatMap((claim) => claim.evidence));
  const rest = answer.evidence.filter((each) => !cited.has(each.id));
  const cards = (ids) => cardsOf(ids.map((id) => byId.get(id)).filter(Boolean), built, go);
  return h("div", { class: "answer" },
    h("p", { class: answer.answer.length > 90 ? "answer-text long" : "answer-text" }, answer.answer),
    standing(answer),
    h("ul", { class: "claims" }, answer.claims.map((claim) => claimOf(claim, cards))),
    rest.length ? h("div", { class: "claim" }, h("p", { class: "soft" }, "Also looked at"), cardsOf(rest, built, go)) : null,
    answer.warnings.map((line) => notice(line, "", null, "worry")),
    costs(answer));
}

/** Whether the answer is proved, in words: what stands there, and whether that answers. */
export function grounding(answer) {
  if (!answer.grounded) return UNPROVED[answer.basis] ?? "Not grounded: not every claim could be verified";
  const expert = answer.claims.some((claim) => claim.status === "expert");
  if (answer.basis === "absence") return "Grounded: it was looked for, and is not there";
  return expert ? "Grounded: it rests on a reading by the expert" : "Grounded: every claim is verified";
}

function standing(answer) {
  const sign = answer.grounded ? "verified" : answer.basis === "inference" ? "inferred" : "unverified";
  return h("div", { class: `standing ${sign}` }, icon(sign), h("p", {}, h("strong", {}, grounding(answer)), answer.reason ? h("span", { class: "reason" }, answer.reason) : null));
}

function claimOf(claim, cards) {
  return h("li", { class: "claim" },
    h("p", { class: "claim-text" }, h("span", { class: `status ${claim.status}` }, icon(claim.status), STATUS[claim.status] ?? words(claim.status)), " ", claim.text),
    claim.status === "inferred" ? h("p", { class: "inferred" }, inferenceOf(claim)) : null,
    claim.unsupported.length ? h("p", { class: "soft" }, "Nothing shows: ", claim.unsupported.join(", ")) : null,
    claim.reason ? h("p", { class: "soft" }, claim.reason) : null,
    cards(claim.evidence));
}

/** How sure it is that a quoted claim answers, and what came next. */
function inferenceOf({ confidence, alternatives }) {
  const sure = confidence === null ? "" : ` (${Math.round(100 * confidence)}%)`;
  return [`Quoted; that it answers is inferred${sure}`,
    alternatives.length ? h("span", { class: "others" }, "or: ", alternatives.join(" / ")) : null];
}

function cardsOf(evidence, built, go) {
  if (!evidence.length) return null;
  const items = evidence.map((each) => h("li", {}, cardOf(each, built, go)));
  const more = items.splice(AT_ONCE);
  return [h("ul", { class: "evidence" }, items),
    more.length ? h("details", { class: "more" }, h("summary", {}, `${more.length} more`), h("ul", { class: "evidence" }, more)) : null];
}

function cardOf(each, built, go) {
  const time = each.frame_s ?? (each.start_s + each.end_s) / 2;
  const frame = h("span", { class: "frame" }, picture(each.video_id, time, built), each.box ? boxOf(each.box) : null);
  const whose = each.speaker ?? (each.corrected ? "corrected by a person" : null);
  const kind = whose ? `${words(each.kind)}, ${whose}` : words(each.kind);
  return h("button", { type: "button", class: "piece", "data-evidence": each.id, on: { click: (event) => go(each, event.currentTarget) } },
    frame,
    h("span", { class: "piece-text" },
      h("q", {}, each.quote),
      h("span", { class: "soft" }, each.id, " · ", kind, " · ", h("span", { class: "unseen" }, "show it at "), `${clock(each.start_s)}–${clock(each.end_s)}`)));
}

function boxOf(box) {
  const [left, top, right, bottom] = box.map((part) => 100 * Math.min(1, Math.max(0, part)));
  const mark = h("span", { class: "mark", "aria-hidden": "true" });
  Object.assign(mark.style, { left: `${left}%`, top: `${top}%`, width: `${right - left}%`, height: `${bottom - top}%` });
  return mark;
}

function costs({ usage, preset, seconds }) {
  const parts = [`Preset ${preset}`, `${seconds.toFixed(1)} s`];
  if (usage.calls || usage.cached) parts.push(count(usage.calls, "call"), `${(usage.input_tokens + usage.output_tokens).toLocaleString("en")} tokens`);
  if (usage.cost_usd) parts.push(`$${usage.cost_usd.toFixed(4)}`);
  return h("p", { class: "costs soft" }, parts.join(" · "));
}
