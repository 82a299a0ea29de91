/** Certificates that are requested for a group's Ingresses, as AWS has them, and what is done about them. Nothing waits here. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import type { RequestedCertificate } from "../../aws/certificates.ts";
import { isAwsError } from "../../aws/errors.ts";
import type { Step } from "../../aws/plan.ts";
import { messageOf } from "../../runtime/message-of.ts";
import type { SurveyContext } from "./context.ts";
import type { Group } from "./groups.ts";
import { MemberFault, readMember } from "./member.ts";
import { hasMarks, partOf } from "./names.ts";
import {
  type CertificateAnswer,
  type CertificatePlan,
  type CertificateWish,
  certificateWish,
  isPresent,
  type OwnCertificate,
  partEnd,
  planCertificateRemoval,
  planCertificates,
} from "./own-certificates.ts";
import type { IngressSettings } from "./settings.ts";
import { keyOf } from "./view.ts";

export interface CertificateSurvey extends Pick<CertificatePlan, "answers" | "steps"> {
  /** What nothing asks for, and how it is taken away. */
  readonly unwanted: readonly (OwnCertificate & { readonly removal: readonly Step[] })[];
}

const nothing: CertificateSurvey = { answers: new Map(), steps: [], unwanted: [] };

type Context = Pick<SurveyContext, "inventory" | "settings" | "now" | "provenCertificates">;

/** Looks, and changes nothing. What these have is wanted, whatever they ask for. */
export async function surveyCertificates(
  group: Group,
  context: Context,
  ask: Ask,
  keptFor: readonly string[] = [],
): Promise<CertificateSurvey> {
  const { inventory, settings, now, provenCertificates } = context;
  if (!settings.gates.certificateManagement) return nothing;
  const { certificates, hostedZones } = inventory.cloud;
  const { wishes, faults, unread } = wishesOf(group, settings);
  const requested = await certificates.requested(ask);
  const marked = requested.filter(({ tags }) => hasMarks(tags, settings.cluster, group.id));
  const own = (await Promise.all(marked.map((each) => ownCertificate(each, context, ask)))).flatMap((each) => each ?? []);
  const needsZones = wishes.some(({ authority }) => authority === undefined) || own.some(({ records }) => records.length > 0);
  const zones = needsZones ? await hostedZones.list(ask) : [];
  const plan = planCertificates(wishes, { own, zones, proven: provenCertificates, now: now() });
  // Of an Ingress that cannot be read nobody knows what it asks for.
  const unwanted = plan.unwanted.filter(({ part = "" }) => !isFor(part, [...unread, ...keptFor]));
  const going = new Set(unwanted.map(({ arn }) => arn));
  const others = requested.filter(({ arn }) => !going.has(arn));
  return {
    answers: new Map([...plan.answers, ...faults]),
    steps: plan.steps,
    unwanted: unwanted.map((each) => ({ ...each, removal: planCertificateRemoval(each, { zones, others }) })),
  };
}

const isFor = (part: string, keys: readonly string[]) => keys.some((key) => part.endsWith(partEnd(key)));

/** Carries out what can be done now, and looks again. What AWS refuses to one Ingress is a fault of that one. */
export async function requestCertificates(
  group: Group,
  context: Context & { readonly provenCertificates: Map<string, number> },
  ask: Ask,
  onStep: (step: Step) => void,
): Promise<CertificateSurvey> {
  const before = await surveyCertificates(group, context, ask);
  if (before.steps.length === 0) return before;
  const { cloud } = context.inventory;
  const refused = new Map<string, CertificateAnswer>();
  for (const each of before.steps) {
    const key = typeof each.by === "string" ? each.by : "";
    if (refused.has(key)) continue;
    try {
      const answer = await apply([each], cloud, { ...ask, onStep });
      const unwritten = answer.refused.find(({ error }) => !isPresent(error));
      if (unwritten) throw unwritten.error;
    } catch (error) {
      if (!isAwsError(error)) throw error;
      refused.set(key, { arns: before.answers.get(key)?.arns ?? [], fault: messageOf(error) });
    }
  }
  for (const [key, { proves }] of before.answers)
    if (proves !== undefined && !refused.has(key)) context.provenCertificates.set(proves, context.now());
  cloud.certificates.forget();
  const after = await surveyCertificates(group, context, ask);
  return { ...after, answers: new Map([...after.answers, ...refused]) };
}

/** AWS takes a while to notice that a load balancer has let go of a certificate; whoever uses one for longer is somebody else. */
const complaintMs = 3 * 60_000;

export interface CertificateRemoval {
  readonly isCleared: boolean;
  /** Who keeps one for long, to be told to those who wait for it. */
  readonly complaint?: string;
}

export interface Kept {
  /** Ingresses whose certificates stay. */
  readonly for: readonly string[];
  /** A load balancer of the group whose listeners stand as they are: what only it uses goes later, and nobody waits for that. */
  readonly by?: string;
}

/**
 * Takes away what nothing asks for, but what is kept. It is looked at once more before: somebody may have given it to another,
 * use it, or need its records by now.
 */
export async function removeCertificates(
  group: Group,
  { unwanted }: CertificateSurvey,
  kept: Kept,
  context: Context & { readonly usedCertificates: Map<string, number> },
  ask: Ask,
  onStep: (step: Step) => void,
): Promise<CertificateRemoval> {
  const { cloud } = context.inventory;
  const before = new Set(unwanted.flatMap(({ arn, part = "" }) => (isFor(part, kept.for) ? [] : [arn])));
  if (before.size === 0) return { isCleared: true };
  cloud.certificates.forget(before);
  const now = await surveyCertificates(group, context, ask, kept.for);
  const removable = now.unwanted.filter(({ arn }) => before.has(arn));
  const free = removable.filter(({ usedBy }) => usedBy.length === 0);
  const used = removable.filter(({ usedBy }) => usedBy.some((arn) => arn !== kept.by));
  for (const arn of before) if (!used.some((each) => each.arn === arn)) context.usedCertificates.delete(arn);
  const complaints = used.filter(({ arn }) => usedFor(arn, context) >= complaintMs);
  try {
    const removal = free.flatMap((each) => each.removal);
    const { kind } = await apply(removal, cloud, { ...ask, onStep });
    return { isCleared: kind === "done" && used.length === 0, ...(complaints.length > 0 && { complaint: complaintAbout(complaints) }) };
  } finally {
    cloud.certificates.forget(before);
  }
}

/** How long it is known to be in use although nothing asks for it. */
function usedFor(
  arn: string,
  { usedCertificates, now }: Pick<Context, "now"> & { readonly usedCertificates: Map<string, number> },
): number {
  const since = usedCertificates.get(arn) ?? now();
  usedCertificates.set(arn, since);
  return now() - since;
}

const complaintAbout = (used: readonly OwnCertificate[]) =>
  used
    .map(({ arn, usedBy }) => `certificate ${arn} was requested for it and cannot be deleted, because ${usedBy.join(", ")} uses it`)
    .join("; ");

function wishesOf({ id, members }: Group, settings: IngressSettings) {
  const wishes: CertificateWish[] = [];
  const faults = new Map<string, CertificateAnswer>();
  const unread: string[] = [];
  for (const member of members) {
    const key = keyOf(member.ingress);
    let isRead = false;
    try {
      const options = readMember(member, settings.gates);
      isRead = true;
      const wish = certificateWish(options, id, settings);
      if (wish) wishes.push(wish);
    } catch (error) {
      if (!(error instanceof MemberFault)) throw error;
      unread.push(key);
      // What is wrong with the rest of it is said where that is read.
      if (isRead) faults.set(key, { arns: [], fault: error.message });
    }
  }
  return { wishes, faults, unread };
}

/** One that is issued changes no more; everything else is read anew. */
async function ownCertificate(
  { arn, status, tags, requestedAt }: RequestedCertificate,
  { inventory: { cloud } }: Context,
  ask: Ask,
): Promise<OwnCertificate | undefined> {
  const base = { arn, part: partOf(tags), requestedAt };
  const state = await cloud.certificates.state(arn, status === "ISSUED", ask);
  return state && { ...base, ...state };
}
