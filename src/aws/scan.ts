/**
 * Reads the XML of an answer as it arrives, and keeps only what is named.
 *
 * An answer that lists a thousand instances is ten megabytes of which a few hundred kilobytes are read. Building the
 * whole tree first blocks the event loop for a second; this walks the bytes once and lets others run in between.
 */
import { type Clock, sleep } from "../runtime/world.ts";

/** What to keep of an element: its text, its named children, or each of its `item` children. */
export type Shape<T> = TextShape<T> | FieldsShape<T> | ListShape<T>;

interface TextShape<T> {
  readonly kind: "text";
  readonly make: (text: string) => T;
}
interface FieldsShape<T> {
  readonly kind: "fields";
  readonly fields: ReadonlyMap<string, Shape<unknown>>;
  readonly make: (values: Record<string, unknown>) => T;
}
interface ListShape<T> {
  readonly kind: "list";
  readonly item: Shape<unknown>;
  readonly make: (items: unknown[]) => T;
}

type Kept<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] extends Shape<infer T> ? T : never };

/** The element's text. */
export const text: Shape<string> = { kind: "text", make: (value) => value };

/** A text of which there are few and which thousands of elements have: each is kept once. */
export const common: Shape<string> = { kind: "text", make: theOne };

const commonTexts = new Map<string, string>();
const maxCommonTexts = 1_000;

function theOne(value: string): string {
  const known = commonTexts.get(value);
  if (known !== undefined) return known;
  // It turned out not to be common after all; those that are will be back at once.
  if (commonTexts.size === maxCommonTexts) commonTexts.clear();
  commonTexts.set(value, value);
  return value;
}

/** The named children of an element; what is absent is undefined. `make` turns them into what is wanted, at once. */
export function fields<Fields extends Record<string, Shape<unknown>>>(shapes: Fields): Shape<Kept<Fields>>;
export function fields<Fields extends Record<string, Shape<unknown>>, T>(shapes: Fields, make: (values: Kept<Fields>) => T): Shape<T>;
export function fields<T>(shapes: Record<string, Shape<unknown>>, make?: (values: Record<string, unknown>) => T): Shape<T> {
  return { kind: "fields", fields: new Map(Object.entries(shapes)), make: make ?? ((values) => values as T) };
}

/** The children of a list, which EC2 calls `item` and the other query services `member`. */
export function list<T>(item: Shape<T>): Shape<readonly T[]> {
  return { kind: "list", item, make: (items) => (items.length === 0 ? none : items) as T[] };
}

/** The answer was not the XML it should be. */
export class ScanFailed extends Error {
  override readonly name = "ScanFailed";
}

/** Several answers may be under way, and each takes so much in every turn of the loop. */
const yieldEvery = 128 * 1024;

/** Scans a body to its end. Lets the event loop turn between pieces, however large the chunks are. */
export async function scanBody<T>(body: AsyncIterable<Uint8Array>, shape: Shape<T>, clock: Clock): Promise<T> {
  const scanner = new Scanner(shape);
  let sinceYield = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at += yieldEvery) {
      const piece = chunk.subarray(at, at + yieldEvery);
      scanner.feed(piece);
      sinceYield += piece.length;
      if (sinceYield >= yieldEvery) {
        sinceYield = 0;
        await sleep(clock, 0);
      }
    }
  }
  return scanner.end();
}

/** An open element. Which of the three it collects in depends on its shape; the others stay empty. */
interface Frame {
  readonly name: string;
  readonly shape: Shape<unknown>;
  readonly values: Record<string, unknown>;
  readonly items: unknown[];
  text: string;
}

const empty: Buffer = Buffer.alloc(0);
const nothing: Record<string, unknown> = Object.freeze({});
const none: unknown[] = Object.freeze([]) as unknown as unknown[];
const lessThan = 0x3c;
const greaterThan = 0x3e;
const slash = 0x2f;
const bang = 0x21;
const question = 0x3f;
const cdataStart = "<![CDATA[";
const markerEnds: readonly (readonly [string, string])[] = [
  ["<!--", "-->"],
  [cdataStart, "]]>"],
  ["<?", "?>"],
];

/** The state between two chunks: the elements that are open, and the bytes of a tag that has not ended yet. */
export class Scanner<T> {
  readonly #frames: Frame[] = [];
  readonly #root: Shape<T>;
  #carry: Buffer = empty;
  /** The part of a text that came with earlier chunks: a character may lie across two of them. */
  #cutText: Buffer = empty;
  /** How deep we are in an element nobody asked for. */
  #skipping = 0;
  #result: { readonly value: T } | undefined;

  constructor(root: Shape<T>) {
    this.#root = root;
  }

  feed(chunk: Uint8Array): void {
    const bytes = this.#carry.length === 0 ? asBuffer(chunk) : Buffer.concat([this.#carry, chunk]);
    this.#carry = empty;
    let at = 0;
    while (at < bytes.length) {
      let open = at;
      while (open < bytes.length && bytes[open] !== lessThan) open++;
      if (open === bytes.length) {
        if (this.#textFrame() !== undefined) this.#cutText = Buffer.concat([this.#cutText, bytes.subarray(at)]);
        return;
      }
      this.#text(bytes, at, open);
      const end = this.#tagEnd(bytes, open);
      if (end === -1) {
        // Copied, because the transport may use the chunk's memory again.
        this.#carry = Buffer.from(bytes.subarray(open));
        return;
      }
      this.#tag(bytes, open, end);
      at = end;
    }
  }

  /** What was found. Throws when the document ended too early, as it does when a connection is cut. */
  end(): T {
    if (this.#result === undefined) throw new ScanFailed("the answer ended in the middle of its XML");
    return this.#result.value;
  }

  /** The position after the `>` that ends the markup starting at `open`, or -1 when it is not there yet. */
  #tagEnd(bytes: Buffer, open: number): number {
    const second = bytes[open + 1];
    if (second === undefined) return -1;
    if (second === bang || second === question) return specialEnd(bytes, open);
    let end = open + 1;
    while (end < bytes.length && bytes[end] !== greaterThan) end++;
    return end === bytes.length ? -1 : end + 1;
  }

  #tag(bytes: Buffer, open: number, end: number): void {
    const second = bytes[open + 1];
    const selfClosing = bytes[end - 2] === slash;
    if (second === question) return;
    if (second === bang) this.#special(bytes, open, end);
    else if (second === slash) this.#close();
    else if (this.#skipping > 0) this.#skipping += selfClosing ? 0 : 1;
    else {
      this.#open(elementName(bytes, open + 1, selfClosing ? end - 2 : end - 1));
      if (selfClosing) this.#close();
    }
  }

  #open(name: string): void {
    const shape = this.#shapeOf(name);
    if (shape === undefined) this.#skipping = 1;
    else
      this.#frames.push({
        name,
        shape,
        values: shape.kind === "fields" ? {} : nothing,
        items: shape.kind === "list" ? [] : none,
        text: "",
      });
  }

  #shapeOf(name: string): Shape<unknown> | undefined {
    const parent = this.#frames.at(-1);
    if (parent === undefined) return this.#result === undefined ? this.#root : undefined;
    if (parent.shape.kind === "fields") return parent.shape.fields.get(name);
    return parent.shape.kind === "list" && (name === "item" || name === "member") ? parent.shape.item : undefined;
  }

  #close(): void {
    if (this.#skipping > 0) {
      this.#skipping--;
      return;
    }
    const frame = this.#frames.pop();
    if (frame === undefined) throw new ScanFailed("the answer closes an element it never opened");
    const value = keptOf(frame);
    const parent = this.#frames.at(-1);
    if (parent === undefined) this.#result = { value: value as T };
    else if (parent.shape.kind === "list") parent.items.push(value);
    else parent.values[frame.name] = value;
  }

  #textFrame(): Frame | undefined {
    const frame = this.#skipping === 0 ? this.#frames.at(-1) : undefined;
    return frame?.shape.kind === "text" ? frame : undefined;
  }

  /** A text up to the markup that ends it. */
  #text(bytes: Buffer, start: number, end: number): void {
    const frame = this.#textFrame();
    if (frame === undefined) return;
    if (this.#cutText.length === 0) frame.text += decodeEntities(bytes.toString("utf8", start, end));
    else {
      frame.text += decodeEntities(Buffer.concat([this.#cutText, bytes.subarray(start, end)]).toString("utf8"));
      this.#cutText = empty;
    }
  }

  #special(bytes: Buffer, open: number, end: number): void {
    const frame = this.#textFrame();
    if (frame !== undefined && startsWith(bytes, open, cdataStart)) frame.text += bytes.toString("utf8", open + cdataStart.length, end - 3);
  }
}

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

function specialEnd(bytes: Buffer, open: number): number {
  for (const [start, stop] of markerEnds) {
    if (startsWith(bytes, open, start)) {
      const end = bytes.indexOf(stop, open + start.length);
      return end === -1 ? -1 : end + stop.length;
    }
  }
  // Not told apart yet, or a declaration, which our services do not send.
  if (bytes.length - open < cdataStart.length) return -1;
  throw new ScanFailed("the answer holds a declaration");
}

function startsWith(bytes: Buffer, at: number, marker: string): boolean {
  for (let i = 0; i < marker.length; i++) if (bytes[at + i] !== marker.charCodeAt(i)) return false;
  return true;
}

function elementName(bytes: Buffer, start: number, end: number): string {
  let stop = start;
  while (stop < end && bytes[stop]! > 0x20) stop++;
  return bytes.toString("latin1", start, stop);
}

function keptOf({ shape, values, items, text }: Frame): unknown {
  switch (shape.kind) {
    case "text":
      return shape.make(text);
    case "fields":
      return shape.make(values);
    case "list":
      return shape.make(items);
  }
}

const entities = new Map(Object.entries({ lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" }));

function decodeEntities(value: string): string {
  if (!value.includes("&")) return value;
  return value.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex?: string, decimal?: string, name?: string) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number.parseInt(decimal, 10));
    return entities.get(name ?? "") ?? whole;
  });
}
