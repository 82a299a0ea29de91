/** What the check of a chain needs of a certificate and Node's parser does not tell. RFC 5280, section 4. */
import type { X509Certificate } from "node:crypto";
import { type Der, derChildren, derOid, derSmallInteger, derTag, MalformedDer, readDer } from "./der.ts";

/** A subject, an alternative name, or the base of a constraint: its kind by number in RFC 5280's `GeneralName`, and its bytes. */
export interface GeneralName {
  readonly kind: number;
  readonly content: Uint8Array;
}

export const nameKind = { email: 1, dns: 2, directory: 4, uri: 6, ip: 7 } as const;

export interface NameConstraints {
  readonly permitted: readonly GeneralName[];
  readonly excluded: readonly GeneralName[];
}

export interface CertificateFields {
  readonly version: number;
  /** Object identifier of the signature's algorithm; for RSA-PSS, of the hash. */
  readonly signedWith: string;
  readonly issuer: Uint8Array;
  readonly subject: Der;
  readonly alternativeNames: readonly GeneralName[];
  readonly basicConstraints: { readonly ca: boolean; readonly pathLength: number | undefined } | undefined;
  /** The first byte of the key usage bits; undefined when any use is allowed. */
  readonly keyUsage: number | undefined;
  readonly extendedKeyUsages: readonly string[] | undefined;
  readonly nameConstraints: NameConstraints | undefined;
  /** A critical extension that is not checked here: who cannot check it must refuse the certificate. */
  readonly hasUnknownCritical: boolean;
}

const rsaPss = "1.2.840.113549.1.1.10";
/** Key identifiers, policies and places to ask: nothing that the check depends on. */
const harmless = ["2.5.29.14", "2.5.29.31", "2.5.29.32", "2.5.29.35"];

/** Reads a certificate; throws `MalformedDer` for one that is not well formed. */
export function certificateFields(certificate: X509Certificate): CertificateFields {
  const [body] = derChildren(readDer(certificate.raw, derTag.sequence));
  if (body === undefined) throw new MalformedDer("certificate is empty");
  const parts = [...derChildren(body)];
  const version = parts[0]?.tag === 0xa0 ? derSmallInteger(readDer(parts.shift()!.content)) + 1 : 1;
  const [, algorithm, issuer, , subject, , ...rest] = parts;
  if (algorithm === undefined || issuer === undefined || subject === undefined) throw new MalformedDer("certificate is cut off");
  const tagged = rest.find(({ tag }) => tag === 0xa3);
  const extensions = tagged === undefined ? [] : derChildren(readDer(tagged.content, derTag.sequence)).map(readExtension);
  if (new Set(extensions.map(({ id }) => id)).size < extensions.length) throw new MalformedDer("an extension is given twice");
  const read = <T>(id: string, how: (value: Uint8Array) => T): T | undefined => {
    const found = extensions.find((extension) => extension.id === id);
    return found === undefined ? undefined : how(found.value);
  };
  const nameConstraints = read("2.5.29.30", readNameConstraints);
  // Go knows no constraints on names of other kinds than these, and refuses them where they are critical.
  const strange = [...(nameConstraints?.permitted ?? []), ...(nameConstraints?.excluded ?? [])].some(
    ({ kind }) => kind !== nameKind.email && kind !== nameKind.dns && kind !== nameKind.uri && kind !== nameKind.ip,
  );
  const known = ["2.5.29.15", "2.5.29.17", "2.5.29.19", "2.5.29.37", ...harmless, ...(strange ? [] : ["2.5.29.30"])];
  return {
    version,
    signedWith: readAlgorithm(algorithm),
    issuer: issuer.whole,
    subject,
    alternativeNames: read("2.5.29.17", (value) => derChildren(readDer(value, derTag.sequence)).map(readGeneralName)) ?? [],
    basicConstraints: read("2.5.29.19", readBasicConstraints),
    keyUsage: read("2.5.29.15", (value) => readDer(value, derTag.bitString).content[1] ?? 0),
    extendedKeyUsages: read("2.5.29.37", (value) => derChildren(readDer(value, derTag.sequence)).map(derOid)),
    nameConstraints,
    hasUnknownCritical: extensions.some(({ id, critical }) => critical && !known.includes(id)),
  };
}

function readExtension(extension: Der): { readonly id: string; readonly critical: boolean; readonly value: Uint8Array } {
  const [id, ...rest] = derChildren(extension);
  const value = rest.at(-1);
  if (id === undefined || value?.tag !== derTag.octetString || rest.length > 2) throw new MalformedDer("malformed extension");
  return { id: derOid(id), critical: rest.length === 2 && rest[0]!.content[0] !== 0, value: value.content };
}

function readAlgorithm(algorithm: Der): string {
  const [id, parameters] = derChildren(algorithm);
  const name = derOid(id);
  if (name !== rsaPss) return name;
  const hash = parameters && derChildren(parameters).find(({ tag }) => tag === 0xa0);
  // Left out, it is SHA-1.
  return hash === undefined ? rsaPss : derOid(derChildren(readDer(hash.content, derTag.sequence))[0]);
}

function readBasicConstraints(value: Uint8Array): { ca: boolean; pathLength: number | undefined } {
  const parts = [...derChildren(readDer(value, derTag.sequence))];
  const ca = parts[0]?.tag === derTag.boolean ? parts.shift()!.content[0] !== 0 : false;
  return { ca, pathLength: parts[0] === undefined ? undefined : derSmallInteger(parts[0]) };
}

function readNameConstraints(value: Uint8Array): NameConstraints {
  const lists = derChildren(readDer(value, derTag.sequence));
  const subtrees = (tag: number) => lists.filter((list) => list.tag === tag).flatMap((list) => derChildren(list).map(readSubtree));
  return { permitted: subtrees(0xa0), excluded: subtrees(0xa1) };
}

function readSubtree(subtree: Der): GeneralName {
  const [base, ...distances] = derChildren(subtree);
  // RFC 5280 allows no minimum and maximum here; with them the meaning would be another.
  if (base === undefined || distances.length > 0) throw new MalformedDer("constraint with a minimum or maximum");
  return readGeneralName(base);
}

function readGeneralName({ tag, content }: Der): GeneralName {
  return { kind: tag & 0x1f, content };
}
