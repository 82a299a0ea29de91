/** Just enough of ASN.1's distinguished encoding to write a certificate: Node can read X.509 but not create it. */

export type Der = Buffer;

/** Ordered members. */
export const sequence = (...members: readonly Der[]): Der => tagged(0x30, ...members);
/** Unordered members; callers here only ever put one in. */
export const set = (...members: readonly Der[]): Der => tagged(0x31, ...members);
export const boolean = (value: boolean): Der => tagged(0x01, Buffer.from([value ? 0xff : 0]));
export const octets = (content: Uint8Array): Der => tagged(0x04, content);
export const utf8 = (text: string): Der => tagged(0x0c, Buffer.from(text, "utf8"));
/** Bits that fill whole bytes, but for `unused` ones at the end. */
export const bits = (content: Uint8Array, unused = 0): Der => tagged(0x03, Buffer.from([unused]), content);
/** Context-specific, explicit: a wrapper around another value. */
export const explicit = (number: number, ...members: readonly Der[]): Der => tagged(0xa0 | number, ...members);
/** Context-specific, implicit: another name for a plain value. */
export const implicit = (number: number, content: Uint8Array): Der => tagged(0x80 | number, content);

/** A whole number that is not negative, most significant byte first. */
export function integer(value: Uint8Array | number): Der {
  const bytes = typeof value === "number" ? Buffer.from([value]) : Buffer.from(value);
  return tagged(0x02, bytes[0]! & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** `1.2.840.10045.4.3.2` */
export function objectId(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** A moment to the second; years beyond 2049 would need another form and are not used. */
export function time(ms: number): Der {
  const compact = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, "");
  return tagged(0x17, Buffer.from(compact.slice(2), "ascii"));
}

function tagged(tag: number, ...content: readonly Uint8Array[]): Der {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, ...length(body.length)]), body]);
}

function length(count: number): readonly number[] {
  if (count < 0x80) return [count];
  if (count < 0x100) return [0x81, count];
  return [0x82, count >> 8, count & 0xff];
}

function base128(value: number): readonly number[] {
  const groups = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
  return groups;
}
