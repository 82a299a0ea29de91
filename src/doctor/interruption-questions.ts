/** What of a queue and of Auto Scaling groups the doctor asks, for the termination handler. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import { isAwsError } from "../aws/errors.ts";
import type { Instance } from "../aws/instance.ts";
import { describeLifecycleHooks, getQueueAttributes } from "../aws/queue-actions.ts";
import { messageOf } from "../runtime/message-of.ts";

/** A queue as far as notices come through it. */
export interface QueueFacts {
  readonly url: string;
  readonly arn: string;
  readonly retentionSeconds: number;
  /** Messages that nobody has received. */
  readonly waiting: number;
  /** Principals that its policy lets send messages, as they are written there. */
  readonly senders: readonly string[];
  /** Where it hands over what is received again and again. */
  readonly deadLetters?: DeadLetterFacts | undefined;
}

export interface DeadLetterFacts {
  readonly name: string;
  readonly url: string;
  /** Messages in it; undefined when it cannot be looked at. */
  readonly waiting: number | undefined;
  readonly why?: string;
}

/** A group that instances of the cluster belong to. */
export interface GroupFacts {
  readonly group: string;
  /** Names of its hooks on terminating instances. */
  readonly terminationHooks: readonly string[];
  /** Where these send their notices by themselves, without EventBridge. */
  readonly hookTargets: readonly string[];
}

/** The tag by which Auto Scaling marks its instances. */
const groupTag = "aws:autoscaling:groupName";

export async function queueOf(cloud: Cloud, url: string, ask: Ask): Promise<QueueFacts> {
  const { Attributes = {} } = await cloud.call(
    getQueueAttributes,
    { QueueUrl: url, AttributeNames: ["QueueArn", "Policy", "MessageRetentionPeriod", "ApproximateNumberOfMessages", "RedrivePolicy"] },
    ask,
  );
  return {
    url,
    arn: Attributes.QueueArn ?? "",
    retentionSeconds: Number(Attributes.MessageRetentionPeriod ?? 0),
    waiting: Number(Attributes.ApproximateNumberOfMessages ?? 0),
    senders: sendersIn(Attributes.Policy),
    deadLetters: await deadLettersOf(cloud, url, Attributes.RedrivePolicy, ask),
  };
}

/** The queue that a policy names is in the same account and region: its URL differs in the name alone. */
async function deadLettersOf(cloud: Cloud, url: string, redrive: string | undefined, ask: Ask): Promise<DeadLetterFacts | undefined> {
  const name = /"deadLetterTargetArn"\s*:\s*"[^"]*:([^":]+)"/.exec(redrive ?? "")?.[1];
  if (name === undefined) return undefined;
  const facts = { name, url: url.replace(/[^/]+$/, name) };
  try {
    const { Attributes = {} } = await cloud.call(
      getQueueAttributes,
      { QueueUrl: facts.url, AttributeNames: ["ApproximateNumberOfMessages"] },
      ask,
    );
    return { ...facts, waiting: Number(Attributes.ApproximateNumberOfMessages ?? 0) };
  } catch (error) {
    if (!isAwsError(error)) throw error;
    return { ...facts, waiting: undefined, why: messageOf(error) };
  }
}

/** The hooks of every group that these instances belong to. */
export async function groupsOf(cloud: Cloud, instances: readonly Instance[], ask: Ask): Promise<readonly GroupFacts[]> {
  const names = [...new Set(instances.flatMap(({ tags }) => tags[groupTag] ?? []))].sort();
  return Promise.all(
    names.map(async (group) => {
      const { LifecycleHooks = [] } = await cloud.call(describeLifecycleHooks, { AutoScalingGroupName: group }, ask);
      const ending = LifecycleHooks.filter(({ LifecycleTransition }) => LifecycleTransition === "autoscaling:EC2_INSTANCE_TERMINATING");
      return {
        group,
        terminationHooks: ending.map(({ LifecycleHookName = "" }) => LifecycleHookName),
        hookTargets: ending.flatMap(({ NotificationTargetARN }) => NotificationTargetARN ?? []),
      };
    }),
  );
}

/** Who may send messages by a policy. One that cannot be read allows nobody. */
export function sendersIn(policy: string | undefined): readonly string[] {
  const statements = statementsIn(policy).filter(({ Effect, Action }) => Effect === "Allow" && listed(Action).some(sends));
  return statements.flatMap(({ Principal }) =>
    typeof Principal === "object" && Principal !== null ? Object.values(Principal).flatMap(listed) : listed(Principal),
  );
}

interface Statement {
  readonly Effect?: unknown;
  readonly Action?: unknown;
  readonly Principal?: unknown;
}

function statementsIn(policy: string | undefined): readonly Statement[] {
  try {
    const { Statement = [] } = JSON.parse(policy ?? "{}") as { readonly Statement?: Statement | readonly Statement[] };
    return Array.isArray(Statement) ? (Statement as readonly Statement[]) : [Statement as Statement];
  } catch {
    return [];
  }
}

function listed(value: unknown): readonly string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.filter((each): each is string => typeof each === "string");
}

/** `sqs:SendMessage`, in whatever case and with whatever wildcard. */
function sends(action: string): boolean {
  return ["sqs:sendmessage", "sqs:*", "*", "sqs:send*"].includes(action.toLowerCase());
}
