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
  type OwnCertificate,
  partEnd,
  planCertificateRemoval,
  planCertificates,
} from "./own-certificates.ts";
import type { IngressSettings } from "./settings.ts";
import { keyOf } from "./view.ts";

export interface CertificateSurvey extends Pick<CertificatePlan, "answers" | "steps"> {
  /** What nothing asks for, and how it is taken away. */
  readonly unwanted: readonly { readonly part: string; readonly removal: readonly Step[] }[];
}

const nothing: CertificateSurvey = { answers: new Map(), steps: [], unwanted: [] };

type Context = Pick<SurveyContext, "inventory" | "settings" | "now" | "provenCertificates">;

/** Looks, and changes nothing. */
export async function surveyCertificates(group: Group, context: Context, ask: Ask): Promise<CertificateSurvey> {
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
  const unwanted = plan.unwanted.filter(({ part = "" }) => !unread.some((key) => part.endsWith(partEnd(key))));
  const going = new Set(unwanted.map(({ arn }) => arn));
  const others = requested.filter(({ arn }) => !going.has(arn));
  return {
    answers: new Map([...plan.answers, ...faults]),
    steps: plan.steps,
    unwanted: unwanted.map((each) => ({ part: each.part ?? "", removal: planCertificateRemoval(each, { zones, others }) })),
  };
}

/** Carries out what can be done now, and looks again. What AWS refuses to one Ingress is a fault of that one. */
export async function requestCertificates(
  group: Group,
  context: Context & { readonly provenCertificates: Set<string> },
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
      await apply([each], cloud, { ...ask, onStep });
    } catch (error) {
      if (!isAwsError(error)) throw error;
      refused.set(key, { arns: before.answers.get(key)?.arns ?? [], fault: messageOf(error) });
    }
  }
  for (const [key, { proves }] of before.answers) if (proves !== undefined && !refused.has(key)) context.provenCertificates.add(proves);
  cloud.certificates.forget();
  const after = await surveyCertificates(group, context, ask);
  return { ...after, answers: new Map([...after.answers, ...refused]) };
}

/** Takes away what nothing asks for, but what was requested for these; false while AWS still sees it in use. */
export async function removeCertificates(
  { unwanted }: CertificateSurvey,
  keptFor: readonly string[],
  { inventory: { cloud } }: Pick<Context, "inventory">,
  ask: Ask,
  onStep: (step: Step) => void,
): Promise<boolean> {
  const isKept = (part: string) => keptFor.some((key) => part.endsWith(partEnd(key)));
  const removal = unwanted.flatMap((each) => (isKept(each.part) ? [] : each.removal));
  if (removal.length === 0) return true;
  try {
    return (await apply(removal, cloud, { ...ask, onStep })).kind === "done";
  } finally {
    cloud.certificates.forget();
  }
}

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
