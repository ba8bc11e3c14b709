// What a person corrects: a line of on-screen text, or the brand. The next answer has it.

import { json, request, videoPath } from "./api.js";
import { fill, h, notice, say } from "./dom.js";

const MOST = 500;
let forms = 0;

/** Correcting a memory: `line(each)`, `brand(memory)`, `list(memory)` are elements. `changed()` shows the memory anew. */
export function corrector(id, changed) {
  const path = videoPath(id, "corrections");

  async function send(body) {
    const headers = { "Content-Type": "application/json" };
    await json(path, { method: "POST", headers, body: JSON.stringify(body) });
    await changed();
    say("Corrected. The next answer has it.");
  }

  return {
    /** A button that opens a form for what a line says. */
    line(each) {
      const fields = () => [{ name: "text", label: "What it says", value: each.text, required: true }];
      const was = each.was || each.text;
      const wanted = ({ text }) => send({ kind: "screen_text", was, text });
      const gone = { label: "It is no text", act: () => send({ kind: "screen_text", was, text: "" }) };
      return opener("Correct", `Correct “${each.text}”`, fields, wanted, gone);
    },
    /** A button that opens a form for the brand. */
    brand(memory) {
      const told = brandOf(memory);
      const fields = () => [
        { name: "text", label: "The brand is", value: told?.text ?? "", required: true },
        { name: "was", label: "Instead of (if it was taken for another)", value: told?.was ?? "", names: memory.narrative.entities },
      ];
      return opener("Correct", "Correct the brand", fields, (body) => send({ kind: "brand", ...body }));
    },
    /** All corrections, each of which can be taken back; nothing where there are none. */
    list(memory) {
      if (!memory.corrections.length) return null;
      return h("section", { class: "corrections", "aria-label": "Corrected by people" },
        h("h3", {}, "Corrected by people"),
        h("ul", {}, memory.corrections.map((each) => {
          const place = h("div", {});
          const back = h("button", { type: "button", class: "plain", "aria-label": `Take back: ${worded(each)}` }, "Take back");
          back.addEventListener("click", () => tried(place, [back], async () => {
            await request(`${path}/${encodeURIComponent(each.id)}`, { method: "DELETE" });
            await changed();
            say("Taken back.");
          }));
          return h("li", {}, h("span", {}, worded(each)), back, place);
        })));
    },
  };
}

/** The brand, where a person has told it. */
export const brandOf = (memory) => memory.corrections.find((each) => each.kind === "brand");

function worded({ kind, was, text }) {
  if (kind === "brand") return was ? `The brand is “${text}”, not “${was}”` : `The brand is “${text}”`;
  return text ? `“${was}” says “${text}”` : `“${was}” is no text`;
}

/** A button with the form that it opens in its place. */
function opener(label, name, fields, wanted, other = null) {
  const open = h("button", { type: "button", class: "plain", "aria-label": name }, label);
  const element = h("span", { class: "correcting" }, open);
  const close = () => { fill(element, open); open.focus(); };
  open.addEventListener("click", () => {
    const form = formOf(fields(), wanted, other, close);
    fill(element, form);
    form.querySelector("input").select();
  });
  return element;
}

function formOf(fields, wanted, other, close) {
  const place = h("div", {});
  const inputs = fields.map(inputOf);
  const save = h("button", { type: "submit", class: "main" }, "Save");
  const extra = other ? h("button", { type: "button" }, other.label) : null;
  const cancel = h("button", { type: "button", on: { click: close } }, "Cancel");
  const form = h("form", { class: "correction" }, inputs.map((each) => each.parts), h("p", { class: "row" }, save, extra, cancel), place);
  const buttons = [save, extra].filter(Boolean);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const body = Object.fromEntries(inputs.map(({ input }) => [input.name, input.value.trim()]));
    tried(place, buttons, () => wanted(body));
  });
  extra?.addEventListener("click", () => tried(place, buttons, other.act));
  form.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  return form;
}

function inputOf({ name, label, value, required = false, names = [] }) {
  forms += 1;
  const id = `correction-${forms}`;
  const list = names.length ? h("datalist", { id: `${id}-names` }, names.map((each) => h("option", { value: each }))) : null;
  const input = h("input", { id, name, value, required, maxlength: MOST, autocomplete: "off", list: list ? `${id}-names` : null });
  return { input, parts: [h("label", { for: id }, label), input, list] };
}

/** Do it once; what goes wrong is told in `place`. */
async function tried(place, buttons, act) {
  fill(place);
  for (const button of buttons) button.disabled = true;
  try {
    await act();
  } catch (problem) {
    fill(place, notice(problem.heading ?? "It could not be corrected", problem.message));
  }
  for (const button of buttons) button.disabled = false;
}
