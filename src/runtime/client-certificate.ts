/**
 * Tells from a client's certificate who it is, given the authorities that are trusted to say so.
 *
 * Node verifies chains only in a handshake and against one set of authorities, but here there are two that must be told
 * apart (clients and front proxies), and they change. So the chain is checked here as Go's crypto/x509 does for the
 * reference; where OpenSSL is stricter, as OpenSSL does. They differ in this:
 *
 *   Go only:       names of issuers compare byte by byte, self-issued intermediates count for the path length, critical
 *                  constraints on directory names are refused, and so are signatures with SHA-1
 *   OpenSSL only:  `anyExtendedKeyUsage` does not stand for client authentication, a key usage must allow signatures,
 *                  constraints are held against the subject too, one on URIs means the host alone unless it starts with
 *                  a dot, and the authority's key identifier must match
 *
 * An authority of the bundle is trusted as it stands, whoever has issued it: as in Go, and as `openssl verify -partial_chain`.
 */
import { X509Certificate } from "node:crypto";
import { type CertificateFields, certificateFields } from "./certificate-fields.ts";
import { permitsNames } from "./name-constraints.ts";

export interface CertifiedClient {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** Certificates in a chain, the client's and the authority's included. */
const maxChain = 8;
/** Signatures verified for one client: with cross-signed intermediates the number of possible chains grows without bound. */
const maxSignatures = 32;
const clientAuth = "1.3.6.1.5.5.7.3.2";
const usage = { digitalSignature: 0x80, keyAgreement: 0x08, certificateSigning: 0x04 } as const;
/** RSA, RSA-PSS (by its hash), ECDSA with SHA-2, and Ed25519: what Go verifies. */
const signatures = [
  ...["11", "12", "13"].map((id) => `1.2.840.113549.1.1.${id}`),
  ...["1", "2", "3"].map((id) => `2.16.840.1.101.3.4.2.${id}`),
  ...["2", "3", "4"].map((id) => `1.2.840.10045.4.3.${id}`),
  "1.3.101.112",
];

/** The subject of the client's certificate when a valid chain leads from it to one of the authorities; else undefined. */
export function certifiedClient(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
  nowMs: number,
): CertifiedClient | undefined {
  const leaf = readLink(certificate);
  if (leaf === undefined || !new ChainSearch(leaf, authorities, nowMs).succeeds()) return undefined;
  // The parts of the subject as OpenSSL has them, so that no value can pose as another part.
  const { subject } = certificate.toLegacyObject();
  const commonName = list(subject.CN).at(-1);
  return commonName === undefined || commonName === "" ? undefined : { commonName, organizations: list(subject.O) };
}

/** The certificates of a bundle in PEM; what is none is left out. */
export function parseAuthorities(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  return blocks.flatMap((block) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
}

/** A certificate on the way from the client to an authority. */
interface Link {
  readonly certificate: X509Certificate;
  readonly fields: CertificateFields;
}

/** Looks for a chain through what the client has sent along, in whatever order it was sent. */
class ChainSearch {
  readonly #leaf: Link;
  readonly #authorities: readonly Link[];
  readonly #intermediates: readonly Link[];
  readonly #nowMs: number;
  #signaturesLeft = maxSignatures;

  constructor(leaf: Link, authorities: readonly X509Certificate[], nowMs: number) {
    this.#leaf = leaf;
    this.#authorities = readLinks(authorities);
    this.#intermediates = readLinks(sentAlong(leaf.certificate));
    this.#nowMs = nowMs;
  }

  succeeds(): boolean {
    const trusted = this.#authorities.some(({ certificate }) => certificate.raw.equals(this.#leaf.certificate.raw));
    return this.#isUsable(this.#leaf) && isForClients([this.#leaf]) && (trusted || this.#leadsUp([this.#leaf]));
  }

  /** Whether the chain, which is good so far, can be continued to an authority. */
  #leadsUp(chain: readonly Link[]): boolean {
    if (chain.length === maxChain) return false;
    const next = (candidate: Link) => [...chain, candidate];
    return (
      this.#authorities.some((authority) => this.#continues(chain, authority, true) && isForClients(next(authority))) ||
      this.#intermediates.some(
        (candidate) =>
          !chain.some(({ certificate }) => certificate.raw.equals(candidate.certificate.raw)) &&
          this.#continues(chain, candidate, false) &&
          isForClients(next(candidate)) &&
          this.#leadsUp(next(candidate)),
      )
    );
  }

  #continues(chain: readonly Link[], issuer: Link, trusted: boolean): boolean {
    return this.#isUsable(issuer) && maySign(issuer.fields, chain.length - 1, trusted) && this.#hasIssued(issuer, chain.at(-1)!);
  }

  #hasIssued(issuer: Link, child: Link): boolean {
    if (!Buffer.from(issuer.fields.subject.whole).equals(child.fields.issuer) || !child.certificate.checkIssued(issuer.certificate)) {
      return false;
    }
    if (this.#signaturesLeft-- <= 0 || !signatures.includes(child.fields.signedWith)) return false;
    return child.certificate.verify(issuer.certificate.publicKey);
  }

  #isUsable({ certificate, fields }: Link): boolean {
    const { validFromDate, validToDate } = certificate;
    return !fields.hasUnknownCritical && validFromDate.getTime() <= this.#nowMs && this.#nowMs <= validToDate.getTime();
  }
}

/** `below`: intermediates between this one and the client. */
function maySign({ version, basicConstraints, keyUsage }: CertificateFields, below: number, trusted: boolean): boolean {
  if (keyUsage !== undefined && !(keyUsage & usage.certificateSigning)) return false;
  // Certificates of version 1 have no extensions to say it in: as roots they are believed.
  if (basicConstraints === undefined) return trusted && version === 1;
  return basicConstraints.ca && (basicConstraints.pathLength === undefined || below <= basicConstraints.pathLength);
}

/** Whether the newest link, the last one, lets the chain below it be a client's. */
function isForClients(chain: readonly Link[]): boolean {
  const { extendedKeyUsages, nameConstraints, keyUsage } = chain.at(-1)!.fields;
  // A usage of an authority restricts all that it issues.
  if (extendedKeyUsages !== undefined && !extendedKeyUsages.includes(clientAuth)) return false;
  if (chain.length === 1) return keyUsage === undefined || (keyUsage & (usage.digitalSignature | usage.keyAgreement)) !== 0;
  if (nameConstraints === undefined) return true;
  try {
    return chain.slice(0, -1).every(({ fields }, at) => permitsNames(nameConstraints, fields, at === 0));
  } catch {
    return false;
  }
}

/** The certificates that came with this one. Node hangs them onto each other in the order they were sent. */
function sentAlong(leaf: X509Certificate): X509Certificate[] {
  const sent: X509Certificate[] = [];
  for (let at = leaf.issuerCertificate; at !== undefined && sent.length < maxChain; at = at.issuerCertificate) {
    if (sent.some((earlier) => earlier.raw.equals(at!.raw))) break;
    sent.push(at);
  }
  return sent;
}

function readLinks(certificates: readonly X509Certificate[]): Link[] {
  return certificates.flatMap((certificate) => readLink(certificate) ?? []);
}

function readLink(certificate: X509Certificate): Link | undefined {
  try {
    return { certificate, fields: certificateFields(certificate) };
  } catch {
    return undefined;
  }
}

function list(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}
