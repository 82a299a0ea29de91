import assert from "node:assert/strict";
import { test } from "node:test";
import type { Action } from "../aws/actions.ts";
import { actionsOf } from "../aws/actions.ts";
import { step } from "../aws/plan.ts";
import type { SecurityGroup } from "../aws/security-groups.ts";
import { ClaimBook } from "./groups/claim-book.ts";
import type { NodeAccessParts } from "./groups/node-access.ts";
import { type Inventory, presentAges, reconcileAges } from "./inventory.ts";
import type { Found, LoadBalancerKind } from "./kind.ts";
import type { Ages } from "./listing.ts";
import type { LoadBalancerOwner } from "./owner.ts";
import { describe, type Leftovers, planRemoval, remove } from "./remove.ts";

const ask = { cause: "test", signal: new AbortController().signal, urgency: "user" } as const;
// The account is a list here, so no SDK is ever loaded for these.
const destroy = actionsOf("elbv2", async () => ({ Client: undefined }))<{ Name: string }, never>("DeleteIt", () => undefined as never);

const lb = (name: string): Found => ({
  kind: "thing",
  name,
  hostname: "",
  internal: false,
  subnets: [],
  securityGroups: [],
  createdAt: 0,
});
const group = (id: string, name: string, rest: Partial<SecurityGroup> = {}): SecurityGroup => ({
  id,
  name,
  vpc: "vpc-1",
  tags: { "kubernetes.io/cluster/demo": "owned" },
  sources: [],
  descriptions: [],
  ...rest,
});

/** An owner with load balancers of one kind in an account of lists. `tags` says whose each load balancer is. */
function scene({
  standing = [],
  groups = [],
  tags = {},
}: {
  standing?: Found[];
  groups?: SecurityGroup[];
  tags?: Record<string, string>;
} = {}) {
  const calls: string[] = [];
  const ages: Ages[] = [];
  const left = [...standing];
  const kind = {
    name: "thing",
    find: async (name: string, _inventory: Inventory, age: Ages) => {
      ages.push(age);
      return left.find((each) => each.name === name);
    },
    findMarked: async () => [],
    namesBehind: async () => [],
    tags: async ({ name }: Found) => ({ owner: tags[name] ?? "shop/web" }),
    targetGroups: async () => [],
    managedGroupName: (_owner: LoadBalancerOwner, name: string) => `group-of-${name}`,
    planDeletion: ({ name }: Found) => [step(destroy, { Name: name }, { what: `delete ${name}`, why: "" })],
    ruleMarks: (names: readonly string[], sources: readonly string[]) => ({ descriptions: names.map((name) => `rule=${name}`), sources }),
    touch: () => {},
  } as unknown as LoadBalancerKind;
  const owner: LoadBalancerOwner = {
    door: "test",
    key: "shop/web",
    uid: "u",
    noun: "Thing",
    kinds: [kind],
    ownName: "own",
    chosenName: "chosen",
    earlierNames: [],
    hostname: "",
    securityGroupName: "",
    claimsTargetGroup: () => "no",
    hasMarks: ({ owner: whose }) => whose === "shop/web",
  };
  const inventory = {
    scope: { vpc: "vpc-1", cluster: { id: "demo", legacy: false } },
    groups: { all: async () => groups, listed: async () => groups },
    touchGroup: () => {},
    cloud: {
      call: async ({ name }: Action<never, unknown>, input: { readonly Name?: string; readonly GroupId?: string }) => {
        calls.push(`${name} ${input.Name ?? input.GroupId}`);
        const at = left.findIndex((each) => each.name === input.Name);
        if (at >= 0) left.splice(at, 1);
        return {};
      },
    },
  } as unknown as Inventory;
  const book = new ClaimBook();
  const parts: NodeAccessParts = { inventory, book, settings: { disableNodeIngress: false } };
  const pass = (withGroups = true) => remove(owner, parts, ask, { kinds: [kind], ages: reconcileAges, marksAgeMs: 0, withGroups });
  return { kind, owner, book, calls, ages, groups, pass };
}

test("what goes in one pass is confirmed by the next, which reads the account again", async () => {
  const { pass, calls } = scene({ standing: [lb("own")] });
  const first = await pass();
  assert.equal(first.kind, "waiting");
  assert.deepEqual(first.kind === "waiting" && [first.deleted, first.refused, first.why], [
    true,
    false,
    "not yet gone: thing load balancer own",
  ]);
  assert.deepEqual(await pass(), { kind: "gone", notOurs: [] });
  assert.deepEqual(calls, ["DeleteIt own"]);
});

test("a load balancer under a chosen name that carries another's marks is left alone, and is not waited for", async () => {
  const { pass, calls } = scene({ standing: [lb("chosen")], tags: { chosen: "shop/other" } });
  assert.equal((await pass()).kind, "gone");
  assert.deepEqual(calls, []);
});

test("a security group of our name without our mark is left alone, after one look at how it is at this very moment", async () => {
  const stranger = group("sg-1", "group-of-own", { tags: {} });
  const { pass, calls, ages } = scene({ groups: [stranger] });
  assert.deepEqual(await pass(), { kind: "gone", notOurs: ["group-of-own"] });
  assert.deepEqual(calls, []);
  assert.deepEqual(ages.at(-1), presentAges);
});

test("our group goes only when its load balancer and the rules that name it are gone", async () => {
  const own = group("sg-1", "group-of-own");
  const beside = scene({ standing: [lb("own")], groups: [own] });
  await beside.pass();
  assert.deepEqual(beside.calls, ["DeleteIt own"]);
  await beside.pass(false);
  assert.deepEqual(beside.calls, ["DeleteIt own"], "not while it is said that AWS has not cleared the load balancer away");
  await beside.pass();
  assert.deepEqual(beside.calls, ["DeleteIt own", "DeleteSecurityGroup sg-1"]);
});

test("steps come in the order that AWS allows, and a group that rules still name has none", () => {
  const { owner, kind } = scene();
  const left: Leftovers = {
    loadBalancers: [lb("own")],
    targetGroups: [{ TargetGroupArn: "arn:1", TargetGroupName: "tg" }],
    ownGroups: [group("sg-1", "mine")],
    names: [{ kind, loadBalancer: "own" }],
    nodeGroups: [],
    notOurs: [],
  };
  const actions = (leftovers: Leftovers) => planRemoval(leftovers, owner).map(({ action }) => action.name);
  assert.deepEqual(actions(left), ["DeleteIt", "DeleteTargetGroup", "DeleteSecurityGroup"]);
  const named = { ...left, nodeGroups: [group("sg-2", "nodes")] };
  assert.deepEqual(actions(named), ["DeleteIt", "DeleteTargetGroup"]);
  assert.deepEqual(describe(named), [
    "thing load balancer own",
    "target group tg",
    "security group mine (sg-1)",
    "rules in node security group nodes (sg-2)",
  ]);
});

test("it is not over while rules that were asked for are on their way into a node group", async () => {
  const nodes = group("sg-nodes", "nodes");
  const { pass, book, owner, kind } = scene({ groups: [nodes] });
  const claimant = { door: owner.door, key: owner.key, uid: owner.uid, kind };
  book.leave(claimant, { descriptions: ["rule=own"], sources: [] }, ["sg-nodes"]);
  const waiting = await pass();
  assert.equal(waiting.kind, "waiting");
  assert.match(waiting.kind === "waiting" ? waiting.why : "", /the rules of node security groups sg-nodes/);
  book.settled("sg-nodes", book.waitingFor("sg-nodes"), true);
  assert.equal((await pass()).kind, "gone");
  assert.equal(book.knows("u"), false);
});
