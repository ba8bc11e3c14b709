// What stands on the timeline: plain data out of a memory.

import { clock } from "./dom.js";

const span = (each) => ({ start: each.start_s, end: each.end_s });

/** The lanes of a memory, each with its segments in order of time. */
export function lanesOf(memory) {
  return [
    { name: "Shots", kind: "shots", segments: memory.shots.map((shot) => ({ ...span(shot), short: String(shot.index + 1), text: `Shot ${shot.index + 1}` })) },
    { name: "Arc", kind: "arc", segments: ofArc(memory) },
    { name: "Speech", kind: "speech", segments: memory.utterances.map((line) => ({ ...span(line), short: line.text, text: `${line.speaker ?? "Speech"}: ${line.text}` })) },
    { name: "Text", kind: "text", segments: memory.screen_text.map((line) => ({ ...span(line), short: line.text, text: `On screen: ${line.text}`, at: line.frame_s, box: line.box })) },
  ].map((lane) => ({ ...lane, segments: lane.segments.sort((a, b) => a.start - b.start || a.end - b.end) }));
}

/** Parts of the story; those of one label that touch are one. */
function ofArc(memory) {
  const parts = [];
  for (const each of memory.narrative.inferences.filter((one) => one.kind === "arc").sort((a, b) => a.start_s - b.start_s)) {
    const last = parts.findLast((part) => part.short === each.label);
    if (last && each.start_s <= last.end + 0.5) {
      last.end = Math.max(last.end, each.end_s);
    } else {
      parts.push({ ...span(each), short: each.label, text: `Story, ${each.label}: ${each.quote}` });
    }
  }
  return parts;
}

/** The segments of the evidence of an answer. */
export function ofEvidence(evidence) {
  return evidence.map((each) => ({ ...span(each), short: each.id, text: `Evidence ${each.id}: ${each.quote}`, at: each.frame_s, box: each.box, id: each.id }))
    .sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Each segment's row, so that none covers another; what finds no room shares the last row. */
export function rowsOf(segments, most = 4) {
  const ends = [];
  return segments.map(({ start, end }) => {
    let row = ends.findIndex((taken) => taken <= start + 0.01);
    if (row < 0) row = Math.min(ends.length, most - 1);
    ends[row] = Math.max(ends[row] ?? 0, end);
    return row;
  });
}

/** What a screen reader says of a segment. */
export function nameOf(segment) {
  return `${segment.text}, ${clock(segment.start)} to ${clock(segment.end)}`;
}

/** Seconds between marks of the ruler, so that there are four to eight. */
export function ticks(duration) {
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600].find((each) => duration / each <= 7) ?? 7200;
  const marks = [];
  for (let at = 0; at <= duration - step * 0.4; at += step) marks.push(at);
  return marks;
}
