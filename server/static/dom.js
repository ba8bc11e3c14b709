// Elements, times and icons. Texts only ever become text nodes: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element. `props`: `class`, `on` ({click: f}), other attributes; null and false leave one out. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Put the parts in place of whatever `element` holds. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const PATHS = {
  verified: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Zm-4 9.2 2.8 2.8L16 9.6",
  expert: "M4 5h16v11H11l-4.5 4v-4H4Zm4 4h8M8 12.5h5",
  inferred: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM8 10.6q2-2.2 4 0t4 0M8 14.8q2-2.2 4 0t4 0",
  unverified: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM9.6 9.5a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.2.9-1.2 1.7m0 2.7v.2",
  contradicted: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM9 9l6 6m0-6-6 6",
  back: "M9 7 4 12l5 5M4 12h10a5 5 0 0 1 5 5v1",
  upload: "M12 16V5m0 0L7.5 9.5M12 5l4.5 4.5M5 19h14",
};

/** A drawn sign, which says nothing to a screen reader: a word stands beside it. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `icon ${name}`);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** 75.26 -> "1:15.3". */
export function clock(seconds) {
  const tenths = Math.max(0, Math.round(Number(seconds) * 10));
  const minutes = Math.floor(tenths / 600);
  const rest = (tenths % 600) / 10;
  return `${minutes}:${rest < 10 ? "0" : ""}${rest.toFixed(1)}`;
}

/** 75.26 -> "1:15": for rulers and lengths. */
export function roughly(seconds) {
  return clock(Math.round(seconds)).slice(0, -2);
}

/** "1 shot", "7 shots". */
export function count(number, word) {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}

/** `screen_text` -> "Screen text". */
export function words(name) {
  const text = String(name).replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Text for people who do not see the page change. */
export function say(text) {
  document.getElementById("spoken").textContent = text;
}

/** Bring into view, gently where motion is welcome. */
export function show(element, block = "nearest") {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block, behavior: still ? "auto" : "smooth" });
}

/** A line about something that went wrong, with what can be done. */
export function notice(title, detail = "", action = null, kind = "wrong") {
  return h("div", { class: `notice ${kind}`, role: kind === "wrong" ? "alert" : null },
    h("p", { class: "notice-title" }, title),
    detail ? h("p", {}, detail) : null,
    action ? h("button", { type: "button", on: { click: action.act } }, action.label) : null);
}
