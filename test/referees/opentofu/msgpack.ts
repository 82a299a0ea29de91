/** MessagePack, as far as the plugin protocol uses it: https://github.com/msgpack/msgpack/blob/master/spec.md */

/** A value that is known only after the change was applied. */
export const unknown = Symbol("unknown");

/** A value of the configuration language. A large number may come as text. */
export type Value = null | boolean | number | string | typeof unknown | readonly Value[] | { readonly [key: string]: Value };

/** The extension of type 0 stands for an unknown value; OpenTofu's other one (12) is an unknown value with what is known of it. */
const UNKNOWN = Buffer.from([0xd4, 0, 0]);

export function encode(value: Value): Buffer {
  if (value === unknown) return UNKNOWN;
  if (value === null) return Buffer.from([0xc0]);
  if (typeof value === "boolean") return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === "number") return encodeNumber(value);
  if (typeof value === "string") {
    const text = Buffer.from(value);
    return Buffer.concat([head(text.length, 0xdb), text]);
  }
  if (Array.isArray(value)) return Buffer.concat([head(value.length, 0xdd), ...value.map(encode)]);
  const entries = Object.entries(value as Readonly<Record<string, Value>>);
  return Buffer.concat([head(entries.length, 0xdf), ...entries.flatMap(([key, each]) => [encode(key), encode(each)])]);
}

/** The forms with a length of four bytes serve every length. */
function head(length: number, form: number): Buffer {
  const buffer = Buffer.alloc(5);
  buffer[0] = form;
  buffer.writeUInt32BE(length, 1);
  return buffer;
}

function encodeNumber(value: number): Buffer {
  const buffer = Buffer.alloc(9);
  if (Number.isSafeInteger(value)) {
    buffer[0] = 0xd3;
    buffer.writeBigInt64BE(BigInt(value), 1);
  } else {
    buffer[0] = 0xcb;
    buffer.writeDoubleBE(value, 1);
  }
  return buffer;
}

export function decode(bytes: Uint8Array): Value {
  return new Reader(Buffer.from(bytes)).value();
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  value(): Value {
    const form = this.#unsigned(1);
    if (form <= 0x7f) return form;
    if (form <= 0x8f) return this.#map(form & 0x0f);
    if (form <= 0x9f) return this.#array(form & 0x0f);
    if (form <= 0xbf) return this.#text(form & 0x1f);
    if (form >= 0xe0) return form - 0x100;
    const read = this.#forms[form];
    if (read === undefined) throw new Error(`MessagePack form 0x${form.toString(16)} is not known`);
    return read();
  }

  readonly #forms: Readonly<Record<number, () => Value>> = {
    192: () => null,
    194: () => false,
    195: () => true,
    196: () => this.#text(this.#unsigned(1)),
    197: () => this.#text(this.#unsigned(2)),
    198: () => this.#text(this.#unsigned(4)),
    199: () => this.#extension(this.#unsigned(1)),
    200: () => this.#extension(this.#unsigned(2)),
    201: () => this.#extension(this.#unsigned(4)),
    202: () => this.#take(4).readFloatBE(),
    203: () => this.#take(8).readDoubleBE(),
    204: () => this.#unsigned(1),
    205: () => this.#unsigned(2),
    206: () => this.#unsigned(4),
    207: () => Number(this.#take(8).readBigUInt64BE()),
    208: () => this.#take(1).readInt8(),
    209: () => this.#take(2).readInt16BE(),
    210: () => this.#take(4).readInt32BE(),
    211: () => Number(this.#take(8).readBigInt64BE()),
    212: () => this.#extension(1),
    213: () => this.#extension(2),
    214: () => this.#extension(4),
    215: () => this.#extension(8),
    216: () => this.#extension(16),
    217: () => this.#text(this.#unsigned(1)),
    218: () => this.#text(this.#unsigned(2)),
    219: () => this.#text(this.#unsigned(4)),
    220: () => this.#array(this.#unsigned(2)),
    221: () => this.#array(this.#unsigned(4)),
    222: () => this.#map(this.#unsigned(2)),
    223: () => this.#map(this.#unsigned(4)),
  };

  #take(length: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    if (taken.length < length) throw new Error("MessagePack ends too early");
    this.#at += length;
    return taken;
  }

  #unsigned(length: number): number {
    return this.#take(length).readUIntBE(0, length);
  }

  #text(length: number): string {
    return this.#take(length).toString("utf8");
  }

  #array(length: number): Value {
    return Array.from({ length }, () => this.value());
  }

  #map(length: number): Value {
    return Object.fromEntries(Array.from({ length }, () => [this.value() as string, this.value()]));
  }

  /** Every extension that the protocol has is some form of an unknown value. */
  #extension(length: number): Value {
    this.#take(1 + length);
    return unknown;
  }
}
