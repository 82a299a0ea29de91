const newline = 0x0a;

/** Splits a byte stream into lines, copying only what goes on in the next chunk. */
export class JsonLines {
  readonly #onLine: (line: string) => void;
  #held: Buffer[] = [];

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
      this.#emit(bytes, from, at);
      from = at + 1;
    }
    // The transport may use its buffer again: what outlives this call is copied.
    if (from < bytes.length) this.#held.push(Buffer.from(bytes.subarray(from)));
  }

  /** Whether the stream ended in the middle of a line. */
  get broken(): boolean {
    return this.#held.length > 0;
  }

  #emit(bytes: Buffer, from: number, to: number): void {
    let line: string;
    if (this.#held.length === 0) line = bytes.toString("utf8", from, to);
    else {
      this.#held.push(bytes.subarray(from, to));
      line = Buffer.concat(this.#held).toString("utf8");
      this.#held = [];
    }
    if (line.trim() !== "") this.#onLine(line);
  }
}
