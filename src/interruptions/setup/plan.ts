/** From what is there to what interruptions are heard by: queues, rules, hooks, tags and a role. Pure. It adds, and takes nothing away. */
import { createTags } from "../../aws/ec2-actions.ts";
import { coverageOf } from "../../aws/event-rules.ts";
import { putRule, putTargets } from "../../aws/events-actions.ts";
import { aboutKind, type HeardKind, patternOf } from "../../aws/interruption-rules.ts";
import { type Step, step } from "../../aws/plan.ts";
import { createOrUpdateGroupTags, putLifecycleHook } from "../../aws/queue-actions.ts";
import { hasDeadLetters, planQueues, retentionSeconds } from "./queue-plan.ts";
import { planRole } from "./role-plan.ts";
import {
  deadLetterName,
  queueArn,
  ruleName,
  type SeenGroup,
  type SetupPlan,
  type SetupSeen,
  type SetupWish,
  samePattern,
  transitions,
} from "./wish.ts";

/** Resources per CreateTags: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateTags.html */
const tagsPerCall = 1_000;

/** What there is to do. */
export function planSetup(wish: SetupWish, seen: SetupSeen): SetupPlan {
  const rules = wish.kinds.map((kind) => ruleSteps(wish, seen, kind));
  const groups = seen.groups.map((group) => groupSteps(wish, group));
  const uses = rules.some(({ steps }) => steps.length > 0) || seen.named.size > 0;
  const parts = [planQueues(wish, seen, uses), ...rules, ...groups, planRole(wish, seen)];
  return {
    steps: parts.flatMap(({ steps }) => steps),
    kept: parts.flatMap(({ kept }) => kept),
  };
}

function ruleSteps(wish: SetupWish, seen: SetupSeen, kind: HeardKind): SetupPlan {
  const { rules, named } = seen;
  const name = ruleName(wish, kind);
  const own = named.get(name);
  const others = coverageOf(
    rules.filter((rule) => rule.name !== name),
    kind,
  );
  // Two rules that pass on the same notice deliver it twice. A part of the notices is not enough, and of that part the handler knows both.
  if (others.share === "all" && own === undefined) {
    const passing = others.by.length === 1 ? `rule ${others.by[0]} passes` : `rules ${others.by.join(", ")} pass`;
    return { steps: [], kept: [`${passing} on ${kind} already`] };
  }
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
      why:
        own === undefined
          ? `${others.share === "some" ? "not everything passes" : "nothing passes"} on ${aboutKind(kind)}`
          : `it ${own.enabled ? "has another pattern" : "is disabled"}`,
    },
  );
  const target = step(
    putTargets,
    { Rule: name, Targets: [targetOf(wish, seen)] },
    { what: `deliver what rule ${name} passes on to queue ${wish.name}`, why: "it does not yet" },
  );
  const delivers = rules.some((rule) => rule.name === name);
  return { steps: [...(isRight ? [] : [put]), ...(delivers ? [] : [target])], kept: [] };
}

/** What cannot be delivered while it is of use goes to the dead-letter queue. Without a policy EventBridge tries for a day. */
function targetOf(wish: SetupWish, seen: SetupSeen) {
  const RetryPolicy = { MaximumEventAgeInSeconds: retentionSeconds, MaximumRetryAttempts: 185 };
  const DeadLetterConfig = { Arn: queueArn(wish, deadLetterName(wish)) };
  return { Id: "fairlead", Arn: queueArn(wish), RetryPolicy, ...(hasDeadLetters(wish, seen) && { DeadLetterConfig }) };
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
