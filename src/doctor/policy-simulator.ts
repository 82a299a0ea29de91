/** IAM's policy simulator, for the actions that cannot be tried. */
import type { Ask } from "../aws/ask.ts";
import type { Clouds } from "../aws/cloud.ts";
import { requestedRegion } from "../aws/global-services.ts";
import { simulatePrincipalPolicy } from "../aws/identity-actions.ts";
import { partitionOf } from "../aws/partitions.ts";
import { messageOf } from "../runtime/message-of.ts";
import type { Condition, Grant } from "./permissions.ts";
import type { Answer, Samples } from "./probes.ts";
import { refusalOf } from "./refusal.ts";

/** An action, and the grant that it is in: on what and under which conditions it is called. */
export interface Question {
  readonly action: string;
  readonly grant: Grant;
}

/** What the simulator says to each question, and why it would not say, if it would not. */
export interface Simulated {
  readonly answers: ReadonlyMap<Question, Answer>;
  readonly objection?: string;
}

/** Asks the simulator; `unknown` for the questions that it does not answer. */
export async function simulate(
  clouds: Clouds,
  principal: string,
  questions: readonly Question[],
  samples: Samples,
  ask: Ask,
): Promise<Simulated> {
  // IAM lives in one region of each partition; the SDK finds it from any other.
  const cloud = clouds.in(samples.region);
  const answers = new Map<Question, Answer>();
  let objection: string | undefined;
  const callFor = ({ action, grant }: Question) => ({
    PolicySourceArn: principal,
    ResourceArns: [resourceFor(action, grant, samples)],
    ContextEntries: contextOf(action, grant, samples),
  });
  for (const alike of Map.groupBy(questions, (question) => JSON.stringify(callFor(question))).values()) {
    const ActionNames = [...new Set(alike.map(({ action }) => action))];
    try {
      const input = { ...callFor(alike[0]!), ActionNames };
      const { EvaluationResults = [] } = await cloud.call(simulatePrincipalPolicy, input, { ...ask, urgency: "user" });
      for (const question of alike) {
        const result = EvaluationResults.find(({ EvalActionName }) => EvalActionName === question.action);
        if (result === undefined) continue;
        const allowed = result.EvalDecision === "allowed";
        answers.set(question, allowed ? { verdict: "allowed" } : { verdict: "denied", refusal: refusalOf(result) });
      }
    } catch (error) {
      ask.signal.throwIfAborted();
      // Not allowed to ask, or the role has a path that its sessions do not tell.
      objection ??= messageOf(error);
    }
  }
  return { answers, ...(objection && { objection }) };
}

/** One of the things that the grant is about. The simulator takes `*` for the name of a thing, not for any. */
function resourceFor(action: string, { resources }: Grant, samples: Samples): string {
  const of = balancingPart(action);
  const pattern = resources.find((each) => each.includes(`:${of}/`)) ?? resources[0] ?? "*";
  return pattern.startsWith("arn:") ? arnFor(pattern, samples) : "*";
}

/** One ARN that fits a pattern. */
function arnFor(pattern: string, samples: Samples): string {
  const [, , service = "", region = "", account = "", ...rest] = pattern.split(":");
  const where = [partitionOf(samples.region).name, service, region && samples.region, account && samples.account];
  return ["arn", ...where, nameFor(rest.join(":"), samples)].join(":");
}

/** A grant of load balancing speaks of several kinds of things; each action is about one of them. */
function balancingPart(action: string): string {
  const [, name = ""] = action.split(":");
  if (/TargetGroup|Targets$/.test(name)) return "targetgroup";
  if (/^(Modify|Delete)Listener(Attributes)?$|^(Add|Remove)ListenerCertificates$|^CreateRule$/.test(name)) return "listener";
  return /^(Modify|Delete)Rule$|^SetRulePriorities$/.test(name) ? "listener-rule" : "loadbalancer";
}

/** `security-group/*` with a group of the cluster's, since a policy may ask for its tags; made-up names where there is none. */
function nameFor(resource: string, samples: Samples): string {
  const own: Readonly<Record<string, string>> = {
    instance: samples.instance,
    "network-interface": samples.networkInterface,
    "security-group": samples.securityGroup,
    "route-table": samples.routeTable,
    vpc: samples.vpc,
  };
  const [, kind = "", name = ""] = /^([\w-]+)\/(.*)$/.exec(resource) ?? [];
  if (name === "*" && own[kind] !== undefined) return `${kind}/${own[kind]}`;
  return resource.replaceAll("*", "0123456789abcdef");
}

/** What AWS would find at the call: whatever the policies that we ship ask for. */
function contextOf(action: string, { condition = {}, strict = [] }: Grant, samples: Samples) {
  const { clusterId, region, vpc } = samples;
  const filled = (text: string) => text.replaceAll("CLUSTER_ID", clusterId).replaceAll("REGION", region).replaceAll("VPC_ID", vpc);
  const values: Record<string, string> = {
    [`aws:ResourceTag/kubernetes.io/cluster/${clusterId}`]: "owned",
    [`aws:RequestTag/kubernetes.io/cluster/${clusterId}`]: "owned",
    "aws:RequestedRegion": requestedRegion(action.split(":")[0]!, region),
  };
  const conditions: readonly Condition[] = [condition, ...strict.map((part) => part.condition ?? {})];
  for (const keys of conditions.flatMap((each) => Object.values(each))) {
    for (const [key, wanted] of Object.entries(keys)) {
      const value = filled([wanted].flat()[0] ?? "");
      values[filled(key)] ??= value.startsWith("arn:") ? arnFor(value, samples) : value.replaceAll("*", "fairlead-doctor");
    }
  }
  return Object.entries(values).map(([ContextKeyName, value]) => ({
    ContextKeyName,
    ContextKeyValues: [value],
    ContextKeyType: "string" as const,
  }));
}
