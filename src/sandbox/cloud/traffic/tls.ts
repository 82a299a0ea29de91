/** Certificates of the data plane: imported ones as they are, all others made here, signed by an authority that tests can trust. */
import { createSecureContext, type SecureContext } from "node:tls";
import type { Random } from "../../../runtime/world.ts";
import { issueCertificate, type KeyPair } from "../../../runtime/x509.ts";
import type { Account } from "../account.ts";
import { certificatesOf } from "../acm/state.ts";

const COMMON_NAME = "Fairlead sandbox";
const DAY_MS = 86_400_000;

/** A certificate ready to be served, with the names it is for. */
interface Served {
  readonly names: readonly string[];
  readonly pair: KeyPair;
  readonly context: SecureContext;
}

/** The certificates of one account, each made when it is first needed. */
export class ServedCertificates {
  readonly #account: Account;
  readonly #random: Random;
  readonly #authority: KeyPair;
  readonly #served = new Map<string, Served>();

  constructor(account: Account, random: Random) {
    this.#account = account;
    this.#random = random;
    this.#authority = issueCertificate(random, { commonName: COMMON_NAME, usage: "authority", ...this.#validity() });
  }

  /** What clients have to trust, in PEM. */
  get authority(): string {
    return this.#authority.cert;
  }

  /** The certificate for a host: an exact name before a wildcard, and the default one for everybody else. */
  choose(arns: readonly string[], host: string): SecureContext {
    const all = arns.map((arn) => this.#of(arn));
    const [, ...parent] = host.split(".");
    const exact = all.find(({ names }) => names.includes(host));
    const wild = all.find(({ names }) => names.includes(`*.${parent.join(".")}`));
    return (exact ?? wild ?? all[0]!).context;
  }

  /** The certificate itself, and its key. */
  material(arn: string): KeyPair {
    return this.#of(arn).pair;
  }

  #of(arn: string): Served {
    const certificate = certificatesOf(this.#account).get(arn);
    // An imported certificate can be replaced under its ARN.
    const key = `${arn} ${certificate?.issued ?? 0}`;
    const known = this.#served.get(key);
    if (known !== undefined) return known;
    const names = certificate?.names ?? [];
    const pair = this.#pairFor(certificate?.imported, names);
    const served = { names, pair, context: createSecureContext(pair) };
    this.#served.set(key, served);
    return served;
  }

  #pairFor(imported: { readonly certificate: string; readonly key: string } | undefined, names: readonly string[]): KeyPair {
    if (imported !== undefined) return { cert: imported.certificate, key: imported.key };
    const request = { commonName: names[0] ?? COMMON_NAME, hosts: names, usage: "server" as const, ...this.#validity() };
    return issueCertificate(this.#random, request, { ...this.#authority, commonName: COMMON_NAME });
  }

  #validity(): { readonly notBefore: Date; readonly notAfter: Date } {
    const now = this.#account.time.now();
    return { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + 365 * DAY_MS) };
  }
}
