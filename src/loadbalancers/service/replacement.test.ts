import assert from "node:assert/strict";
import { test } from "node:test";
import { done, type Outcome } from "../../runtime/controller.ts";
import type { Ensured } from "../apply.ts";
import type { Inventory } from "../inventory.ts";
import type { Found, LoadBalancerKind } from "../kind.ts";
import type { SeenService } from "../service-state.ts";
import type { Survey } from "../survey.ts";
import { continueReplacement, drainMs, healthLimitMs, type ReplacementParts } from "./replacement.ts";
import { replacedCondition } from "./report.ts";

const now = Date.UTC(2026, 0, 1);
const [oldHost, newHost] = ["old.example.com", "new.example.com"];
const found = (kind: string, hostname: string, createdAt: number): Found => ({
  kind,
  name: `${kind}-1`,
  hostname,
  internal: false,
  subnets: [],
  securityGroups: [],
  createdAt,
});

interface Case {
  /** What the status of the Service says. */
  readonly published?: string;
  /** Since when the condition says that the old one is drained. */
  readonly drainedSince?: number;
  readonly hostname?: string | undefined;
  readonly healthy?: boolean;
  /** Of the new load balancer. */
  readonly ageMs?: number;
  readonly other?: boolean;
  readonly leaving?: Outcome;
}

/** One step of a replacement of a classic load balancer by a network one, and all that it did, in order. */
async function step({ published = oldHost, drainedSince, healthy = true, ageMs = 0, other = true, leaving, ...rest }: Case) {
  const did: string[] = [];
  const note =
    (what: string) =>
    async (...args: readonly unknown[]) =>
      void did.push([what, ...args.filter((arg) => typeof arg === "string")].join(" "));
  const network = {
    name: "network",
    health: async () => [{ where: "", targets: [{ id: "i-1", healthy, state: "", why: "" }] }],
  } as unknown as LoadBalancerKind;
  const classic = { name: "classic" } as LoadBalancerKind;
  const survey = {
    kind: network,
    owner: { kinds: [classic, network] },
    found: found("network", newHost, now - ageMs),
    ...(other && { other: found("classic", oldHost, now - 1e9) }),
  } as unknown as Survey;
  const conditions =
    drainedSince === undefined ? [] : [{ type: replacedCondition, lastTransitionTime: new Date(drainedSince).toISOString() }];
  const service = { hostname: published, conditions } as unknown as SeenService;
  const parts = {
    inventory: {} as Inventory,
    clock: { now: () => now },
    ask: { cause: "test", signal: new AbortController().signal },
    report: {
      publish: note("publish"),
      condition: async (_: unknown, type: string, value: unknown) => void did.push(`${value === undefined ? "clear" : "set"} ${type}`),
      conditionFromNow: async (_: unknown, type: string) => void did.push(`set ${type} from now`),
      tell: (_: unknown, type: string, reason: string) => void did.push(`tell ${type} ${reason}`),
    },
    follow: async ({ name }: Found) => void did.push(`follow ${name}`),
    remove: async (kinds: readonly LoadBalancerKind[]) => {
      did.push(`remove ${kinds.map(({ name }) => name).join()}`);
      return leaving;
    },
  } as unknown as ReplacementParts;
  const hostname = "hostname" in rest ? rest.hostname : newHost;
  const outcome = await continueReplacement(service, survey, { hostname } as Ensured, parts);
  return { outcome, did };
}

const afterMs = (outcome: Outcome | undefined) => (outcome?.kind === "again" ? outcome.afterMs : undefined);

test("a new load balancer without an address changes nothing", async () => {
  const { outcome, did } = await step({ hostname: undefined });
  assert.deepEqual([afterMs(outcome), did], [10_000, []]);
});

test("while the new one is not healthy the old address stays, and the old one's targets follow the nodes", async () => {
  const { outcome, did } = await step({ healthy: false });
  assert.deepEqual([afterMs(outcome), did], [10_000, ["follow classic-1"]]);
});

test("when it is healthy the wait for clients begins before the address is published, so that a crash between the two loses none of it", async () => {
  const { outcome, did } = await step({});
  assert.deepEqual(did, [
    "follow classic-1",
    `set ${replacedCondition} from now`,
    `publish ${newHost}`,
    "tell Normal LoadBalancerReplacement",
  ]);
  assert.equal(afterMs(outcome), drainMs);
});

test("one that does not become healthy is published after the limit, and not a moment before", async () => {
  assert.ok((await step({ healthy: false, ageMs: healthLimitMs })).did.includes(`publish ${newHost}`));
  assert.ok(!(await step({ healthy: false, ageMs: healthLimitMs - 1 })).did.includes(`publish ${newHost}`));
});

test("the old one stays until clients have had their time, and goes then", async () => {
  const draining = await step({ published: newHost, drainedSince: now - drainMs + 1_000 });
  assert.deepEqual([afterMs(draining.outcome), draining.did], [1_000, ["follow classic-1"]]);
  const over = await step({ published: newHost, drainedSince: now - drainMs });
  assert.deepEqual(over.did, ["follow classic-1", `publish ${newHost}`, "remove classic", `clear ${replacedCondition}`]);
  assert.equal(over.outcome, undefined);
});

test("if it is not known since when the old one is drained, it is drained from now on", async () => {
  const { outcome, did } = await step({ published: newHost });
  assert.deepEqual([afterMs(outcome), did], [drainMs, ["follow classic-1", `set ${replacedCondition}`]]);
});

test("where no address was published nobody has to learn another: the old one goes at once", async () => {
  const { did } = await step({ published: "" });
  assert.deepEqual(did, ["follow classic-1", `publish ${newHost}`, "remove classic", `clear ${replacedCondition}`]);
});

test("it is over only when nothing of the other kind is left", async () => {
  const { outcome, did } = await step({ other: false, published: newHost, leaving: done });
  assert.equal(outcome, done);
  assert.ok(!did.includes(`clear ${replacedCondition}`));
});
