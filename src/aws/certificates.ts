/** Certificates that are issued, with the names that they are for. A list tells nearly everything, so few are asked about one by one. */
import type { CertificateSummary, KeyAlgorithm } from "@aws-sdk/client-acm";
import type { Clock } from "../runtime/world.ts";
import { neverAborted, unlessAborted } from "./abort.ts";
import { describeCertificate, listCertificates } from "./acm-actions.ts";
import type { Ask } from "./ask.ts";
import { unlessGone } from "./balancer-reads.ts";
import { Cache } from "./cache.ts";
import type { Caller } from "./caller.ts";

export interface IssuedCertificate {
  readonly arn: string;
  readonly domains: readonly string[];
  /** ARN of the private authority that issued it; only where it was asked for. */
  readonly authority?: string;
}

/** Without them ACM lists RSA keys of 1024 and 2048 bits only. */
const keyTypes: KeyAlgorithm[] = ["RSA_1024", "RSA_2048", "RSA_3072", "RSA_4096", "EC_prime256v1", "EC_secp384r1", "EC_secp521r1"];

/** People request one and wait a moment for it to be used. */
const listAgeMs = 60_000;
/** One that was imported may be imported anew, under the same ARN. */
const importedAgeMs = 5 * 60_000;
const issuedAgeMs = 10 * 3_600_000;

export class Certificates {
  readonly #caller: Caller;
  readonly #list: Cache<readonly CertificateSummary[]>;
  readonly #details: Cache<IssuedCertificate | undefined>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#list = new Cache({ clock, most: 1 });
    this.#details = new Cache({ clock, most: 5_000 });
  }

  /** All of the account and region. */
  async issued(withAuthority: boolean, ask: Ask): Promise<readonly IssuedCertificate[]> {
    const own = { ...ask, signal: neverAborted };
    const all = this.#list
      .get("issued", listAgeMs, () => this.#read(own), ask.urgency)
      .then((summaries) => Promise.all(summaries.map((each) => this.#complete(each, withAuthority, own))));
    return (await unlessAborted(ask.signal, all)).flatMap((certificate) => certificate ?? []);
  }

  async #read(ask: Ask): Promise<readonly CertificateSummary[]> {
    const all: CertificateSummary[] = [];
    let NextToken: string | undefined;
    do {
      const input = { CertificateStatuses: ["ISSUED" as const], Includes: { keyTypes }, MaxItems: 1000, ...(NextToken && { NextToken }) };
      const answer = await this.#caller.call(listCertificates, input, ask);
      all.push(...(answer.CertificateSummaryList ?? []));
      NextToken = answer.NextToken || undefined;
    } while (NextToken !== undefined);
    return all;
  }

  /** One that was deleted since it was listed is nothing. */
  #complete(summary: CertificateSummary, withAuthority: boolean, ask: Ask): Promise<IssuedCertificate | undefined> | IssuedCertificate {
    const { CertificateArn: arn = "", DomainName = "", SubjectAlternativeNameSummaries: names = [], Type } = summary;
    const isPrivate = Type === "PRIVATE";
    if (!summary.HasAdditionalSubjectAlternativeNames && !(withAuthority && isPrivate))
      return { arn, domains: [...new Set([DomainName, ...names])] };
    return this.#details.get(arn, Type === "IMPORTED" ? importedAgeMs : issuedAgeMs, async () => {
      const answer = await unlessGone(() => this.#caller.call(describeCertificate, { CertificateArn: arn }, ask));
      const found = answer?.Certificate;
      if (found === undefined) return undefined;
      const authority = found.CertificateAuthorityArn;
      return { arn, domains: found.SubjectAlternativeNames ?? [], ...(authority && { authority }) };
    });
  }
}
