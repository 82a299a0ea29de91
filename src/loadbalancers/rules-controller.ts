/** The one writer of node security groups: a key is a group, and its rules are the union of what all load balancers need. */
import { apply } from "../aws/apply.ts";
import type { Ask } from "../aws/ask.ts";
import { isAwsError } from "../aws/errors.ts";
import { again, type Controller, done, type Outcome } from "../runtime/controller.ts";
import { refusalIn } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import type { ClaimBook } from "./claim-book.ts";
import { type NodeGroup, type Owners, planNodeRules } from "./node-rules.ts";
import { type Inventory, reconcileAges } from "./observe.ts";
import { spaced } from "./spaced.ts";

export interface RulesParts {
  readonly host: Host;
  readonly inventory: Inventory;
  readonly book: ClaimBook;
  /** Whether every load balancer has said what it needs. */
  complete(): boolean;
}

/** How soon a group is looked at again while others have not said what they need, or while AWS is not ready. */
const againMs = 2_000;
/** Services often come and go in numbers: what they ask of a group within this time is done together. */
const spaceMs = 1_000;

export function rulesController(parts: RulesParts): Controller {
  return {
    name: "node-security-group-rules",
    concurrency: 4,
    backoff: { baseMs: 5_000, maxMs: 300_000 },
    sources: [
      {
        name: "claims",
        async start(enqueue) {
          parts.book.onWork(spaced(parts.host.world.clock, spaceMs, (group) => enqueue(group)));
        },
      },
    ],
    reconcile: async (id, signal) => {
      const ask: Ask = { cause: `rules of node security group ${id}`, signal, urgency: "user" };
      try {
        return await bring(id, parts, ask);
      } catch (error) {
        signal.throwIfAborted();
        if (!refusalIn(error)) parts.book.failed(id, error);
        throw error;
      }
    },
  };
}

async function bring(id: string, parts: RulesParts, ask: Ask): Promise<Outcome> {
  const { inventory, book, host } = parts;
  const waiting = book.waitingFor(id);
  const group = await readGroup(inventory, id, ask);
  if (group === undefined) {
    book.settled(id, waiting, false);
    return done;
  }
  const { unknown, ...known } = book.owners();
  const complete = parts.complete();
  const owners: Owners = { ...known, complete, held: await heldPorts(unknown, inventory, ask) };
  const steps = planNodeRules(group, owners);
  try {
    const applied = await apply(steps, inventory.cloud, {
      ...ask,
      onStep: ({ what, why }) => host.log.info(what, { why }),
    });
    if (applied.kind === "waiting") return again(againMs, applied.why);
  } finally {
    if (steps.length > 0) inventory.groups.touch(group.name);
  }
  if (!complete && planNodeRules(group, { ...owners, complete: true }).length > steps.length) {
    return again(againMs, "rules are taken away only when every Service has said what it needs");
  }
  book.settled(id, waiting, steps.length > 0);
  return done;
}

async function readGroup(inventory: Inventory, id: string, ask: Ask): Promise<NodeGroup | undefined> {
  try {
    const rules = await inventory.cloud.securityGroups.rules(id, ask);
    const groups = await inventory.groups.listed(reconcileAges.absentMs, ask);
    const name = groups.find((group) => group.id === id)?.name;
    return name === undefined && rules.length === 0 ? undefined : { id, name: name ?? id, rules };
  } catch (error) {
    if (isAwsError(error, "not-found")) return undefined;
    throw error;
  }
}

/** Ports of load balancers whose Services could not say what they need. */
async function heldPorts(
  unknown: readonly { readonly loadBalancer: string }[],
  inventory: Inventory,
  ask: Ask,
): Promise<ReadonlyMap<number, string>> {
  const ports = new Map<number, string>();
  for (const { loadBalancer } of unknown) {
    const found = await inventory.loadBalancers.get(loadBalancer, reconcileAges, ask);
    if (found === undefined) continue;
    const groups = await inventory.targetGroups.all(reconcileAges.presentMs, ask);
    for (const group of groups.filter(({ LoadBalancerArns = [] }) => LoadBalancerArns.includes(found.LoadBalancerArn ?? ""))) {
      ports.set(group.Port ?? 0, loadBalancer).set(Number(group.HealthCheckPort), loadBalancer);
    }
  }
  return ports;
}
