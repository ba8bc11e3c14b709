// Server-sent events out of the body of a response.

/** One block of lines -> [event, data], or null where it holds no data (a ping). */
export function parse(block) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (field === "event") name = value;
    if (field === "data") data.push(value);
  }
  return data.length ? [name, data.join("\n")] : null;
}

/** The events of a body as they arrive. */
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const cut = rest.endsWith("\r") ? rest.length - 1 : rest.length;
      const blocks = rest.slice(0, cut).replace(/\r\n?/g, "\n").split("\n\n");
      rest = blocks.pop() + rest.slice(cut);
      for (const block of blocks) {
        const found = parse(block);
        if (found) yield found;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
