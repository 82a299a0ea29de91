/** The certificates of one cluster: its own authorities, and what they sign. Nothing outlives the cluster's folder. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import type { World } from "../../../runtime/world.ts";
import { bits, boolean, type Der, explicit, implicit, integer, objectId, octets, sequence, set, time, utf8 } from "./der.ts";

export interface KeyPair {
  /** PEM, as is the key. */
  readonly cert: string;
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  /** Kubernetes reads these as the groups of a client. */
  readonly organizations?: readonly string[];
}

/** Signs certificates of one trust: the cluster has one for servers and clients, another for the front proxy. */
export interface Authority {
  /** PEM. */
  readonly cert: string;
  client(subject: Subject): KeyPair;
  /** For a server reached under these names and addresses. */
  server(subject: Subject, names: readonly string[]): KeyPair;
}

/** A new authority with a key of its own. */
export function createAuthority(world: World, commonName: string): Authority {
  const keys = newKeys();
  const issuer = { name: distinguishedName({ commonName }), key: keys.privateKey, keyId: keyId(keys.publicKey) };
  const root = certificate(world, issuer, { commonName }, keys.publicKey, [
    extension("2.5.29.19", true, sequence(boolean(true))),
    extension("2.5.29.15", true, bits(Buffer.from([0x86]), 1)),
    extension("2.5.29.14", false, octets(issuer.keyId)),
  ]);

  function leaf(subject: Subject, usage: string, names: readonly string[]): KeyPair {
    const pair = newKeys();
    const cert = certificate(world, issuer, subject, pair.publicKey, [
      extension("2.5.29.15", true, bits(Buffer.from([0x80]), 7)),
      extension("2.5.29.37", false, sequence(objectId(usage))),
      extension("2.5.29.35", false, sequence(implicit(0, issuer.keyId))),
      ...(names.length > 0 ? [extension("2.5.29.17", false, sequence(...names.map(alternativeName)))] : []),
    ]);
    return { cert, key: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  }

  return {
    cert: root,
    client: (subject) => leaf(subject, "1.3.6.1.5.5.7.3.2", []),
    server: (subject, names) => leaf(subject, "1.3.6.1.5.5.7.3.1", names),
  };
}

/** The key pair that signs service account tokens (PEM; the apiserver wants no certificate here). */
export function createTokenKeys(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = newKeys();
  return {
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
  };
}

interface Issuer {
  readonly name: Der;
  readonly key: KeyObject;
  readonly keyId: Buffer;
}

const day = 24 * 60 * 60 * 1000;
const ecdsaWithSha256 = sequence(objectId("1.2.840.10045.4.3.2"));

function newKeys(): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function certificate(world: World, issuer: Issuer, subject: Subject, publicKey: KeyObject, extensions: readonly Der[]): string {
  const now = world.clock.now();
  const content = sequence(
    explicit(0, integer(2)),
    integer(Buffer.concat([Buffer.from([1]), world.random.bytes(15)])),
    ecdsaWithSha256,
    issuer.name,
    sequence(time(now - day), time(now + 30 * day)),
    distinguishedName(subject),
    spki(publicKey),
    explicit(3, sequence(...extensions)),
  );
  const signed = sequence(content, ecdsaWithSha256, bits(sign("sha256", content, issuer.key)));
  const base64 = signed.toString("base64").replace(/.{64}/g, "$&\n").trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
}

function extension(id: string, critical: boolean, value: Der): Der {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), octets(value));
}

function distinguishedName(subject: Subject): Der {
  const part = (id: string, value: string) => set(sequence(objectId(id), utf8(value)));
  return sequence(...(subject.organizations ?? []).map((name) => part("2.5.4.10", name)), part("2.5.4.3", subject.commonName));
}

function alternativeName(name: string): Der {
  if (isIPv4(name)) return implicit(7, Buffer.from(name.split(".").map(Number)));
  if (isIPv6(name)) throw new TypeError(`certificate for ${name}: only IPv4 addresses and host names are supported`);
  return implicit(2, Buffer.from(name, "ascii"));
}

function spki(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: "spki", format: "der" });
}

function keyId(publicKey: KeyObject): Buffer {
  return createHash("sha1").update(spki(publicKey)).digest();
}
