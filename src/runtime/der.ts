/** Reads DER, the encoding of certificates (ITU-T X.690). Whatever is not exactly DER throws. */

/** One element: its tag, what it holds, and itself with its header. */
export interface Der {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly whole: Uint8Array;
}

/** The bytes are not DER, or not of the shape that is expected there. */
export class MalformedDer extends Error {
  override readonly name = "MalformedDer";
}

export const derTag = { boolean: 0x01, integer: 0x02, bitString: 0x03, octetString: 0x04, oid: 0x06, sequence: 0x30, set: 0x31 } as const;

/** The one element that the bytes hold. */
export function readDer(bytes: Uint8Array, tag?: number): Der {
  const [element, ...more] = elements(bytes);
  if (element === undefined || more.length > 0) throw new MalformedDer("expected exactly one element");
  if (tag !== undefined && element.tag !== tag) throw new MalformedDer(`expected tag ${tag}, found ${element.tag}`);
  return element;
}

/** The elements of a sequence, set or explicit tag. */
export function derChildren({ content }: Der): readonly Der[] {
  return elements(content);
}

/** An object identifier with dots. */
export function derOid(element: Der | undefined): string {
  if (element?.tag !== derTag.oid || element.content.length === 0) throw new MalformedDer("expected an object identifier");
  const { content } = element;
  const arcs: bigint[] = [];
  let arc = 0n;
  for (const byte of content) {
    arc = (arc << 7n) | BigInt(byte & 0x7f);
    if (byte & 0x80) continue;
    arcs.push(arc);
    arc = 0n;
  }
  if (content.at(-1)! & 0x80) throw new MalformedDer("unfinished object identifier");
  const [first = 0n, ...rest] = arcs;
  const top = first < 80n ? first / 40n : 2n;
  return [top, first - top * 40n, ...rest].join(".");
}

/** A number small enough to count with; negative and large ones throw. */
export function derSmallInteger({ tag, content }: Der): number {
  if (tag !== derTag.integer || content.length === 0 || content.length > 4 || content[0]! & 0x80) {
    throw new MalformedDer("expected a small positive integer");
  }
  return content.reduce((value, byte) => value * 256 + byte, 0);
}

function elements(bytes: Uint8Array): Der[] {
  const found: Der[] = [];
  for (let at = 0; at < bytes.length; ) {
    const element = elementAt(bytes, at);
    found.push(element);
    at += element.whole.length;
  }
  return found;
}

function elementAt(bytes: Uint8Array, start: number): Der {
  const tag = bytes[start]!;
  const size = bytes[start + 1];
  // Tags of several bytes and indefinite lengths do not occur in certificates.
  if ((tag & 0x1f) === 0x1f || size === undefined || size === 0x80 || size > 0x84) throw new MalformedDer("unexpected header");
  const extra = size & 0x80 ? size & 0x7f : 0;
  const from = start + 2 + extra;
  const length = extra === 0 ? size : bytes.subarray(start + 2, from).reduce((value, byte) => value * 256 + byte, 0);
  if (from + length > bytes.length) throw new MalformedDer("element is cut off");
  return { tag, content: bytes.subarray(from, from + length), whole: bytes.subarray(start, from + length) };
}
