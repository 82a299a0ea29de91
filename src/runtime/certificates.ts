/** Where the serving certificates come from: made here, or files that are read again when they change. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import type { Host } from "./host.ts";
import { sleep } from "./world.ts";
import { issueCertificate, type KeyPair } from "./x509.ts";

/** A pair of files; `names` are the host names it is for, its own when left out. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly names?: readonly string[];
}

export interface CertificateOptions {
  /** `--tls-cert-file` and `--tls-private-key-file`. */
  readonly files?: CertificateFiles;
  /** `--cert-dir`: where a certificate made here is kept for the next start. In memory only when left out. */
  readonly directory?: string;
  /** `--tls-sni-cert-key`. */
  readonly named?: readonly CertificateFiles[];
  /** How often files are looked at. */
  readonly pollMs?: number;
}

/** One certificate in use. */
export interface ServingCertificate extends KeyPair {
  /** Host names it answers to, `*.` for any first label. */
  readonly names: readonly string[];
}

/** What a server needs of its certificates. */
export interface Certificates {
  /** For clients that name no host, or one that nobody else answers to. */
  fallback(): ServingCertificate;
  named(): readonly ServingCertificate[];
  /** Keeps them fresh until the signal aborts; tells whenever one has changed. */
  watch(onChange: () => void, signal: AbortSignal): void;
}

/** A certificate or key that cannot be used; says which file and why. */
export class CertificateUnusable extends Error {
  override readonly name = "CertificateUnusable";
}

const yearMs = 365 * 24 * 3_600_000;
/** A certificate made here is made anew when it has less than this left. */
const renewBeforeMs = 30 * 24 * 3_600_000;
/** Clocks of clients may be behind. */
const backdateMs = 3_600_000;

/** Loads or makes the certificates; rejects with `CertificateUnusable` when given ones will not do. */
export async function loadCertificates(host: Host, options: CertificateOptions): Promise<Certificates> {
  const fallback = options.files === undefined ? await madeHere(host, options.directory) : await fromFiles(host, options.files);
  const named = await Promise.all((options.named ?? []).map((files) => fromFiles(host, files)));
  const all = [fallback, ...named];
  return {
    fallback: () => fallback.current,
    named: () => named.map((slot) => slot.current),
    watch(onChange, signal) {
      void keepFresh(host, all, options.pollMs ?? 10_000, onChange, signal);
    },
  };
}

/** Reads `crt,key` or `crt,key:domain,domain…`. */
export function parseNamedCertificate(text: string): CertificateFiles {
  const [files = "", names, ...more] = text.split(":");
  const [certFile, keyFile, ...extra] = files.split(",").map((part) => part.trim());
  if (!certFile || !keyFile || extra.length > 0 || more.length > 0) {
    throw new CertificateUnusable(`expected "certificate file,key file" and optionally ":domain,domain", got ${JSON.stringify(text)}`);
  }
  const list = names?.split(",").map((domain) => domain.trim().toLowerCase());
  if (list?.some((domain) => domain === "")) throw new CertificateUnusable(`empty domain in ${JSON.stringify(text)}`);
  return { certFile, keyFile, ...(list && { names: list }) };
}

/** The certificate for a host name: an exact name passes a wildcard, and a given order decides between equals. */
export function certificateFor(certificates: readonly ServingCertificate[], host: string): ServingCertificate | undefined {
  const wanted = host.toLowerCase();
  const wildcard = wanted.replace(/^[^.]+/, "*");
  return certificates.find(({ names }) => names.includes(wanted)) ?? certificates.find(({ names }) => names.includes(wildcard));
}

interface Slot {
  current: ServingCertificate;
  /** A fresh one when there is reason, else undefined. Rejects when the new one will not do. */
  refresh(): Promise<ServingCertificate | undefined>;
}

async function keepFresh(host: Host, slots: readonly Slot[], pollMs: number, onChange: () => void, signal: AbortSignal): Promise<void> {
  const said = new Map<Slot, string>();
  while (!signal.aborted) {
    try {
      await sleep(host.world.clock, pollMs, signal);
    } catch {
      return;
    }
    for (const slot of slots) {
      try {
        const fresh = await slot.refresh();
        if (fresh !== undefined) takeInUse(slot, fresh, onChange);
        said.delete(slot);
        if (fresh !== undefined) host.log.info("serving certificate was replaced", { subject: subjectOf(fresh) });
      } catch (error) {
        const text = String(error);
        if (said.get(slot) !== text) host.log.error("new serving certificate is unusable; the old one stays in use", { error });
        said.set(slot, text);
      }
    }
  }
}

/** All or nothing: a certificate that the server refuses must not be in its way when the next one changes. */
function takeInUse(slot: Slot, fresh: ServingCertificate, onChange: () => void): void {
  const old = slot.current;
  slot.current = fresh;
  try {
    onChange();
  } catch (error) {
    slot.current = old;
    throw error;
  }
}

async function fromFiles(host: Host, files: CertificateFiles): Promise<Slot> {
  const first = await readPair(host, files);
  const slot: Slot = {
    current: usable(first, files),
    async refresh() {
      const pair = await readPair(host, files);
      if (pair.cert === slot.current.cert && pair.key === slot.current.key) return undefined;
      return usable(pair, files);
    },
  };
  return slot;
}

async function readPair(host: Host, { certFile, keyFile }: CertificateFiles): Promise<KeyPair> {
  return { cert: await readText(host, certFile), key: await readText(host, keyFile) };
}

async function readText(host: Host, path: string): Promise<string> {
  try {
    return Buffer.from(await host.world.files.read(path)).toString("utf8");
  } catch (cause) {
    throw new CertificateUnusable(`cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
}

function usable(pair: KeyPair, { certFile, keyFile, names }: CertificateFiles): ServingCertificate {
  const certificate = attempt(`${certFile} holds no certificate in PEM`, () => new X509Certificate(pair.cert));
  // The parser's own words may quote the key: they stay out of the message.
  const key = attempt(`${keyFile} holds no private key in PEM`, () => createPrivateKey(pair.key), false);
  if (!certificate.checkPrivateKey(key))
    throw new CertificateUnusable(`the key in ${keyFile} does not belong to the certificate in ${certFile}`);
  // Only OpenSSL knows what it will serve: it reads the whole chain, and wants keys of some size.
  attempt(`the certificate in ${certFile} cannot be served`, () => createSecureContext({ cert: pair.cert, key: pair.key }));
  return { ...pair, names: names ?? namesIn(certificate) };
}

function attempt<T>(failure: string, read: () => T, withCause = true): T {
  try {
    return read();
  } catch (cause) {
    throw new CertificateUnusable(failure, withCause ? { cause } : {});
  }
}

function namesIn(certificate: X509Certificate): string[] {
  const names = (certificate.subjectAltName ?? "")
    .split(", ")
    .filter((entry) => entry.startsWith("DNS:"))
    .map((entry) => entry.slice(4).toLowerCase());
  if (names.length > 0) return names;
  const commonName = /^CN=(.+)$/m.exec(certificate.subject)?.[1];
  return commonName === undefined ? [] : [commonName.toLowerCase()];
}

function subjectOf({ cert }: ServingCertificate): string {
  return new X509Certificate(cert).subject;
}

async function madeHere(host: Host, directory: string | undefined): Promise<Slot> {
  const kept = directory === undefined ? undefined : keptIn(directory);
  const old = kept === undefined ? undefined : await reuse(host, kept);
  const slot: Slot = {
    current: old ?? (await make(host, kept)),
    async refresh() {
      return expiresSoon(host, slot.current) ? make(host, kept) : undefined;
    },
  };
  return slot;
}

/** The names the reference uses, so that its files are found. */
function keptIn(directory: string): CertificateFiles {
  return { certFile: join(directory, "cloud-controller-manager.crt"), keyFile: join(directory, "cloud-controller-manager.key") };
}

/** What an earlier start left, if it is there and will do for a while. */
async function reuse(host: Host, files: CertificateFiles): Promise<ServingCertificate | undefined> {
  try {
    const kept = usable(await readPair(host, files), files);
    return expiresSoon(host, kept) ? undefined : kept;
  } catch (error) {
    host.log.v(2)?.info("no serving certificate to use again; making one", { error });
    return undefined;
  }
}

async function make(host: Host, kept: CertificateFiles | undefined): Promise<ServingCertificate> {
  const now = host.world.clock.now();
  const hosts = ["localhost", "127.0.0.1"];
  const pair = issueCertificate(host.world.random, {
    commonName: `localhost@${Math.floor(now / 1000)}`,
    hosts,
    usage: "server",
    notBefore: new Date(now - backdateMs),
    notAfter: new Date(now + yearMs),
  });
  if (kept !== undefined) {
    try {
      await host.world.files.write(kept.keyFile, pair.key, 0o600);
      await host.world.files.write(kept.certFile, pair.cert, 0o644);
    } catch (cause) {
      throw new CertificateUnusable(`cannot keep the serving certificate in ${kept.certFile}: ${(cause as Error).message}`, { cause });
    }
  }
  return { ...pair, names: hosts };
}

function expiresSoon(host: Host, { cert }: ServingCertificate): boolean {
  return new X509Certificate(cert).validToDate.getTime() - host.world.clock.now() < renewBeforeMs;
}
