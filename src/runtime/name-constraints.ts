/** Which names an authority may certify (RFC 5280, section 4.2.1.10), with the stricter reading where Go's and OpenSSL's differ. */
import { type CertificateFields, type GeneralName, type NameConstraints, nameKind } from "./certificate-fields.ts";
import { type Der, derChildren, derOid, derTag, MalformedDer, readDer } from "./der.ts";

const commonName = "2.5.4.3";
const stringTag = { utf8: 0x0c, numeric: 0x12, printable: 0x13, t61: 0x14, ia5: 0x16, bmp: 0x1e } as const;
const emailAddress = "1.2.840.113549.1.9.1";

/** Whether all names of a certificate below an authority lie within its constraints. Throws for a name that cannot be compared. */
export function permitsNames(constraints: NameConstraints, certificate: CertificateFields, isLeaf: boolean): boolean {
  return namesOf(certificate, isLeaf).every((name) => {
    const ofKind = ({ kind }: GeneralName) => kind === name.kind;
    const permitted = constraints.permitted.filter(ofKind);
    const excluded = constraints.excluded.filter(ofKind);
    return (permitted.length === 0 || permitted.some((base) => covers(base, name))) && !excluded.some((base) => covers(base, name));
  });
}

/** As OpenSSL counts them: also the subject, mail addresses in it, and a common name that looks like a host's when no host is named. */
function namesOf({ subject, alternativeNames }: CertificateFields, isLeaf: boolean): readonly GeneralName[] {
  const attributes = relativeNames(subject).flat();
  const named = (type: string, kind: number) =>
    attributes.filter((attribute) => attribute.type === type).map(({ value }): GeneralName => ({ kind, content: value }));
  const hosts = isLeaf && !alternativeNames.some(({ kind }) => kind === nameKind.dns) ? named(commonName, nameKind.dns) : [];
  return [
    ...alternativeNames,
    ...(attributes.length > 0 ? [{ kind: nameKind.directory, content: subject.whole }] : []),
    ...named(emailAddress, nameKind.email),
    ...hosts.filter(({ content }) => /^[\w-]+(\.[\w-]+)+$/.test(text(content))),
  ];
}

function covers(base: GeneralName, name: GeneralName): boolean {
  switch (base.kind) {
    case nameKind.dns:
      return coversHost(text(base.content), text(name.content), true);
    case nameKind.email:
      return coversMailbox(text(base.content), text(name.content));
    case nameKind.uri:
      return coversHost(text(base.content), hostOf(text(name.content)), false);
    case nameKind.ip:
      return coversAddress(base.content, name.content);
    case nameKind.directory:
      return coversDirectory(base.content, name.content);
    default:
      throw new MalformedDer(`constraint on names of kind ${base.kind}, which cannot be compared`);
  }
}

/** `example.com` is the host, and for DNS names all below it too; `.example.com` is those below it. */
function coversHost(base: string, host: string, andBelow: boolean): boolean {
  if (base === "") return true;
  if (base.startsWith(".")) return host.endsWith(base) && host.length > base.length;
  return host === base || (andBelow && host.endsWith(`.${base}`));
}

function coversMailbox(base: string, mailbox: string): boolean {
  return base.includes("@") ? base === mailbox : coversHost(base, mailbox.slice(mailbox.lastIndexOf("@") + 1), false);
}

function hostOf(uri: string): string {
  const host = URL.parse(uri.replace(/^[a-z][a-z0-9+.-]*:/, "http:"))?.hostname;
  if (host === undefined || host === "" || /^[\d.]+$|^\[/.test(host)) throw new MalformedDer("URI without a host name under a constraint");
  return host;
}

function coversAddress(base: Uint8Array, address: Uint8Array): boolean {
  if (base.length !== address.length * 2) return false;
  return address.every((byte, at) => ((byte ^ base[at]!) & base[address.length + at]!) === 0);
}

function coversDirectory(base: Uint8Array, name: Uint8Array): boolean {
  const [wanted, given] = [base, name].map((bytes) => relativeNames(readDer(bytes, derTag.sequence)).map(comparable));
  return wanted!.every((part, at) => part === given![at]);
}

/** The same for two spellings of the same name: case, blanks and the type of string do not count. */
function comparable(attributes: readonly Attribute[]): string {
  return JSON.stringify(attributes.map(({ type, value }) => [type, text(value).trim().replace(/\s+/g, " ")].join("=")).sort());
}

interface Attribute {
  readonly type: string;
  readonly value: Uint8Array;
}

function relativeNames(name: Der): readonly (readonly Attribute[])[] {
  return derChildren(name).map((set) =>
    derChildren(set).map((attribute) => {
      const [type, value] = derChildren(attribute);
      if (type === undefined || value === undefined) throw new MalformedDer("malformed name");
      return { type: derOid(type), value: inUtf8(value) };
    }),
  );
}

/** A name may be written in any of these, and is the same name. Go knows no others, so a certificate with them is refused. */
function inUtf8({ tag, content }: Der): Uint8Array {
  switch (tag) {
    case stringTag.bmp:
      return Buffer.from(new TextDecoder("utf-16be").decode(content), "utf8");
    case stringTag.t61:
      return Buffer.from(Buffer.from(content).toString("latin1"), "utf8");
    case stringTag.utf8:
    case stringTag.numeric:
    case stringTag.printable:
    case stringTag.ia5:
      return content;
    default:
      throw new MalformedDer(`name in a string of kind ${tag}, which cannot be compared`);
  }
}

function text(content: Uint8Array): string {
  return Buffer.from(content).toString("utf8").toLowerCase();
}
