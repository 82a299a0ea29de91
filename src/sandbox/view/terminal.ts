/** The terminal itself: the other screen while the view lasts, keys as they are pressed, and everything put back at the end. */
import type { ReadStream, WriteStream } from "node:tty";
import type { Size } from "./screen.ts";
import { type Line, render } from "./text.ts";

export interface Terminal {
  size(): Size;
  draw(lines: readonly Line[]): void;
  /** Gives the terminal back as it was. */
  close(): void;
}

const enter = "\x1b[?1049h\x1b[?25l";
const leave = "\x1b[?25h\x1b[?1049l";

/** Takes the terminal over. Keys come by the name of what they do: `a`, `?`, `up`, `down`, `ctrl-c`. */
export function openTerminal(input: ReadStream, output: WriteStream, pressed: (key: string) => void, resized: () => void): Terminal {
  let last: readonly string[] = [];
  const onData = (data: Buffer) => {
    for (const key of keysIn(data.toString("latin1"))) pressed(key);
  };
  const onResize = () => {
    last = [];
    output.write("\x1b[2J");
    resized();
  };
  // Whatever ends the process, the terminal must not stay raw and without a cursor.
  const restore = () => output.write(leave);
  output.write(enter);
  input.setRawMode(true);
  input.resume();
  input.on("data", onData);
  output.on("resize", onResize);
  process.on("exit", restore);
  return {
    size: () => ({ columns: output.columns, rows: output.rows }),
    draw(lines) {
      const now = lines.map((each) => render(each, true));
      // Only what changed is written: a slow connection has better things to carry.
      const changed = now.map((text, row) => (text === last[row] ? "" : `\x1b[${row + 1};1H${text}\x1b[K`)).join("");
      if (changed !== "") output.write(changed);
      last = now;
    },
    close() {
      process.off("exit", restore);
      input.off("data", onData);
      output.off("resize", onResize);
      input.setRawMode(false);
      input.pause();
      restore();
    },
  };
}

const sequences: Readonly<Record<string, string>> = {
  "\x1b[A": "up",
  "\x1bOA": "up",
  "\x1b[B": "down",
  "\x1bOB": "down",
  "\x03": "ctrl-c",
  "\x1b": "escape",
};

const oneKey = new RegExp(`${"\x1b"}(?:\\[[\\d;]*[A-Za-z~]|O[A-Z])|[^]`, "g");

/** The keys in what the terminal sent; a sequence nobody knows is no key. */
export function keysIn(data: string): readonly string[] {
  return [...data.matchAll(oneKey)].flatMap(([part]) => {
    const known = sequences[part];
    return known !== undefined ? [known] : part.startsWith("\x1b") ? [] : [part];
  });
}
