// The conversation about one video: questions, traces, answers.

import { Problem, stream } from "./api.js";
import { answerOf, grounding } from "./answer.js";
import { fill, h, notice, say, show } from "./dom.js";
import { suggestions } from "./suggest.js";
import { trace } from "./trace.js";

const kept = new Map();

/** The turns of a video that are on the page since it was opened. */
const turnsOf = (id) => {
  if (!kept.has(id)) kept.set(id, []);
  return kept.get(id);
};

/** The conversation: `element`, `close()`. `stage` has `go(evidence, all)`, `prove(evidence)`, `look(ranges)`. */
export function conversation(memory, stage) {
  const id = memory.video.id;
  const turns = turnsOf(id);
  const log = h("div", { class: "turns" });
  const state = { running: null };
  const warned = new Set(turns.flatMap((turn) => turn.answer?.warnings ?? []));
  const field = h("textarea", { id: "question", rows: 1, maxlength: 4000, required: true, placeholder: "Your question" });
  const send = h("button", { type: "submit", class: "main" }, "Ask");
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Suggested questions" },
    suggestions(memory).map((text) => h("button", { type: "button", class: "chip", on: { click: () => begin(text) } }, text)));
  const form = h("form", { class: "ask" }, h("h2", {}, "Ask about this ad"), chips, h("label", { for: "question", class: "unseen" }, "Your question"), h("div", { class: "ask-row" }, field, send));

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (state.running) state.running.abort();
    else begin(field.value);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });

  function busy(controller) {
    state.running = controller;
    send.textContent = controller ? "Stop" : "Ask";
    field.required = !controller;
    for (const chip of chips.children) chip.disabled = Boolean(controller);
  }

  async function begin(text) {
    const question = text.trim();
    if (!question || state.running) return;
    const turn = { question, place: h("div", {}), steps: trace() };
    turns.push(turn);
    log.append(articleOf(turn));
    field.value = "";
    const controller = new AbortController();
    busy(controller);
    reveal(turn.article);
    await answer(turn, controller.signal);
    if (state.running === controller) busy(null);
  }

  async function answer(turn, signal) {
    try {
      const found = await run(id, turn, signal, stage, turns);
      turn.answer = found;
      turn.steps.end(found);
      const news = found.warnings.filter((line) => !warned.has(line) && warned.add(line));
      fill(turn.place, answerOf({ ...found, warnings: news }, memory.provenance.built_at, (piece, card) => choose(piece, card, found.evidence)));
      stage.prove(found.evidence);
      say(`${found.answer} ${grounding(found)}`);
      reveal(turn.article);
    } catch (problem) {
      failed(turn, problem);
    }
  }

  function choose(piece, card, all) {
    log.querySelectorAll(".shown").forEach((other) => { other.classList.remove("shown"); other.removeAttribute("aria-current"); });
    card.classList.add("shown");
    card.setAttribute("aria-current", "true");
    stage.go(piece, all);
  }

  function failed(turn, problem) {
    if (problem.name === "AbortError") {
      turn.steps.stop("Stopped");
      fill(turn.place, notice("Stopped.", "", null, "worry"));
      return;
    }
    turn.steps.stop("No answer");
    const known = problem instanceof Problem ? problem : new Problem({ detail: problem.message });
    fill(turn.place, notice(known.heading, known.message, { label: "Ask again", act: () => begin(turn.question) }));
  }

  /** All of a turn, where it finds room; else from its question on. */
  function reveal(article) {
    const { top, bottom } = article.getBoundingClientRect();
    const covered = getComputedStyle(form).position === "sticky" ? form.offsetHeight : 0;
    if (top < 0 || bottom > innerHeight - covered) show(article, "start");
  }

  turns.forEach((turn) => log.append(turn.article));
  const last = turns.findLast((turn) => turn.answer);
  if (last) stage.prove(last.answer.evidence);
  const element = h("section", { class: "talk", "aria-label": "Questions and answers" }, log, form, memory.narrative.summary ? h("p", { class: "intro" }, memory.narrative.summary) : null);
  return { element, close: () => state.running?.abort() };
}

function articleOf(turn) {
  turn.article = h("article", { class: "turn" }, h("h2", { class: "question" }, turn.question), turn.place, turn.steps.element);
  return turn.article;
}

/** What was asked and answered before, for a backend that goes on from it. */
const earlierOf = (turns) => turns.filter((turn) => turn.answer).slice(-10)
  .map((turn) => ({ question: turn.question.slice(0, 2000), answer: turn.answer.answer.slice(0, 5000) }));

/** Ask, and let the trace take the events. Returns the answer, or throws. */
async function run(id, turn, signal, stage, turns) {
  stage.prove(null);
  const body = JSON.stringify({ video_id: id, question: turn.question, earlier: earlierOf(turns) });
  const options = { method: "POST", body, signal, headers: { "Content-Type": "application/json" } };
  for await (const [event, data] of stream("/ask", options)) {
    if (event === "problem") throw new Problem(data);
    if (event === "answered") return data.answer;
    if (event === "whole") return data;
    turn.steps.take(event, data);
    if (event === "step_taken") stage.look(data.step.observations.map((seen) => seen.looked_at).filter(Boolean));
  }
  throw new Problem({ title: "gone", detail: "It ended before the answer was there." });
}
