/** Certificates with the names that they are for. A list tells nearly everything, so few are asked about one by one. */
import type { CertificateDetail, CertificateStatus, CertificateSummary, KeyAlgorithm } from "@aws-sdk/client-acm";
import type { Clock } from "../runtime/world.ts";
import { neverAborted, unlessAborted } from "./abort.ts";
import { describeCertificate, listCertificates, listTagsForCertificate } from "./acm-actions.ts";
import type { Ask } from "./ask.ts";
import { keyed, markedPages, unlessGone } from "./balancer-reads.ts";
import { Cache } from "./cache.ts";
import type { Caller } from "./caller.ts";
import type { Tags } from "./instance.ts";

export interface IssuedCertificate {
  readonly arn: string;
  readonly domains: readonly string[];
  /** ARN of the private authority that issued it; only where it was asked for. */
  readonly authority?: string;
}

/** One that was requested, in whatever state, with what tells whose it is. */
export interface RequestedCertificate {
  readonly arn: string;
  readonly status: CertificateStatus | undefined;
  /** Every name that the list tells; of those with very many not all. */
  readonly domains: readonly string[];
  readonly tags: Tags;
  /** Milliseconds. */
  readonly requestedAt: number;
}

/** What only a description tells of one. */
export interface CertificateState {
  readonly status: CertificateStatus | undefined;
  readonly domains: readonly string[];
  readonly authority?: string;
  /** Records that prove its domains; AWS makes them up a moment after the request. */
  readonly records: readonly ValidationRecord[];
  /** ARNs of what uses it. */
  readonly usedBy: readonly string[];
  /** Why it failed, in AWS's words. */
  readonly failure?: string;
}

export interface ValidationRecord {
  readonly domain: string;
  readonly name: string;
  readonly value: string;
}

/** Without them ACM lists RSA keys of 1024 and 2048 bits only. */
const keyTypes: KeyAlgorithm[] = ["RSA_1024", "RSA_2048", "RSA_3072", "RSA_4096", "EC_prime256v1", "EC_secp384r1", "EC_secp521r1"];

/** People request one and wait a moment for it to be used. */
const listAgeMs = 60_000;
/** One that was imported may be imported anew, under the same ARN. */
const importedAgeMs = 5 * 60_000;
const issuedAgeMs = 10 * 3_600_000;
/** Whose a certificate is hardly changes. AWS tells of one at a time. */
const tagsAgeMs = 3_600_000;

export class Certificates {
  readonly #caller: Caller;
  readonly #list: Cache<readonly CertificateSummary[]>;
  readonly #details: Cache<IssuedCertificate | undefined>;
  readonly #states: Cache<CertificateState | undefined>;
  readonly #tags: Cache<Tags | undefined>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#list = new Cache({ clock, most: 2 });
    this.#details = new Cache({ clock, most: 5_000 });
    this.#states = new Cache({ clock, most: 5_000 });
    // One that was requested a moment ago may not be known everywhere yet.
    this.#tags = new Cache({ clock, most: 5_000, absent: { is: (tags) => tags === undefined, ageMs: 0 } });
  }

  /** All of the account and region. */
  async issued(withAuthority: boolean, ask: Ask): Promise<readonly IssuedCertificate[]> {
    const own = { ...ask, signal: neverAborted };
    const all = this.#list
      .get("issued", listAgeMs, () => this.#read({ CertificateStatuses: ["ISSUED"] }, own), ask.urgency)
      .then((summaries) => Promise.all(summaries.map((each) => this.#complete(each, withAuthority, own))));
    return (await unlessAborted(ask.signal, all)).flatMap((certificate) => certificate ?? []);
  }

  /** All that were requested in this account and region. Their tags cost a call each, once an hour. */
  async requested(ask: Ask): Promise<readonly RequestedCertificate[]> {
    const own = { ...ask, signal: neverAborted };
    const all = this.#list
      .get("requested", listAgeMs, () => this.#read({}, own), ask.urgency)
      .then((summaries) =>
        Promise.all(summaries.filter(({ Type }) => Type !== "IMPORTED").map((summary) => this.#withTags(summary, ask, own))),
      );
    return (await unlessAborted(ask.signal, all)).flatMap((certificate) => certificate ?? []);
  }

  /** One as it is; undefined where there is none. One that is issued changes no more, and is kept. */
  state(arn: string, isIssued: boolean, ask: Ask): Promise<CertificateState | undefined> {
    const read = async (own: Ask) => {
      const answer = await unlessGone(() => this.#caller.call(describeCertificate, { CertificateArn: arn }, own));
      return answer?.Certificate && stateOf(answer.Certificate);
    };
    if (!isIssued) return read(ask);
    const kept = this.#states.get(arn, issuedAgeMs, () => read({ ...ask, signal: neverAborted }), ask.urgency);
    return unlessAborted(ask.signal, kept);
  }

  /** One was requested or deleted; whose these are, and how they are, is read anew. */
  forget(arns: Iterable<string> = []): void {
    for (const list of ["issued", "requested"]) this.#list.invalidate(list);
    for (const arn of arns) for (const kept of [this.#tags, this.#states]) kept.invalidate(arn);
  }

  async #withTags(summary: CertificateSummary, ask: Ask, own: Ask): Promise<RequestedCertificate | undefined> {
    const { CertificateArn: arn = "", DomainName = "", SubjectAlternativeNameSummaries: names = [], Status: status } = summary;
    const read = () => unlessGone(() => this.#caller.call(listTagsForCertificate, { CertificateArn: arn }, own));
    const tagsOf = async () => {
      const answer = await read();
      return answer && keyed(answer.Tags);
    };
    const tags = await this.#tags.get(arn, tagsAgeMs, tagsOf, ask.urgency);
    const requestedAt = summary.CreatedAt?.getTime() ?? 0;
    return tags && { arn, status, domains: [...new Set([DomainName, ...names])], tags, requestedAt };
  }

  #read(which: { readonly CertificateStatuses?: CertificateStatus[] }, ask: Ask): Promise<readonly CertificateSummary[]> {
    return markedPages(async (NextToken) => {
      const input = { ...which, Includes: { keyTypes }, MaxItems: 1000, ...(NextToken && { NextToken }) };
      const answer = await this.#caller.call(listCertificates, input, ask);
      return { items: answer.CertificateSummaryList ?? [], next: answer.NextToken };
    });
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

function stateOf(detail: CertificateDetail): CertificateState {
  const { CertificateAuthorityArn: authority, FailureReason: failure, DomainValidationOptions: options = [] } = detail;
  return {
    status: detail.Status,
    domains: detail.SubjectAlternativeNames ?? [],
    ...(authority && { authority }),
    records: options.flatMap(({ DomainName: domain = "", ResourceRecord: record }) =>
      record?.Name && record.Value ? [{ domain, name: record.Name, value: record.Value }] : [],
    ),
    usedBy: detail.InUseBy ?? [],
    ...(failure && { failure }),
  };
}
