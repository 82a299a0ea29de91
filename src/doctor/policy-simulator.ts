/** IAM's policy simulator, for the actions that cannot be tried. */
import type { Ask } from "../aws/ask.ts";
import type { Clouds } from "../aws/cloud.ts";
import { simulatePrincipalPolicy } from "../aws/identity-actions.ts";
import { partitionOf } from "../aws/partitions.ts";
import { messageOf } from "../runtime/message-of.ts";
import type { Answer, Samples } from "./probes.ts";
import { refusalOf } from "./refusal.ts";

/** What the simulator says of each action, and why it would not say, if it would not. */
export interface Simulated {
  readonly answers: ReadonlyMap<string, Answer>;
  readonly objection?: string;
}

/** Asks the simulator; `unknown` for the actions that it does not answer for. */
export async function simulate(
  clouds: Clouds,
  principal: string,
  actions: readonly string[],
  samples: Samples,
  ask: Ask,
): Promise<Simulated> {
  // IAM lives in one region of each partition; the SDK finds it from any other.
  const cloud = clouds.in(samples.region);
  const answers = new Map<string, Answer>();
  let objection: string | undefined;
  const groups = Map.groupBy(actions, (action) => resourceFor(action, samples));
  for (const [resource, ActionNames] of groups) {
    const input = {
      PolicySourceArn: principal,
      ActionNames: [...ActionNames],
      ResourceArns: [resource],
      ContextEntries: contextOf(samples),
    };
    try {
      const { EvaluationResults = [] } = await cloud.call(simulatePrincipalPolicy, input, { ...ask, urgency: "user" });
      for (const result of EvaluationResults) {
        const allowed = result.EvalDecision === "allowed";
        answers.set(result.EvalActionName ?? "", allowed ? { verdict: "allowed" } : { verdict: "denied", refusal: refusalOf(result) });
      }
    } catch (error) {
      ask.signal.throwIfAborted();
      // Not allowed to ask, or the role has a path that its sessions do not tell.
      objection ??= messageOf(error);
      for (const action of ActionNames) answers.set(action, { verdict: "unknown" });
    }
  }
  return { answers, ...(objection && { objection }) };
}

/** One of the things the action is called on. The simulator takes `*` for the name of a thing, not for any. */
function resourceFor(action: string, { region, account }: Samples): string {
  const arn = (resource: string) => `arn:${partitionOf(region).name}:elasticloadbalancing:${region}:${account}:${resource}`;
  const [service, name = ""] = action.split(":");
  if (action === "iam:CreateServiceLinkedRole") {
    const service = "elasticloadbalancing.amazonaws.com";
    return `arn:${partitionOf(region).name}:iam::${account}:role/aws-service-role/${service}/AWSServiceRoleForElasticLoadBalancing`;
  }
  // What cannot be allowed for one thing alone.
  if (service === "ec2" || /AuthorizationToken$|BearerToken$/.test(name)) return "*";
  if (service === "ecr") return `arn:${partitionOf(region).name}:ecr:${region}:${account}:repository/fairlead-doctor`;
  if (/TargetGroup|Targets$/.test(name)) return arn("targetgroup/fairlead-doctor/0123456789abcdef");
  if (/^(Modify|Delete)Listener$/.test(name)) return arn("listener/net/fairlead-doctor/0123456789abcdef/0123456789abcdef");
  return arn("loadbalancer/net/fairlead-doctor/0123456789abcdef");
}

/** What AWS would find at the call, for policies with conditions. */
function contextOf({ clusterId, region }: Samples) {
  const values: Readonly<Record<string, string>> = {
    [`aws:ResourceTag/kubernetes.io/cluster/${clusterId}`]: "owned",
    [`aws:RequestTag/kubernetes.io/cluster/${clusterId}`]: "owned",
    "aws:RequestedRegion": region,
    "iam:AWSServiceName": "elasticloadbalancing.amazonaws.com",
  };
  return Object.entries(values).map(([ContextKeyName, value]) => ({
    ContextKeyName,
    ContextKeyValues: [value],
    ContextKeyType: "string" as const,
  }));
}
