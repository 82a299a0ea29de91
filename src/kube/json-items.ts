/**
 * Reads a list as it arrives, one item at a time: neither the whole answer's text nor its parsed form is ever in
 * memory, and no single parse blocks the event loop.
 */

/** Splits the bytes of `{"kind":…,"metadata":{…},"items":[{…},{…}]}` into its items and the rest. */
export class JsonItems {
  readonly #onItem: (json: string) => void;
  /** The answer without its items, to be parsed at the end. */
  readonly #shell: Buffer[] = [];
  /** What is held of an item, or of the shell, that goes on in the next chunk. */
  readonly #held: Buffer[] = [];
  #depth = 0;
  #inString = false;
  #escaped = false;
  #inItems = false;
  /** The last string at depth 1, so at an opening bracket the key. Only `items` matters: of longer ones not all is kept. */
  #key: number[] = [];

  constructor(onItem: (json: string) => void) {
    this.#onItem = onItem;
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    /** Where the part begins that has been neither emitted nor put into the shell. */
    let from = 0;
    for (let at = 0; at < bytes.length; at++) {
      if (this.#inString) {
        at = this.#endOfString(bytes, at);
        continue;
      }
      const byte = bytes[at]!;
      if (byte === quote) {
        this.#inString = true;
        if (this.#depth === 1) this.#key = [];
      } else if (byte === openBrace || byte === openBracket) {
        this.#depth++;
        if (byte === openBracket && this.#depth === 2 && this.#isItemsKey()) {
          this.#inItems = true;
          this.#toShell(bytes, from, at + 1);
        } else if (this.#inItems && this.#depth === 3) from = at;
      } else if (byte === closeBrace || byte === closeBracket) {
        this.#depth--;
        if (this.#inItems && this.#depth === 2) this.#emit(bytes, from, at + 1);
        else if (this.#inItems && this.#depth === 1) {
          this.#inItems = false;
          from = at;
        }
      }
    }
    if (!this.#inItems) this.#toShell(bytes, from, bytes.length);
    else if (this.#depth >= 3) this.#held.push(Buffer.from(bytes.subarray(from)));
  }

  /** Goes to the closing quote of the string we are in, or to the end of the chunk. */
  #endOfString(bytes: Buffer, from: number): number {
    let escaped = this.#escaped;
    let at = from;
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (escaped) escaped = false;
      else if (byte === backslash) escaped = true;
      else if (byte === quote) break;
    }
    this.#escaped = escaped;
    if (this.#depth === 1 && this.#key.length <= itemsKey.length)
      this.#key.push(...bytes.subarray(from, Math.min(at, from + itemsKey.length + 1)));
    if (at < bytes.length) this.#inString = false;
    return at;
  }

  /** The list without its items. Throws a SyntaxError when the answer broke off. */
  end(): unknown {
    return JSON.parse(Buffer.concat(this.#shell).toString("utf8"));
  }

  #isItemsKey(): boolean {
    return this.#key.length === itemsKey.length && itemsKey.every((byte, at) => this.#key[at] === byte);
  }

  #toShell(bytes: Buffer, from: number, to: number): void {
    if (to > from) this.#shell.push(Buffer.from(bytes.subarray(from, to)));
  }

  #emit(bytes: Buffer, from: number, to: number): void {
    if (this.#held.length === 0) {
      this.#onItem(bytes.toString("utf8", from, to));
      return;
    }
    const whole = Buffer.concat([...this.#held, bytes.subarray(from, to)]);
    this.#held.length = 0;
    this.#onItem(whole.toString("utf8"));
  }
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const itemsKey = [...Buffer.from("items")];
