/** Application load balancers as targets of a network load balancer: registered by whoever makes the target group. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import type { Cloud } from "../../aws/cloud.ts";
import { deregisterTargets, registerTargets } from "../../aws/elbv2-actions.ts";
import { isAwsError } from "../../aws/errors.ts";
import { type Step, step } from "../../aws/plan.ts";
import { again, type Outcome } from "../../runtime/controller.ts";

/** AWS takes a load balancer as a target when it is active. */
const registrationMs = 15_000;

/** The load balancer that is to be the only target of a target group. */
export interface BalancerTarget {
  readonly group: { readonly name: string; readonly arn: string };
  readonly balancer: string;
  readonly port: number;
}

/** A group of this type has one target: another one has to go first. Says when it is to be tried again. */
export async function registerBalancers(
  wanted: readonly BalancerTarget[],
  cloud: Cloud,
  ask: Ask,
  onStep: (step: Step) => void,
): Promise<Outcome | undefined> {
  const steps: Step[] = [];
  for (const { group, balancer, port } of wanted) {
    const TargetGroupArn = group.arn;
    const present = await cloud.loadBalancers.targetHealth(TargetGroupArn, ask);
    const isWanted = ({ Target }: (typeof present)[number]) => Target?.Id === balancer && Target.Port === port;
    const others = present.filter((each) => !isWanted(each) && each.TargetHealth?.State !== "draining");
    const where = `target group ${group.name}`;
    if (others.length > 0) {
      const Targets = others.map(({ Target }) => ({ Id: Target?.Id ?? "", ...(Target?.Port && { Port: Target.Port }) }));
      const words = { what: `deregister the former load balancer from ${where}`, why: "another one is behind it now" };
      steps.push(step(deregisterTargets, { TargetGroupArn, Targets }, words));
    }
    if (present.some((each) => isWanted(each) && each.TargetHealth?.State !== "draining")) continue;
    const words = { what: `register ${balancer}, port ${port}, with ${where}`, why: "the load balancer in front forwards to it" };
    steps.push(step(registerTargets, { TargetGroupArn, Targets: [{ Id: balancer, Port: port }] }, words));
  }
  try {
    await apply(steps, cloud, { ...ask, onStep });
    return undefined;
  } catch (error) {
    // Until it is active, and has a listener on that port, AWS refuses it.
    if (!isAwsError(error, "invalid", "conflict", "limit-exceeded") || error.action !== registerTargets.name) throw error;
    return again(registrationMs, `the load balancer behind cannot be registered yet: ${error.detail}`);
  }
}
