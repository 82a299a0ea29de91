/**
 * Writes X.509 certificates with elliptic-curve keys. Node reads certificates but cannot make them, and the libraries
 * that can bring a dependency-injection container and more start-up time than the rest of the process.
 * The form is RFC 5280's: https://www.rfc-editor.org/rfc/rfc5280#section-4.1
 */
import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { isIP } from "node:net";
import type { Random } from "./world.ts";

export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses. */
  readonly hosts?: readonly string[];
  readonly usage: "server" | "client" | "authority";
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A certificate and its private key, both in PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** Makes a key and a certificate for it, signed by the issuer (whose subject is a common name alone), or by itself. */
export function issueCertificate(random: Random, request: CertificateRequest, issuer?: KeyPair & { readonly commonName: string }): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer = issuer === undefined ? privateKey : createPrivateKey(issuer.key);
  const issuerName = issuer === undefined ? nameOf(request) : name([["2.5.4.3", issuer.commonName]]);
  const body = sequence(
    explicit(0, integer(Uint8Array.of(2))),
    integer(serial(random)),
    ecdsaWithSha256,
    issuerName,
    sequence(time(request.notBefore), time(request.notAfter)),
    nameOf(request),
    publicKey.export({ type: "spki", format: "der" }),
    explicit(3, sequence(...extensions(request))),
  );
  const certificate = sequence(body, ecdsaWithSha256, bitString(sign("sha256", body, signer)));
  return {
    cert: pem("CERTIFICATE", certificate),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function extensions({ usage, hosts = [] }: CertificateRequest): Buffer[] {
  const authority = usage === "authority";
  const list = [
    // Basic constraints, key usage: an authority signs certificates, all others sign handshakes.
    extension("2.5.29.19", authority ? sequence(tlv(0x01, Uint8Array.of(0xff))) : sequence(), true),
    extension("2.5.29.15", tlv(0x03, authority ? Uint8Array.of(2, 0x04) : Uint8Array.of(7, 0x80)), true),
  ];
  if (!authority) list.push(extension("2.5.29.37", sequence(oid(usage === "server" ? "1.3.6.1.5.5.7.3.1" : "1.3.6.1.5.5.7.3.2"))));
  if (hosts.length > 0) list.push(extension("2.5.29.17", sequence(...hosts.map(alternativeName))));
  return list;
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [tlv(0x01, Uint8Array.of(0xff))] : []), tlv(0x04, value));
}

function alternativeName(host: string): Buffer {
  return isIP(host) === 0 ? tlv(0x82, Buffer.from(host, "ascii")) : tlv(0x87, addressBytes(host));
}

function addressBytes(address: string): Uint8Array {
  if (isIP(address) === 4) return Uint8Array.from(address.split("."), Number);
  const [head = "", tail] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":"));
  const left = groups(head);
  const right = groups(tail ?? "");
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return Uint8Array.from(
    [...left, ...zeros, ...right].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  );
}

function nameOf({ commonName, organizations = [] }: CertificateRequest): Buffer {
  return name([...organizations.map((organization) => ["2.5.4.10", organization] as const), ["2.5.4.3", commonName]]);
}

function name(attributes: readonly (readonly [id: string, value: string])[]): Buffer {
  return sequence(...attributes.map(([id, value]) => tlv(0x31, sequence(oid(id), tlv(0x0c, Buffer.from(value, "utf8"))))));
}

/** A positive number that no two certificates share: browsers refuse an issuer that repeats one. */
function serial(random: Random): Uint8Array {
  const bytes = random.bytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

/** Two digits of the year until 2049, four from then on, as RFC 5280 wants it. */
function time(date: Date): Buffer {
  const digits = `${date.toISOString().replace(/[-:T]|\.\d+/g, "")}`;
  return date.getUTCFullYear() < 2050 ? tlv(0x17, Buffer.from(digits.slice(2))) : tlv(0x18, Buffer.from(digits));
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

function tlv(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Uint8Array.of(tag, ...size), content]);
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function explicit(tag: number, content: Uint8Array): Buffer {
  return tlv(0xa0 | tag, content);
}

function integer(bytes: Uint8Array): Buffer {
  return tlv(0x02, bytes);
}

function bitString(bytes: Uint8Array): Buffer {
  return tlv(0x03, Buffer.concat([Uint8Array.of(0), bytes]));
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const septets = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) septets.unshift((left & 0x7f) | 0x80);
    bytes.push(...septets);
  }
  return tlv(0x06, Uint8Array.from(bytes));
}

const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"));
