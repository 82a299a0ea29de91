/** The queue that notices come through, and the one for those that cannot be delivered or handled. Pure. */
import { type Step, step } from "../../aws/plan.ts";
import { createQueue, setQueueAttributes } from "../../aws/queue-actions.ts";
import { policyWith } from "./queue-policy.ts";
import { deadLetterName, queueArn, ruleName, type SetupPlan, type SetupSeen, type SetupWish } from "./wish.ts";

/** Notices that are older are of no use to anybody. */
export const retentionSeconds = 300;
/** People get two weeks to look at what went wrong, which is the longest that SQS keeps anything. */
const deadRetentionSeconds = 14 * 24 * 3_600;
/** A notice of another cluster comes again every 20 s until its time is over, which is 15 times: it is no dead letter. */
const maxReceives = 20;

/** Whether there is, or will be, a dead-letter queue of ours. A queue that hands over to another one keeps it. */
export function hasDeadLetters(wish: SetupWish, { queue, deadLetters }: SetupSeen): boolean {
  const others = queue?.handsOverTo !== undefined && queue.handsOverTo !== deadLetterArn(wish);
  if (wish.deadLetters === "never" || others) return false;
  return queue === undefined || wish.deadLetters === "always" || deadLetters !== undefined;
}

/** The steps for both queues. `uses`: rules of ours deliver to them. */
export function planQueues(wish: SetupWish, seen: SetupSeen, uses: boolean): SetupPlan {
  return { steps: [...deadLetterSteps(wish, seen, uses), ...queueSteps(wish, seen, uses)], kept: keptQueue(wish, seen) };
}

function deadLetterArn(wish: SetupWish): string {
  return queueArn(wish, deadLetterName(wish));
}

function redriveOf(wish: SetupWish): string {
  return JSON.stringify({ deadLetterTargetArn: deadLetterArn(wish), maxReceiveCount: maxReceives });
}

/** It comes first: the other one refers to it. */
function deadLetterSteps(wish: SetupWish, seen: SetupSeen, uses: boolean): readonly Step[] {
  if (!hasDeadLetters(wish, seen)) return [];
  const name = deadLetterName(wish);
  const { deadLetters } = seen;
  if (deadLetters !== undefined) return policyStep(wish, name, deadLetters, uses);
  const Attributes = {
    MessageRetentionPeriod: String(deadRetentionSeconds),
    SqsManagedSseEnabled: "true",
    Policy: policyWith(undefined, wish, [], name)!,
  };
  const what = `create queue ${name}, which keeps messages for ${deadRetentionSeconds / 86_400} days`;
  const why = "what cannot be delivered or handled is kept there for a look";
  return [step(createQueue, { QueueName: name, Attributes, tags: { ...wish.tags } }, { what, why })];
}

/** Where others' rules pass everything on, the policy of an existing queue is theirs too. One that is made lets them send as well. */
function queueSteps(wish: SetupWish, seen: SetupSeen, uses: boolean): readonly Step[] {
  const { name } = wish;
  const { queue, rules } = seen;
  const dead = hasDeadLetters(wish, seen);
  const RedrivePolicy = redriveOf(wish);
  if (queue === undefined) {
    const own = wish.kinds.map((kind) => ruleName(wish, kind));
    const others = rules.map((rule) => rule.name).filter((rule) => !own.includes(rule));
    const Policy = policyWith(undefined, wish, others)!;
    const shared = { MessageRetentionPeriod: String(retentionSeconds), SqsManagedSseEnabled: "true", Policy };
    const Attributes = { ...shared, ...(dead && { RedrivePolicy }) };
    const what = `create queue ${name}, which keeps messages for ${retentionSeconds} s and takes them from EventBridge`;
    return [
      step(createQueue, { QueueName: name, Attributes, tags: { ...wish.tags } }, { what, why: "notices of interruptions come through it" }),
    ];
  }
  const input = { QueueUrl: queue.url, Attributes: { RedrivePolicy } };
  const what = `hand over what queue ${name} delivers ${maxReceives} times to queue ${deadLetterName(wish)}`;
  const redrive = step(setQueueAttributes, input, { what, why: "it does not yet" });
  return [...policyStep(wish, name, queue, uses), ...(dead && queue.handsOverTo === undefined ? [redrive] : [])];
}

function policyStep(
  wish: SetupWish,
  name: string,
  queue: { readonly url: string; readonly policy: string | undefined },
  uses: boolean,
): readonly Step[] {
  const Policy = uses ? policyWith(queue.policy, wish, [], name) : undefined;
  if (Policy === undefined) return [];
  const input = { QueueUrl: queue.url, Attributes: { Policy } };
  return [
    step(setQueueAttributes, input, { what: `let EventBridge send to queue ${name}`, why: "its policy does not allow our rules yet" }),
  ];
}

function keptQueue(wish: SetupWish, seen: SetupSeen): readonly string[] {
  const { queue } = seen;
  if (queue === undefined) return [];
  const { retentionSeconds: seconds, handsOverTo } = queue;
  const long = `the queue keeps messages for ${Math.round(seconds / 3_600)} hours; ${retentionSeconds} seconds are enough`;
  const without = "the queue has no dead-letter queue; --dead-letter-queue=always makes one";
  const others = `the queue hands over to ${handsOverTo?.split(":").at(-1)}`;
  return [
    ...(seconds > 3_600 ? [long] : []),
    ...(hasDeadLetters(wish, seen) || wish.deadLetters === "never" ? [] : [handsOverTo === undefined ? without : others]),
  ];
}
