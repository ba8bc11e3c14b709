// The steps of the agent, as they happen.

import { clock, count, fill, h, icon, words } from "./dom.js";

const VERDICT = {
  verified: "The draft is accepted",
  inferred: "The draft is accepted as quoted; that it answers is inferred",
  contradicted: "The draft is rejected",
};

/** A live trace: `element`, `take(event, data)`, `end(answer)`. */
export function trace() {
  const list = h("ol", { class: "steps" });
  const doing = h("span", { class: "doing" }, "Asking …");
  const log = h("div", { role: "log", "aria-label": "Steps of the agent", "aria-live": "polite" }, list);
  const element = h("details", { class: "trace", open: true }, h("summary", {}, doing), log);
  const add = (...parts) => list.append(h("li", {}, parts));
  let backtracks = 0;

  const takes = {
    asked: () => { doing.textContent = "Reading the memory …"; },
    oriented: (data) => { doing.textContent = "Thinking …"; add(orientation(data)); },
    step_taken: ({ step }) => {
      doing.textContent = `Step ${step.index} is done …`;
      add(stepOf(step));
    },
    backtracked: (data) => { backtracks += 1; add(rejection(data)); },
    reworded: (data) => add(rewording(data)),
  };
  return {
    element,
    take: (event, data) => takes[event]?.(data),
    end(answer) {
      const back = backtracks ? `, ${backtracks === 1 ? "one draft" : `${backtracks} drafts`} rejected` : "";
      doing.textContent = `How it was found: ${count(answer.steps.length, "step")} in ${answer.seconds.toFixed(1)} s${back}`;
      element.open = false;
    },
    stop(text) { doing.textContent = text; },
  };
}

function orientation({ narrative, subjects }) {
  const names = subjects.map((subject) => subject.name).join(", ");
  return [h("p", { class: "step-head" }, "Starts from the story of the ad"),
    narrative.summary ? h("p", { class: "clamp" }, narrative.summary) : null,
    names ? h("p", { class: "soft" }, `Names in mind: ${names}`) : null];
}

function stepOf(step) {
  return [
    h("p", { class: "step-head" }, `Step ${step.index}`, h("span", { class: "soft" }, ` ${step.seconds.toFixed(2)} s`)),
    step.thought ? h("p", {}, step.thought) : null,
    step.actions.map((action) => h("p", { class: "action" }, h("strong", {}, words(action.tool)), " ", argumentsOf(action.arguments))),
    step.observations.map(observationOf),
    step.verdict ? verdictOf(step.verdict) : null,
  ];
}

/** `query: price $ · top: 4`. */
function argumentsOf(given) {
  const text = Object.entries(given).map(([name, value]) => `${words(name).toLowerCase()}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return h("span", { class: "mono" }, text.join(" · "));
}

function observationOf(seen) {
  if (!seen.text) return null;
  const [first, ...rest] = seen.text.split("\n");
  const head = [seen.failed ? h("strong", {}, "Failed: ") : null, first];
  if (!rest.length) return h("p", { class: "seen" }, head);
  return h("details", { class: "seen" }, h("summary", {}, head, h("span", { class: "soft" }, ` and ${count(rest.length, "line")}`)),
    h("ul", {}, rest.map((line) => h("li", {}, line))));
}

function verdictOf(verdict) {
  const inferred = verdict.claims.some((claim) => claim.status === "inferred");
  const status = !verdict.accepted ? "contradicted" : inferred ? "inferred" : "verified";
  return h("p", { class: `verdict ${status}` }, icon(status), VERDICT[status], verdict.reason ? `: ${verdict.reason}` : "");
}

function rejection({ constraint, ranges }) {
  const tried = ranges.map((range) => `${clock(range.start_s)}–${clock(range.end_s)}`).join(", ");
  return h("div", { class: "rejection" }, h("p", { class: "step-head" }, icon("back"), "Goes back and looks elsewhere"),
    h("p", {}, constraint), tried ? h("p", { class: "soft" }, `Looked at so far: ${tried}`) : null);
}

function rewording({ draft, answer }) {
  return [h("p", { class: "step-head" }, "Final wording"), draft === answer ? h("p", {}, answer) : h("p", {}, h("s", {}, draft), " ", answer)];
}
