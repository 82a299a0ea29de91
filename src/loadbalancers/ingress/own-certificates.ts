/** Certificates that are requested for Ingresses: which are wanted, which stand for them, and the steps between. Pure. */
import { createHash } from "node:crypto";
import { deleteCertificate, requestCertificate } from "../../aws/acm-actions.ts";
import type { CertificateState, ValidationRecord } from "../../aws/certificates.ts";
import type { AwsError } from "../../aws/errors.ts";
import { type HostedZone, zoneFor } from "../../aws/hosted-zones.ts";
import { type Step, step } from "../../aws/plan.ts";
import { changeResourceRecordSets } from "../../aws/route53-actions.ts";
import type { RecordChange } from "../../aws/sdk/route53.ts";
import { tagList } from "../groups/managed.ts";
import type { Tags } from "../model.ts";
import { hostsOf } from "./certificates.ts";
import type { GroupId } from "./groups.ts";
import { MemberFault, type MemberOptions } from "./member.ts";
import { isTrackingTag, trackingTags } from "./names.ts";
import type { IngressSettings } from "./settings.ts";
import { userTags } from "./tags.ts";

/** A certificate that an Ingress asks for. */
export interface CertificateWish {
  /** `namespace/name` of the Ingress. */
  readonly key: string;
  /** Which part of the group it is. */
  readonly part: string;
  /** Of the Ingress. */
  readonly uid: string;
  /** Every host, the first of them the certificate's own name. */
  readonly names: readonly string[];
  /** The private authority that issues it; absent: Amazon does. */
  readonly authority?: string;
  readonly tags: Tags;
}

/** One that was requested for the group. */
export interface OwnCertificate extends CertificateState {
  readonly arn: string;
  readonly part: string | undefined;
  /** When it was requested: milliseconds. */
  readonly requestedAt: number;
}

/** As the reference writes them: what is deleted has to be the same. */
const recordTtl = 60;

/** Somebody may take a record away before AWS has looked at it: it is written again after this. */
const provenMs = 5 * 60_000;

/** After a failure AWS is asked again no sooner: it counts requests by the year. */
const retryMs = 3_600_000;

/** Ends every part that belongs to an Ingress. */
export const partEnd = (key: string) => `-${createHash("sha256").update(key).digest("hex").slice(0, 8)}`;

/** Throws a `MemberFault` for one that has no names. */
export function certificateWish(
  options: MemberOptions,
  group: GroupId,
  settings: Pick<IngressSettings, "cluster" | "defaultTags" | "externalManagedTags" | "gates" | "defaultAuthority">,
): CertificateWish | undefined {
  if (!options.requestsCertificate) return undefined;
  const { key, member, values } = options;
  const names = hostsOf(member.ingress).toSorted();
  const [domain] = names;
  if (domain === undefined) {
    throw new MemberFault(
      `ingress ${key} has create-acm-cert enabled but no hostnames defined in spec.rules[].host or spec.tls[].hosts — cannot create a certificate without at least one hostname`,
    );
  }
  const authority = values["acm-pca-arn"] || settings.defaultAuthority;
  const part = `${authority ? "private" : "amazon_issued"}/${domain.replaceAll("*", "wildcard")}${partEnd(key)}`;
  const tags = { ...userTags(options, settings), ...settings.defaultTags, ...trackingTags(settings.cluster, group, part) };
  return { key, part, uid: member.ingress.uid, names, ...(authority && { authority }), tags };
}

/** What becomes of one wish. */
export interface CertificateAnswer {
  /** What is issued: the one that is wanted or, until that is, those that were before. */
  readonly arns: readonly string[];
  /** What is waited for. */
  readonly waits?: string;
  readonly fault?: string;
  /** One whose records are among the steps. */
  readonly proves?: string;
}

export interface CertificatePlan {
  /** By key of the Ingress. */
  readonly answers: ReadonlyMap<string, CertificateAnswer>;
  readonly steps: readonly Step[];
  /** Those that nothing asks for: they can go when no listener has them any more. */
  readonly unwanted: readonly OwnCertificate[];
}

export interface CertificateFacts {
  readonly own: readonly OwnCertificate[];
  readonly zones: readonly HostedZone[];
  /** When the records of certificates were written: milliseconds by ARN. */
  readonly proven: ReadonlyMap<string, number>;
  readonly now: number;
}

export function planCertificates(wishes: readonly CertificateWish[], facts: CertificateFacts): CertificatePlan {
  const plans = wishes.map((wish) => ({ wish, ...planCertificate(wish, facts) }));
  const used = new Set(plans.flatMap(({ keeps }) => keeps));
  return {
    answers: new Map(plans.map(({ wish, answer }) => [wish.key, answer])),
    steps: plans.flatMap(({ steps }) => steps),
    unwanted: facts.own.filter((certificate) => !used.has(certificate)),
  };
}

interface Planned {
  readonly answer: CertificateAnswer;
  readonly steps: readonly Step[];
  readonly keeps: readonly OwnCertificate[];
}

function planCertificate(wish: CertificateWish, { own, zones, proven, now }: CertificateFacts): Planned {
  const ofPart = own.filter(({ part }) => part === wish.part);
  const fitting = ofPart.filter((each) => isSame(each.domains, wish.names) && each.authority === wish.authority);
  const issued = fitting.find(({ status }) => status === "ISSUED");
  if (issued) return { answer: { arns: [issued.arn] }, steps: [], keeps: [issued] };
  // What serves meanwhile: the hosts that were there before are in it.
  const former = own.filter(({ part, status }) => status === "ISSUED" && part?.endsWith(partEnd(wish.key)));
  const arns = former.map(({ arn }) => arn);
  const pending = fitting.find(({ status }) => status === "PENDING_VALIDATION");
  if (pending) {
    const waits = `the certificate ${pending.arn} for ${wish.names.join(", ")} is not issued yet`;
    const isProven = now - (proven.get(pending.arn) ?? Number.NEGATIVE_INFINITY) < provenMs;
    const steps = isProven ? [] : recordSteps("CREATE", pending.records, zones, wish.key);
    return { answer: { arns, waits, ...(steps.length > 0 && { proves: pending.arn }) }, steps, keeps: [pending, ...former] };
  }
  const failed = fitting.filter(({ status }) => status !== undefined && status !== "ISSUED" && status !== "PENDING_VALIDATION");
  const recent = failed.find(({ requestedAt }) => now - requestedAt < retryMs);
  if (recent) {
    const why = [recent.status, recent.failure].filter(Boolean).join(": ");
    const fault = `the certificate ${recent.arn} for ${wish.names.join(", ")} was not issued: ${why}; it is requested again an hour after the last time`;
    return { answer: { arns, fault }, steps: [], keeps: [...failed, ...former] };
  }
  const unproven = wish.authority ? undefined : wish.names.find((name) => zoneFor(bare(name), zones) === undefined);
  if (unproven !== undefined) {
    const fault = `pre-check failed for domain "${unproven}": no hosted zone found for validation records`;
    return { answer: { arns, fault }, steps: [], keeps: [...failed, ...former] };
  }
  const waits = `a certificate for ${wish.names.join(", ")} is requested`;
  return { answer: { arns, waits }, steps: [...failed.map(deletion), request(wish, own)], keeps: [...failed, ...former] };
}

/** A wildcard is proven where its parent is. */
const bare = (name: string) => name.replace(/^\*\./, "");

const isSame = (a: readonly string[], b: readonly string[]) => [...new Set(a)].toSorted().join() === [...new Set(b)].toSorted().join();

function request(wish: CertificateWish, own: readonly OwnCertificate[]): Step {
  const [DomainName = ""] = wish.names;
  // The same wish is the same certificate, whoever asks twice. Another cluster's, another group's, and what this Ingress asks for
  // when it had another one in between is not the same.
  const before = own.filter(({ part }) => part?.endsWith(partEnd(wish.key))).map(({ arn }) => arn);
  const marks = Object.entries(wish.tags).filter(([key]) => isTrackingTag(key));
  const token = JSON.stringify([marks.toSorted(), wish.uid, wish.names, wish.authority, before.toSorted()]);
  return step(
    requestCertificate,
    {
      DomainName,
      SubjectAlternativeNames: [...wish.names],
      ValidationMethod: "DNS",
      IdempotencyToken: createHash("sha256").update(token).digest("hex").slice(0, 32),
      ...(wish.authority && { CertificateAuthorityArn: wish.authority }),
      Tags: tagList(wish.tags),
    },
    {
      what: `request a certificate for ${wish.names.join(", ")}${wish.authority ? ` of ${wish.authority}` : ""}`,
      why: `Ingress ${wish.key} asks for one`,
      by: wish.key,
    },
  );
}

/**
 * What stands already is left as it is: whoever wrote it needs it after us, and as it differs from what we would have written it
 * is not deleted as ours either.
 */
function recordSteps(
  action: "CREATE" | "DELETE",
  records: readonly ValidationRecord[],
  zones: readonly HostedZone[],
  key?: string,
): Step[] {
  const distinct = [...new Map(records.map((record) => [record.name, record])).values()];
  const byZone = Map.groupBy(distinct, ({ domain }) => zoneFor(bare(domain), zones)?.id);
  return [...byZone].flatMap(([zone, some]) => (zone === undefined ? [] : [recordStep(action, zone, some, key)]));
}

/** Route 53 takes all changes of a call or none, so that those it refuses are left out. */
function recordStep(action: "CREATE" | "DELETE", zone: string, records: readonly ValidationRecord[], by: string | undefined): Step {
  const names = records.map(({ domain }) => domain).join(", ");
  const Changes = records.map((record): RecordChange => ({ Action: action, ResourceRecordSet: cname(record) }));
  const batch = {
    ids: records.map(({ name }) => name),
    refusedBy: ["InvalidChangeBatch"],
    only: (ids: readonly string[]) =>
      recordStep(
        action,
        zone,
        records.filter(({ name }) => ids.includes(name)),
        by,
      ),
  };
  const options =
    action === "CREATE"
      ? { what: `write the records that prove ${names}`, why: "AWS issues a certificate to whoever has its domains" }
      : { what: `delete the records that prove ${names}`, why: "no certificate needs them", settledBy: ["NoSuchHostedZone"] };
  return step(changeResourceRecordSets, { HostedZoneId: zone, ChangeBatch: { Changes } }, { ...options, batch, by });
}

/** Whether Route 53 refused a record because there is one. */
export const isPresent = ({ detail }: AwsError) => detail.includes("already exists");

const cname = ({ name, value }: ValidationRecord) => ({
  Name: name,
  Type: "CNAME",
  TTL: recordTtl,
  ResourceRecords: [{ Value: value }],
});

const deletion = ({ arn, domains }: OwnCertificate): Step =>
  step(
    deleteCertificate,
    { CertificateArn: arn },
    {
      what: `delete certificate ${arn}`,
      why: `no Ingress asks for one for ${domains.join(", ")}`,
      settledBy: ["ResourceNotFoundException"],
      // AWS takes a while to see that a listener has let go of it.
      waitsOn: ["ResourceInUseException"],
    },
  );

/** Its records go too, unless another certificate of the account is proven by the same: AWS renews it by them. */
export function planCertificateRemoval(
  certificate: OwnCertificate,
  { zones, others }: { readonly zones: readonly HostedZone[]; readonly others: readonly { readonly domains: readonly string[] }[] },
): Step[] {
  const needed = new Set(others.flatMap(({ domains }) => domains.map(bare)));
  const records = certificate.records.filter(({ domain }) => !needed.has(bare(domain)));
  return [...recordSteps("DELETE", records, zones), deletion(certificate)];
}
