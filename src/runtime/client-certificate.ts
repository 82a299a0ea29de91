/** Tells from a client's certificate who it is, given the authorities that are trusted to say so. */
import { X509Certificate } from "node:crypto";

export interface CertifiedClient {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** Intermediates followed before giving up. */
const maxChain = 6;
const clientAuth = "1.3.6.1.5.5.7.3.2";
const anyUsage = "2.5.29.37.0";

/**
 * The subject of the client's certificate when one of the authorities has issued it, directly or through intermediates
 * that the client has sent along, and all of them are valid now; else undefined.
 */
export function certifiedClient(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
  nowMs: number,
): CertifiedClient | undefined {
  const usages = certificate.keyUsage;
  if (usages !== undefined && !usages.includes(clientAuth) && !usages.includes(anyUsage)) return undefined;
  if (!isIssued(certificate, authorities, nowMs)) return undefined;
  // The parts of the subject as OpenSSL has them, so that no value can pose as another part.
  const { subject } = certificate.toLegacyObject();
  const commonName = list(subject.CN).at(-1);
  return commonName === undefined ? undefined : { commonName, organizations: list(subject.O) };
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

function isIssued(leaf: X509Certificate, authorities: readonly X509Certificate[], nowMs: number): boolean {
  let at: X509Certificate = leaf;
  for (let depth = 0; depth < maxChain; depth++) {
    if (!isValid(at, nowMs) || (depth > 0 && !at.ca)) return false;
    const child = at;
    if (authorities.some((authority) => isValid(authority, nowMs) && issued(authority, child))) return true;
    const next = child.issuerCertificate;
    if (next === undefined || next.fingerprint256 === child.fingerprint256 || !issued(next, child)) return false;
    at = next;
  }
  return false;
}

function issued(issuer: X509Certificate, child: X509Certificate): boolean {
  return child.checkIssued(issuer) && child.verify(issuer.publicKey);
}

function isValid(certificate: X509Certificate, nowMs: number): boolean {
  return certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime();
}

function list(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}
