/** What guards an application load balancer: a web ACL, one of WAF Classic, a protection of Shield. Each is left alone unless it is asked for. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import type { Cloud } from "../../aws/cloud.ts";
import { type AwsError, isAwsError } from "../../aws/errors.ts";
import { type Made, type Step, step } from "../../aws/plan.ts";
import type { Protection, Protections } from "../../aws/protections.ts";
import { createProtection, deleteProtection } from "../../aws/shield-actions.ts";
import { associateClassicWebAcl, associateWebAcl, disassociateClassicWebAcl, disassociateWebAcl } from "../../aws/waf-actions.ts";
import type { ApplicationLoadBalancer, Guards } from "../model.ts";

export interface SeenGuards {
  readonly webAcl?: string;
  readonly classicWebAcl?: string;
  readonly shield?: Protection;
  /** Whether the account has Shield Advanced: without it nothing can be protected. */
  readonly isSubscribed: boolean;
  /** Of which it could not be told what there is, and why: they stay as they are. */
  readonly unknown?: ReadonlyMap<keyof Guards, AwsError>;
}

export const noGuards: SeenGuards = { isSubscribed: false };

/** The names of protections that are ours: that of the reference, and that of its predecessor. */
const ownNames = ["managed by aws-load-balancer-controller", "managed by aws-alb-ingress-controller"] as const;

/** Only what is managed is asked for. One that does not stand yet has nothing in front of it. That a look fails is no reason not to serve. */
export async function observeGuards(
  arn: string | undefined,
  managed: readonly (keyof Guards)[],
  protections: Protections,
  ask: Ask,
): Promise<SeenGuards> {
  const unknown = new Map<keyof Guards, AwsError>();
  const look = async <T>(guard: keyof Guards, read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      if (!isAwsError(error)) throw error;
      unknown.set(guard, error);
      return undefined;
    }
  };
  const of = async <T>(guard: keyof Guards, read: (arn: string) => Promise<T>) =>
    arn !== undefined && managed.includes(guard) ? look(guard, () => read(arn)) : undefined;
  const isSubscribed = managed.includes("shield") && ((await look("shield", () => hasShield(protections, ask))) ?? false);
  const [webAcl, classicWebAcl, shield] = await Promise.all([
    of("webAcl", (balancer) => protections.webAclOf(balancer, ask)),
    of("classicWebAcl", (balancer) => protections.classicWebAclOf(balancer, ask)),
    isSubscribed ? of("shield", (balancer) => protections.shieldOf(balancer, ask)) : undefined,
  ]);
  return {
    isSubscribed,
    ...(webAcl && { webAcl }),
    ...(classicWebAcl && { classicWebAcl }),
    ...(shield && { shield }),
    ...(unknown.size > 0 && { unknown }),
  };
}

/** Why it is not known what guards a load balancer, if so. */
export function guardsUnknown({ guards }: { readonly guards?: SeenGuards }): AwsError | undefined {
  return guards?.unknown?.values().next().value;
}

/** Who may not ask is not subscribed, as far as we can tell. */
async function hasShield(protections: Protections, ask: Ask): Promise<boolean> {
  try {
    return await protections.isSubscribed(ask);
  } catch (error) {
    if (isAwsError(error, "denied")) return false;
    throw error;
  }
}

const services: readonly string[] = [associateWebAcl, associateClassicWebAcl, createProtection].map(({ service }) => service);

/** Whether a step is about guards alone: one that fails is no reason not to serve. */
export const isGuardStep = ({ action }: Step) => services.includes(action.service);

export function planGuards({ name, guards = {}, keepsOtherWebAcl }: ApplicationLoadBalancer, arn: string | Made, seen: SeenGuards): Step[] {
  const known = Object.entries(guards).filter(([guard]) => !seen.unknown?.has(guard as keyof Guards));
  const { webAcl, classicWebAcl, shield }: Guards = Object.fromEntries(known);
  const lb = `load balancer ${name}`;
  const why = "it differs from what is wanted";
  // A load balancer that was made a moment ago is not known to WAF at once.
  const waitsOn = ["WAFUnavailableEntityException"];
  return [
    ...(webAcl === undefined || webAcl === (seen.webAcl ?? "") || (keepsOtherWebAcl && seen.webAcl)
      ? []
      : webAcl === ""
        ? [step(disassociateWebAcl, { ResourceArn: arn }, { what: `take web ACL ${seen.webAcl} from ${lb}`, why })]
        : [step(associateWebAcl, { ResourceArn: arn, WebACLArn: webAcl }, { what: `put web ACL ${webAcl} before ${lb}`, why, waitsOn })]),
    ...(classicWebAcl === undefined || classicWebAcl === (seen.classicWebAcl ?? "")
      ? []
      : classicWebAcl === ""
        ? [step(disassociateClassicWebAcl, { ResourceArn: arn }, { what: `take web ACL ${seen.classicWebAcl} from ${lb}`, why })]
        : [
            step(
              associateClassicWebAcl,
              { ResourceArn: arn, WebACLId: classicWebAcl },
              { what: `put web ACL ${classicWebAcl} of WAF Classic before ${lb}`, why, waitsOn },
            ),
          ]),
    ...planShield(lb, shield, arn, seen),
  ];
}

/** Protections that somebody else made, under another name, are theirs. */
function planShield(lb: string, isWanted: boolean | undefined, arn: string | Made, { isSubscribed, shield }: SeenGuards): Step[] {
  if (isWanted === undefined || !isSubscribed || isWanted === (shield !== undefined)) return [];
  if (shield === undefined) {
    const options = { what: `protect ${lb} with Shield Advanced`, why: "it is asked for", settledBy: ["ResourceAlreadyExistsException"] };
    return [step(createProtection, { Name: ownNames[0], ResourceArn: arn }, options)];
  }
  if (!ownNames.some((own) => own === shield.name)) return [];
  const options = {
    what: `end the protection of ${lb} by Shield Advanced`,
    why: "it is not wanted",
    settledBy: ["ResourceNotFoundException"],
  };
  return [step(deleteProtection, { ProtectionId: shield.id }, options)];
}

/** Ends our protections of load balancers that go: AWS keeps a protection when what it protects is deleted. */
export async function endProtections(
  loadBalancers: readonly { readonly name: string; readonly arn: string }[],
  cloud: Cloud,
  ask: Ask,
  onStep: (step: Step) => void,
): Promise<void> {
  for (const { name, arn } of loadBalancers) {
    cloud.protections.forget(arn);
    const seen = await observeGuards(arn, ["shield"], cloud.protections, ask);
    const unknown = guardsUnknown({ guards: seen });
    if (unknown) throw unknown;
    await apply(planShield(`load balancer ${name}`, false, arn, seen), cloud, { ...ask, onStep });
  }
}
