/** From what is there to what interruptions are heard by: a queue, rules, hooks and tags. Pure. It adds, and takes nothing away. */
import { createTags } from "../../aws/ec2-actions.ts";
import { passesOn } from "../../aws/event-rules.ts";
import { putRule, putTargets } from "../../aws/events-actions.ts";
import { aboutKind, type HeardKind, patternOf } from "../../aws/interruption-rules.ts";
import { type Step, step } from "../../aws/plan.ts";
import { createOrUpdateGroupTags, createQueue, putLifecycleHook, setQueueAttributes } from "../../aws/queue-actions.ts";
import { policyWith } from "./queue-policy.ts";
import { queueArn, ruleName, type SeenGroup, type SetupSeen, type SetupWish, samePattern, transitions } from "./wish.ts";

/** Notices that are older are of no use to anybody. */
const retentionSeconds = 300;
/** Resources per CreateTags: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateTags.html */
const tagsPerCall = 1_000;

export interface SetupPlan {
  readonly steps: readonly Step[];
  /** What is there and stays as it is, though it is not what would be made. */
  readonly kept: readonly string[];
}

/** What there is to do. */
export function planSetup(wish: SetupWish, seen: SetupSeen): SetupPlan {
  const rules = wish.kinds.map((kind) => ruleSteps(wish, seen, kind));
  const groups = seen.groups.map((group) => groupSteps(wish, group));
  const uses = rules.some(({ steps }) => steps.length > 0) || seen.named.size > 0;
  return {
    steps: [...queueSteps(wish, seen, uses), ...rules.flatMap(({ steps }) => steps), ...groups.flatMap(({ steps }) => steps)],
    kept: [...keptQueue(seen), ...rules.flatMap(({ kept }) => kept), ...groups.flatMap(({ kept }) => kept)],
  };
}

/** Where others' rules pass everything on, the policy of an existing queue is theirs too. One that is made lets them send as well. */
function queueSteps(wish: SetupWish, { queue, rules }: SetupSeen, uses: boolean): readonly Step[] {
  const { name } = wish;
  if (queue === undefined) {
    const own = wish.kinds.map((kind) => ruleName(wish, kind));
    const others = rules.map((rule) => rule.name).filter((rule) => !own.includes(rule));
    const Policy = policyWith(undefined, wish, others)!;
    const Attributes = { MessageRetentionPeriod: String(retentionSeconds), SqsManagedSseEnabled: "true", Policy };
    const what = `create queue ${name}, which keeps messages for ${retentionSeconds} s and takes them from EventBridge`;
    return [
      step(createQueue, { QueueName: name, Attributes, tags: { ...wish.tags } }, { what, why: "notices of interruptions come through it" }),
    ];
  }
  const Policy = uses ? policyWith(queue.policy, wish) : undefined;
  if (Policy === undefined) return [];
  const input = { QueueUrl: queue.url, Attributes: { Policy } };
  return [
    step(setQueueAttributes, input, { what: `let EventBridge send to queue ${name}`, why: "its policy does not allow our rules yet" }),
  ];
}

function keptQueue({ queue }: SetupSeen): readonly string[] {
  if (queue === undefined || queue.retentionSeconds <= 3_600) return [];
  return [`the queue keeps messages for ${Math.round(queue.retentionSeconds / 3_600)} hours; ${retentionSeconds} seconds are enough`];
}

function ruleSteps(wish: SetupWish, { rules, named }: SetupSeen, kind: HeardKind): SetupPlan {
  const name = ruleName(wish, kind);
  const own = named.get(name);
  const other = rules.find((rule) => rule.name !== name && passesOn(rule, kind));
  // Two rules that pass on the same notice deliver it twice.
  if (other !== undefined && own === undefined) return { steps: [], kept: [`rule ${other.name} passes on ${kind} already`] };
  const isRight = own?.enabled === true && samePattern(own.pattern, kind);
  const EventPattern = JSON.stringify(patternOf(kind));
  const Tags = Object.entries(wish.tags).map(([Key, Value]) => ({ Key, Value }));
  const put = step(
    putRule,
    {
      Name: name,
      EventPattern,
      State: "ENABLED",
      Description: `Passes on ${aboutKind(kind)}`,
      ...(own === undefined && Tags.length > 0 && { Tags }),
    },
    {
      what: own === undefined ? `create rule ${name}` : `correct rule ${name}`,
      why: own === undefined ? `nothing passes on ${aboutKind(kind)}` : `it ${own.enabled ? "has another pattern" : "is disabled"}`,
    },
  );
  const target = step(
    putTargets,
    { Rule: name, Targets: [{ Id: "fairlead", Arn: queueArn(wish) }] },
    { what: `deliver what rule ${name} passes on to queue ${wish.name}`, why: "it does not yet" },
  );
  const delivers = rules.some((rule) => rule.name === name);
  return { steps: [...(isRight ? [] : [put]), ...(delivers ? [] : [target])], kept: [] };
}

/** By the moment they hold an instance at: the names of our hooks, and what becomes of the instance when nobody answers. */
const hooks = {
  termination: { name: "fairlead-drain", result: "CONTINUE", why: "it ends instances without waiting for a drain" },
  launch: { name: "fairlead-ready", result: "ABANDON", why: "it counts instances as in service before their node is ready" },
} as const;

function groupSteps(wish: SetupWish, group: SeenGroup): SetupPlan {
  const moments = (Object.keys(hooks) as (keyof typeof hooks)[]).filter((moment) => wish.kinds.includes(moment));
  const there = (moment: keyof typeof hooks) => group.hooks.find(({ transition }) => transition === transitions[moment]);
  const made = moments.filter((moment) => there(moment) === undefined);
  const kept = moments
    .flatMap((moment) => there(moment) ?? [])
    .filter(({ name }) => !Object.values(hooks).some((hook) => hook.name === name));
  return {
    steps: [...made.map((moment) => hookStep(wish, group, moment)), ...tagSteps(wish, group)],
    kept: kept.map(({ name }) => `group ${group.name} has hook ${name}`),
  };
}

function hookStep({ hookSeconds }: SetupWish, { name: group }: SeenGroup, moment: keyof typeof hooks): Step {
  const { name, result, why } = hooks[moment];
  const input = {
    AutoScalingGroupName: group,
    LifecycleHookName: name,
    LifecycleTransition: transitions[moment],
    HeartbeatTimeout: hookSeconds,
    DefaultResult: result,
  };
  return step(putLifecycleHook, input, {
    what: `create hook ${name} of group ${group}, which waits ${hookSeconds} s, then ${result}`,
    why,
  });
}

function tagSteps({ managedTag }: SetupWish, { name, tagged, tagValue, untagged }: SeenGroup): readonly Step[] {
  if (managedTag === "") return [];
  const why = "the handler leaves instances alone that do not carry it";
  const tag = { ResourceId: name, ResourceType: "auto-scaling-group", Key: managedTag, Value: tagValue, PropagateAtLaunch: true };
  const batches = Array.from({ length: Math.ceil(untagged.length / tagsPerCall) }, (_, at) =>
    untagged.slice(at * tagsPerCall, (at + 1) * tagsPerCall),
  );
  return [
    ...(tagged
      ? []
      : [step(createOrUpdateGroupTags, { Tags: [tag] }, { what: `tag group ${name} with ${managedTag}, for new instances too`, why })]),
    ...batches.map((ids) =>
      step(
        createTags,
        { Resources: ids, Tags: [{ Key: managedTag, Value: tagValue }] },
        { what: `tag ${ids.length === 1 ? ids[0] : `${ids.length} instances`} of group ${name} with ${managedTag}`, why },
      ),
    ),
  ];
}
