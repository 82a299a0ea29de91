/** Known faults of the termination handler. */
import type { Mutant } from "./mutants.ts";

export const interruptionMutants: readonly Mutant[] = [
  {
    name: "works-on-anothers-node",
    world: "interruptions",
    file: "src/interruptions/next-step.ts",
    changes: [["if (plan.holder !== situation.me) {", "if (plan.holder === undefined) {"]],
    killedBy: "a Node without the tag is not the queue's",
  },
  {
    name: "dead-holders-live-on",
    world: "interruptions",
    file: "src/interruptions/holders.ts",
    changes: [["return now - before.since <= (spec.leaseDurationSeconds ?? 15) * 1000;", "return now >= before.since;"]],
    killedBy: "every notice has its end",
  },
  {
    name: "hook-is-forgotten",
    world: "interruptions",
    file: "src/interruptions/finish-step.ts",
    changes: [["if (held.length > 0) {", "if (held.length > 99) {"]],
    killedBy: "no hook is left to run out by itself",
  },
  {
    name: "message-goes-with-the-cordon",
    world: "interruptions",
    file: "src/interruptions/next-step.ts",
    changes: [["(event) => event.id === id)?.end !== undefined);", "(event) => event.id === id) !== undefined);"]],
    killedBy: "a message goes only with the end of its event",
  },
  {
    name: "restart-is-not-noticed",
    world: "interruptions",
    file: "src/interruptions/next-step.ts",
    changes: [["bootId !== node.bootId;", "bootId === node.bootId.concat(bootId);"]],
    killedBy: "a machine that is back serves again",
  },
  {
    name: "tag-is-not-asked-for",
    world: "interruptions",
    file: "src/interruptions/queue-monitor.ts",
    changes: [["instance.tags[settings.managedTag] === undefined", "instance.tags[settings.managedTag] === settings.managedTag"]],
    killedBy: "a Node without the tag is not the queue's",
  },
  {
    name: "failure-is-not-said",
    world: "interruptions",
    file: "src/interruptions/drain-step.ts",
    changes: [
      ["[failedDrain(why, !plan.overdue || instanceGone)]", "[]"],
      ["write(plan, { overdue: true }, {}, [failedDrain(why)])", "write(plan, { overdue: true }, {}, [])"],
      [", why: why.slice(0, maxWhy) }", " }"],
    ],
    killedBy: "in time, or with the reason said",
  },
  {
    name: "plan-without-cordon",
    world: "interruptions",
    file: "src/interruptions/node-change.ts",
    changes: [["...(!node.unschedulable && { unschedulable: true }),", ""]],
    killedBy: "what is to go takes no more pods",
  },
  {
    name: "out-of-service-too-early",
    world: "interruptions",
    file: "src/interruptions/drain-step.ts",
    changes: [["if (instanceGone) return write(plan, { failedAt: undefined }", "return write(plan, { failedAt: undefined }"]],
    killedBy: "a Node is out of service when it is empty or gone",
  },
  {
    name: "launch-is-let-in-unready",
    world: "interruptions",
    file: "src/interruptions/launches.ts",
    changes: [["if (!isReady(node)) return;", "if (isReady(node) === undefined) return;"]],
    killedBy: "an instance is let in when its Node is ready",
  },
  {
    name: "drained-but-for-a-few",
    world: "interruptions",
    file: "src/interruptions/drain-step.ts",
    changes: [["drain.remaining.length === 0) {", "drain.remaining.length < 3) {"]],
    killedBy: "an instance is let go when its Node is empty",
  },
  {
    name: "hand-cordon-is-undone",
    world: "interruptions",
    file: "src/interruptions/next-step.ts",
    changes: [["|| !node.unschedulable,", "|| node.unschedulable !== undefined,"]],
    killedBy: "who was cordoned by hand stays so",
  },
  {
    name: "name-is-enough",
    world: "interruptions",
    file: "src/interruptions/next-step.ts",
    changes: [
      [
        'return instanceId !== "" && node.instanceId !== "" && instanceId',
        'return instanceId === "" && node.instanceId !== "" && instanceId',
      ],
    ],
    killedBy: "a Node does not go for another of its name",
  },
  {
    name: "others-writes-are-overwritten",
    world: "interruptions",
    file: "src/interruptions/node-states.ts",
    changes: [["        resourceVersion: state.resourceVersion,\n", ""]],
    killedBy: "what others wrote on a Node stays",
  },
  {
    name: "older-version-is-believed",
    world: "interruptions",
    file: "src/interruptions/node-states.ts",
    changes: [["state.resourceVersion === known.seenVersion || isBehind", "isBehind"]],
    killedBy: "nobody writes a Node over and over",
  },
  {
    name: "foreign-messages-are-deleted",
    world: "interruptions",
    file: "src/interruptions/queue-monitor.ts",
    changes: [
      ['verdict.kind === "foreign" && !settings.deleteIfNodeNotFound);', 'verdict.kind === "foreign" && settings.deleteIfNodeNotFound);'],
    ],
    killedBy: "what is another cluster's is left alone",
  },
];
