/** The core with a kind and a door that nobody else knows of: what it takes to add one, and that nothing else has to change. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { actionsOf } from "../aws/actions.ts";
import { step } from "../aws/plan.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { applySurvey } from "./apply.ts";
import { findLoadBalancers } from "./find.ts";
import { ClaimBook } from "./groups/claim-book.ts";
import { claimAccess } from "./groups/node-access.ts";
import { type Inventory, reconcileAges } from "./inventory.ts";
import type { Found, LoadBalancerKind, Seen } from "./kind.ts";
import type { LoadBalancerModel } from "./model.ts";
import type { LoadBalancerOwner } from "./owner.ts";
import { remove } from "./remove.ts";
import { survey } from "./survey.ts";
import { TargetSets } from "./targets/target-set.ts";

const ask = { cause: "test", signal: new AbortController().signal, urgency: "user" } as const;
const noTargets = { running: [], notRunning: [], instances: [], elsewhere: [] };
// The account is a map here, so no SDK is ever loaded for these.
const act = actionsOf("elbv2", async () => ({ Client: undefined }));
const create = act<{ Name: string }, never>("CreateGateway", () => undefined as never);
const destroy = act<{ Name: string }, never>("DeleteGateway", () => undefined as never);

/** An account in which gateways are all there is. */
function account() {
  const gateways = new Map<string, Found & { readonly tags: Readonly<Record<string, string>> }>();
  const calls: string[] = [];
  const call = async ({ name }: { readonly name: string }, { Name }: { readonly Name: string }) => {
    calls.push(`${name} ${Name}`);
    if (name === "DeleteGateway") gateways.delete(Name);
    else gateways.set(Name, { ...gatewayNamed(Name), tags: { owner: "shop/web" } });
    return { host: `${Name}.example.com` };
  };
  const groups = { all: async () => [], listed: async () => [] };
  const network = async () => ({ subnets: [], routeTables: [], zoneTypes: {} });
  const scope = { vpc: "vpc-1", cluster: { id: "demo", legacy: false } };
  // As much of an inventory as the core itself asks for.
  const inventory = { cloud: { call }, groups, groupsWith: groups.listed, network, scope, group: async () => undefined };
  return { gateways, calls, inventory: inventory as unknown as Inventory };
}

const gatewayNamed = (name: string): Found => ({
  kind: "gateway",
  name,
  hostname: `${name}.example.com`,
  internal: false,
  subnets: [],
  securityGroups: [],
  createdAt: 0,
});

function gatewayKind(gateways: ReturnType<typeof account>["gateways"]): LoadBalancerKind {
  return {
    name: "gateway",
    find: async (name) => gateways.get(name),
    findMarked: async (whose) => [...gateways.values()].filter(({ tags }) => whose.hasMarks(tags)),
    namesBehind: async (hostname) => [...gateways.values()].filter((each) => each.hostname === hostname).map(({ name }) => name),
    tags: async ({ name }) => gateways.get(name)?.tags,
    targetGroups: async () => [],
    managedGroupName: (_owner, name) => `gateway-${name}`,
    observe: async (): Promise<Seen> => ({ kind: "gateway" }),
    observeTargets: async () => ({ kind: "gateway" }),
    withoutStrangers: async (seen) => seen,
    health: async () => [],
    withTargets: (model) => model,
    plan: ({ name }) =>
      gateways.has(name) ? [] : [step(create, { Name: name }, { what: `create gateway ${name}`, why: "it is asked for" })],
    planDeletion: ({ name }) => [step(destroy, { Name: name }, { what: `delete gateway ${name}`, why: "nobody wants it" })],
    registered: () => new Set(),
    planTargets: () => [],
    afterParts: (_model, seen) => seen,
    refreshTargets: async (_name, seen) => seen,
    afterTargets: (seen) => seen,
    hostnameIn: (output) => (output as { readonly host?: string }).host,
    rememberAttributes() {},
    forgetAttributes() {},
    touch() {},
    touchTargets() {},
    touchParts() {},
    ruleMarks: (names) => ({ descriptions: names.map((name) => `gateway=${name}`), sources: [] }),
    ruleSources: async () => ({ ownGroups: [], subnetCidrs: [] }),
    usage: async () => ({ ports: [], sources: [] }),
    describe: () => [],
    plannedTargetGroups: () => [],
  };
}

const owner = (kind: LoadBalancerKind, rest: Partial<LoadBalancerOwner> = {}): LoadBalancerOwner => ({
  door: "test",
  key: "shop/web",
  uid: "u",
  noun: "Gateway",
  kinds: [kind],
  ownName: "own",
  earlierNames: [],
  hostname: "",
  securityGroupName: "own-group",
  claimsTargetGroup: () => "no",
  hasMarks: (tags) => tags.owner === "shop/web",
  ...rest,
});

const look = async (whose: LoadBalancerOwner, inventory: Inventory) => {
  const { found: standing } = await findLoadBalancers(whose, inventory, reconcileAges, ask);
  const model: LoadBalancerModel = {
    kind: "gateway",
    name: "own",
    askedBy: "Gateway",
    internal: false,
    securityGroups: { kind: "as-it-is" },
    tags: {},
  };
  const request = {
    kind: whose.kinds[0]!,
    standing,
    newName: whose.ownName,
    targets: noTargets,
    observe: { owner: whose, tags: false, targetGroupAttributes: false, attributesKey: "", attributesAgeMs: 0 },
    desire: () => ({
      model,
      subnets: { kind: "chosen", subnets: [], verdicts: [] } as const,
      access: { kind: "from-group", loadBalancer: "own" } as const,
      problems: [],
      warnings: [],
    }),
    problemsWith: () => [],
  };
  return survey(request, inventory, ask);
};

test("a kind and a door that nobody knows of are found, made, and removed to confirmed nothing", async () => {
  const { gateways, calls, inventory } = account();
  const whose = owner(gatewayKind(gateways));
  const book = new ClaimBook();
  const { clock } = virtualWorld(1);

  const wanted = await look(whose, inventory);
  const targetSets = new TargetSets();
  const parts = { inventory, clock, targetSets, began: targetSets.now(), wanted: async () => noTargets, onStep() {} };
  const ensured = await applySurvey(wanted, parts, ask);
  assert.equal(ensured.hostname, "own.example.com");
  assert.deepEqual((await look(whose, inventory)).steps, []);

  const access = { inventory, book, settings: { disableNodeIngress: false } };
  await claimAccess({ ...whose, kind: wanted.kind }, wanted.desire.access, ensured.ruleContext, access, { recheck: false }, ask);
  assert.deepEqual(
    [...book.owners().claims.values()].flatMap(({ marks }) => marks.descriptions),
    ["gateway=own"],
  );

  const removal = { kinds: whose.kinds, ages: reconcileAges, marksAgeMs: 0, withGroups: true };
  assert.equal((await remove(whose, access, ask, removal)).kind, "waiting");
  assert.equal((await remove(whose, access, ask, removal)).kind, "gone");
  assert.deepEqual([calls, book.knows("u")], [["CreateGateway own", "DeleteGateway own"], false]);
});

test("what has a name of the user's choice is the owner's only with its marks", async () => {
  const { gateways, inventory } = account();
  gateways.set("chosen", { ...gatewayNamed("chosen"), tags: { owner: "shop/other" } });
  const whose = owner(gatewayKind(gateways), { chosenName: "chosen" });
  const { found, taken } = await findLoadBalancers(whose, inventory, reconcileAges, ask);
  assert.deepEqual([found, taken], [[], [{ kind: "gateway", name: "chosen" }]]);
});

test("what the status points to is found under whatever name it has", async () => {
  const { gateways, inventory } = account();
  gateways.set("renamed", { ...gatewayNamed("renamed"), tags: { owner: "shop/web" } });
  const whose = owner(gatewayKind(gateways), { hostname: "renamed.example.com" });
  const { found } = await findLoadBalancers(whose, inventory, reconcileAges, ask);
  assert.deepEqual(
    found.map(({ name }) => name),
    ["renamed"],
  );
});
