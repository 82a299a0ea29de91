/** The one writer of node security groups: a key is a group, and its rules are the union of what all load balancers need. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { isAwsError } from "../../aws/errors.ts";
import type { Step } from "../../aws/plan.ts";
import { again, type Controller, done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import type { Host } from "../../runtime/host.ts";
import { messageOf } from "../../runtime/message-of.ts";
import type { Inventory } from "../inventory.ts";
import type { ClaimBook, Unknown } from "./claim-book.ts";
import { type Granted, grantAll } from "./grants.ts";
import type { Waits } from "./group-waits.ts";
import { type Held, type NodeGroup, type Owners, planNodeRules } from "./node-rules.ts";
import { throttleByKey } from "./throttle-by-key.ts";

export interface RulesParts {
  readonly host: Host;
  readonly inventory: Inventory;
  readonly book: ClaimBook;
}

/** How soon a group is looked at again while others have not said what they need, or while AWS is not ready. */
const againMs = 2_000;
/** How soon rules that AWS refused to their owner are tried again, if nobody asks for it before. */
const refusedMs = 2 * 60_000;
/** Owners often come and go in numbers: what they ask of a group within this time is done together. */
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
          parts.book.onWork(throttleByKey(parts.host.world.clock, spaceMs, (group) => enqueue(group)));
        },
      },
    ],
    reconcile: async (id, signal) => {
      const ask: Ask = { cause: `rules of node security group ${id}`, signal, urgency: "user" };
      try {
        return await converge(id, parts, ask);
      } catch (error) {
        signal.throwIfAborted();
        if (!refusalIn(error)) parts.book.failed(id, [...parts.book.waitingFor(id).keys()], error);
        throw error;
      }
    },
  };
}

async function converge(id: string, parts: RulesParts, ask: Ask): Promise<Outcome> {
  const { inventory, book, host } = parts;
  const waiting = book.waitingFor(id);
  const group = await readGroup(inventory, id, ask);
  if (group === undefined) {
    book.settled(id, waiting, false);
    return done;
  }
  const { unknown, ...known } = book.owners();
  const complete = book.isComplete;
  const owners: Owners = { ...known, complete, held: await heldBy(unknown, inventory, ask) };
  const plan = planNodeRules(group, owners);
  const { missing, rest } = plan;
  const all = complete ? plan : planNodeRules(group, { ...owners, complete: true });
  const onStep = ({ what, why }: Step) => host.log.info(what, { why });
  const changes = missing.size > 0 || rest.length > 0;
  let granted: Granted;
  // A call that AWS is slow to take may be carried out when somebody has come to need the rule that it takes away.
  const outdated = new AbortController();
  const stopListening = book.onChange(() => {
    const now = book.owners();
    const same = now.unknown.length === unknown.length && sameSteps(planNodeRules(group, { ...owners, ...now }).rest, rest);
    if (!same) outdated.abort(new Error("what load balancers need from the nodes has changed"));
  });
  try {
    granted = await grantAll(group, missing, { cloud: inventory.cloud, ask, onStep });
    // Whoever only had to be let in waits for nothing that others leave behind.
    const needsNoRest = (owner: string) => owners.claims.has(owner) && !all.restOf.has(owner);
    book.settled(id, servedIn(granted, waiting, needsNoRest), changes);
    const applied = await apply(rest, inventory.cloud, { ...ask, signal: AbortSignal.any([ask.signal, outdated.signal]), onStep });
    if (applied.kind === "waiting") return again(againMs, applied.why);
  } catch (error) {
    ask.signal.throwIfAborted();
    if (!outdated.signal.aborted) throw error;
    return again(againMs, messageOf(outdated.signal.reason));
  } finally {
    stopListening();
    if (changes) inventory.groups.touch(group.name);
  }
  for (const [owner, refusal] of granted.refused) book.failed(id, [owner], refusal);
  if (!complete && all.rest.length > 0) {
    return again(againMs, "rules are removed only once the needs of every Service are known");
  }
  book.settled(id, servedIn(granted, waiting), changes);
  return granted.waiting.size > 0 ? again(againMs, "the group has changed in the meantime") : afterRefusals(granted, rest.length > 0);
}

const sameSteps = (some: readonly Step[], others: readonly Step[]) =>
  some.length === others.length && some.every(({ what }, i) => what === others[i]?.what);

/** Those of them, and of these owners, who lack nothing any more. */
function servedIn({ refused, waiting: unserved }: Granted, waits: Waits, among: (owner: string) => boolean = () => true): Waits {
  return new Map([...waits].filter(([owner]) => !refused.has(owner) && !unserved.has(owner) && among(owner)));
}

/** What was taken away may have made room for those who had none. Others get theirs when something changes. */
function afterRefusals({ refused }: Granted, madeRoom: boolean): Outcome {
  const [first] = refused.values();
  if (first === undefined) return done;
  const mayFit = madeRoom && [...refused.values()].some(({ noRoom }) => noRoom);
  return again(mayFit ? againMs : refusedMs, first.message);
}

async function readGroup(inventory: Inventory, id: string, ask: Ask): Promise<NodeGroup | undefined> {
  try {
    const rules = await inventory.cloud.securityGroups.rules(id, ask);
    const groups = await inventory.groupsWith([id], ask);
    const name = groups.find((group) => group.id === id)?.name;
    return name === undefined && rules.length === 0 ? undefined : { id, name: name ?? id, rules };
  } catch (error) {
    if (isAwsError(error, "not-found")) return undefined;
    throw error;
  }
}

/** What load balancers use that may stand under these names. */
async function heldBy(unknown: readonly Unknown[], inventory: Inventory, ask: Ask): Promise<Held> {
  const ports = new Map<number, string>();
  const sources = new Map<string, string>();
  for (const { kind, name } of unknown.flatMap(({ kind, names }) => names.map((name) => ({ kind, name })))) {
    const usage = await kind.usage(name, inventory, ask);
    for (const port of usage.ports) ports.set(port, name);
    for (const source of usage.sources) sources.set(source, name);
  }
  return { ports, sources };
}
