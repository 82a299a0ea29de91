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
];
