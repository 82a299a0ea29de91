/** Follows a log file that another process writes: each call gives the lines that came since the last. */
import { open } from "node:fs/promises";

export class LogTail {
  readonly #path: string;
  #offset = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** None while there is no file. */
  async lines(): Promise<readonly string[]> {
    const file = await open(this.#path).catch(() => undefined);
    if (file === undefined) return [];
    try {
      const { size } = await file.stat();
      if (size <= this.#offset) return [];
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - this.#offset), 0, size - this.#offset, this.#offset);
      // What was read may end inside a line, even inside a character: the rest is read again with its end.
      const end = buffer.lastIndexOf(0x0a, bytesRead - 1);
      if (end < 0) return [];
      this.#offset += end + 1;
      return buffer.toString("utf8", 0, end).split("\n");
    } finally {
      await file.close();
    }
  }
}
