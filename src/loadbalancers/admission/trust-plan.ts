/**
 * The authority and the certificate of the webhooks, and when each is replaced. All replicas serve the same certificate,
 * from a Secret that the leader writes.
 *
 *     new authority      its certificate joins the bundle that API servers trust; the old one goes on signing for an hour,
 *                        until all of them have read the bundle
 *     then               the serving certificate is issued anew by it
 *     the one before     stays in the bundle until the next takes its place
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { parseAuthorities } from "../../runtime/client-certificate.ts";
import type { Random } from "../../runtime/world.ts";
import { issueCertificate, type KeyPair } from "../../runtime/x509.ts";

/** What the Secret holds, all in PEM. */
export interface WebhookTrust {
  /** Whom API servers are to trust, the newest first. */
  readonly authorities: string;
  /** The key of the newest. */
  readonly authorityKey: string;
  readonly cert: string;
  readonly key: string;
}

const dayMs = 24 * 3_600_000;
const authorityLife = { totalMs: 365 * dayMs, renewMs: 120 * dayMs };
const certificateLife = { totalMs: 90 * dayMs, renewMs: 30 * dayMs };
/** Clocks of API servers may be behind. */
const backdateMs = 3_600_000;
/** After this long every API server has read a new authority. */
const settleMs = 3_600_000;
const maxAuthorities = 2;

/** What the Secret is to hold next; undefined when it may stay as it is. */
export function planTrust(
  present: WebhookTrust | undefined,
  hosts: readonly string[],
  now: number,
  random: Random,
): WebhookTrust | undefined {
  const kept = parseAuthorities(present?.authorities ?? "").filter((each) => each.validToDate.getTime() > now);
  const [newest] = kept;
  const stays = newest !== undefined && owns(newest, present?.authorityKey ?? "") && left(newest, now) > authorityLife.renewMs;
  const made = stays ? undefined : newAuthority(now, random);
  const authorities = (made ? [new X509Certificate(made.cert), ...kept] : kept).slice(0, maxAuthorities);
  const serving = present && { cert: present.cert, key: present.key };
  const pair = serving && isGood(serving, authorities, hosts, now) ? serving : undefined;
  const signer = { cert: authorities[0]!.toString(), key: made?.key ?? present!.authorityKey, commonName: nameOf(authorities[0]!) };
  const fresh = pair ? undefined : issue(signer, hosts, now, random);
  if (made === undefined && fresh === undefined && kept.length === authorities.length) return undefined;
  return {
    authorities: authorities.map((each) => each.toString()).join(""),
    authorityKey: signer.key,
    ...(fresh ?? pair!),
  };
}

/** Whether a certificate can go on being served. */
function isGood({ cert, key }: KeyPair, authorities: readonly X509Certificate[], hosts: readonly string[], now: number): boolean {
  const [certificate] = parseAuthorities(cert);
  if (certificate === undefined || !owns(certificate, key) || left(certificate, now) <= certificateLife.renewMs) return false;
  if (!hosts.every((host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined)) return false;
  const issuer = authorities.findIndex((each) => certificate.checkIssued(each) && certificate.verify(each.publicKey));
  if (issuer < 0) return false;
  const age = now - (authorities[0]!.validFromDate.getTime() + backdateMs);
  return issuer === 0 || age < settleMs;
}

function newAuthority(now: number, random: Random): KeyPair {
  const notBefore = new Date(now - backdateMs);
  const notAfter = new Date(now + authorityLife.totalMs);
  return issueCertificate(random, { commonName: `fairlead-webhooks@${Math.floor(now / 1000)}`, usage: "authority", notBefore, notAfter });
}

function issue(signer: KeyPair & { readonly commonName: string }, hosts: readonly string[], now: number, random: Random): KeyPair {
  const notBefore = new Date(now - backdateMs);
  const notAfter = new Date(now + certificateLife.totalMs);
  return issueCertificate(random, { commonName: hosts[0] ?? "webhooks", hosts, usage: "server", notBefore, notAfter }, signer);
}

const left = (certificate: X509Certificate, now: number) => certificate.validToDate.getTime() - now;

const nameOf = ({ subject }: X509Certificate) => /^CN=(.+)$/m.exec(subject)?.[1] ?? "";

/** Whether the key is a key, and this certificate's. */
export function owns(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
