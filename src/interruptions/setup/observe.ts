/** Reads what is there of what interruptions are heard by. */
import type { Ask } from "../../aws/ask.ts";
import type { Cloud } from "../../aws/cloud.ts";
import { isAwsError } from "../../aws/errors.ts";
import { ruleNamed, rulesTo } from "../../aws/event-rules.ts";
import { describeAutoScalingGroups, describeLifecycleHooks, getQueueAttributes, getQueueUrl } from "../../aws/queue-actions.ts";
import { getRole, getRolePolicy } from "../../aws/role-actions.ts";
import {
  deadLetterName,
  queueArn,
  rolePolicyName,
  ruleName,
  type SeenGroup,
  type SeenQueue,
  type SeenRole,
  type SetupSeen,
  type SetupWish,
} from "./wish.ts";

/** Which groups: those of these names, and those that carry the tag of this cluster. */
export interface GroupChoice {
  readonly names: readonly string[];
  /** Empty: none by tag. */
  readonly clusterName: string;
}

/** Looks at everything that a set-up is about. A group that was named and is not there is an error. */
export async function observeSetup(cloud: Cloud, wish: SetupWish, choice: GroupChoice, ask: Ask): Promise<SetupSeen> {
  const names = wish.kinds.map((kind) => ruleName(wish, kind));
  const [queue, deadLetters, role, rules, named, groups] = await Promise.all([
    queueNamed(cloud, wish.name, ask),
    wish.deadLetters === "never" ? undefined : queueNamed(cloud, deadLetterName(wish), ask),
    wish.role && roleNamed(cloud, wish.role.name, rolePolicyName(wish), ask),
    rulesTo(cloud, queueArn(wish), ask),
    Promise.all(names.map((name) => ruleNamed(cloud, name, ask))),
    groupsOf(cloud, wish, choice, ask),
  ]);
  const ownRules = new Map(named.flatMap((rule) => (rule === undefined ? [] : [[rule.name, rule]])));
  return { queue, deadLetters, role, rules, named: ownRules, groups };
}

async function queueNamed(cloud: Cloud, name: string, ask: Ask): Promise<SeenQueue | undefined> {
  try {
    const { QueueUrl: url = "" } = await cloud.call(getQueueUrl, { QueueName: name }, ask);
    const { Attributes = {} } = await cloud.call(
      getQueueAttributes,
      { QueueUrl: url, AttributeNames: ["Policy", "MessageRetentionPeriod", "RedrivePolicy"] },
      ask,
    );
    const { deadLetterTargetArn: handsOverTo } = JSON.parse(Attributes.RedrivePolicy || "{}") as { readonly deadLetterTargetArn?: string };
    return { url, policy: Attributes.Policy, retentionSeconds: Number(Attributes.MessageRetentionPeriod ?? 0), handsOverTo };
  } catch (error) {
    if (isAwsError(error) && /QueueDoesNotExist|NonExistentQueue/.test(error.code)) return undefined;
    throw error;
  }
}

async function roleNamed(cloud: Cloud, name: string, policy: string, ask: Ask): Promise<SeenRole | undefined> {
  const role = await unlessMissing(cloud.call(getRole, { RoleName: name }, ask));
  if (role === undefined) return undefined;
  const own = await unlessMissing(cloud.call(getRolePolicy, { RoleName: name, PolicyName: policy }, ask));
  return { trust: documentIn(role.Role?.AssumeRolePolicyDocument), policy: documentIn(own?.PolicyDocument) };
}

async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isAwsError(error) && /^NoSuchEntity/.test(error.code)) return undefined;
    throw error;
  }
}

/** IAM answers with documents as they are in URLs. */
function documentIn(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(decodeURIComponent(text));
}

/** Names per DescribeAutoScalingGroups: https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_DescribeAutoScalingGroups.html */
const namesPerCall = 50;

interface DescribedGroup {
  readonly name: string;
  readonly tags: readonly {
    readonly Key?: string | undefined;
    readonly Value?: string | undefined;
    readonly PropagateAtLaunch?: boolean | undefined;
  }[];
  readonly instanceIds: readonly string[];
}

async function groupsOf(cloud: Cloud, wish: SetupWish, { names, clusterName }: GroupChoice, ask: Ask): Promise<readonly SeenGroup[]> {
  const tag = `kubernetes.io/cluster/${clusterName}`;
  const batches = Array.from({ length: Math.ceil(names.length / namesPerCall) }, (_, at) =>
    names.slice(at * namesPerCall, (at + 1) * namesPerCall),
  );
  const [byNames, byTag] = await Promise.all([
    Promise.all(batches.map((batch) => describeGroups(cloud, { AutoScalingGroupNames: batch }, ask))),
    clusterName === "" ? [] : describeGroups(cloud, { Filters: [{ Name: "tag-key", Values: [tag] }] }, ask),
  ]);
  const byName = byNames.flat();
  const missing = names.filter((name) => !byName.some((group) => group.name === name));
  if (missing.length > 0) throw new Error(`there is no Auto Scaling group ${missing.join(", ")} in ${wish.region}`);
  const groups = new Map([...byName, ...byTag].map((group) => [group.name, group]));
  return Promise.all([...groups.values()].map((group) => seenGroup(cloud, wish, group, ask)));
}

async function describeGroups(
  cloud: Cloud,
  which: { AutoScalingGroupNames?: string[]; Filters?: { Name: string; Values: string[] }[] },
  ask: Ask,
): Promise<readonly DescribedGroup[]> {
  const found: DescribedGroup[] = [];
  let token: string | undefined;
  do {
    const page = await cloud.call(describeAutoScalingGroups, { ...which, ...(token !== undefined && { NextToken: token }) }, ask);
    for (const { AutoScalingGroupName: name = "", Tags: tags = [], Instances = [] } of page.AutoScalingGroups ?? []) {
      found.push({ name, tags, instanceIds: Instances.flatMap(({ InstanceId }) => InstanceId ?? []) });
    }
    token = page.NextToken;
  } while (token !== undefined);
  return found;
}

async function seenGroup(
  cloud: Cloud,
  { managedTag }: SetupWish,
  { name, tags, instanceIds }: DescribedGroup,
  ask: Ask,
): Promise<SeenGroup> {
  const [{ LifecycleHooks = [] }, lookups] = await Promise.all([
    cloud.call(describeLifecycleHooks, { AutoScalingGroupName: name }, ask),
    Promise.all((managedTag === "" ? [] : instanceIds).map((id) => cloud.instances.lookup(id, ask))),
  ]);
  const tag = tags.find(({ Key }) => Key === managedTag);
  return {
    name,
    hooks: LifecycleHooks.map(({ LifecycleHookName = "", LifecycleTransition = "" }) => ({
      name: LifecycleHookName,
      transition: LifecycleTransition,
    })),
    tagged: tag?.PropagateAtLaunch === true,
    tagValue: tag?.Value ?? "",
    untagged: lookups.flatMap((lookup) =>
      lookup.kind === "found" && lookup.instance.state !== "terminated" && lookup.instance.tags[managedTag] === undefined
        ? [lookup.instance.id]
        : [],
    ),
  };
}
