import assert from "node:assert/strict";
import { test } from "node:test";
import type { Step } from "../../aws/plan.ts";
import { classic } from "../classic/kind.ts";
import type { NodeAccess } from "../model.ts";
import { nodeRuleDescription } from "../names.ts";
import { network } from "../network/kind.ts";
import { claimFor } from "./claims.ts";
import type { SeenRule } from "./managed.ts";
import { type Claim, type NodeGroup, type Owners, planNodeRules, stepsOf } from "./node-rules.ts";

const access = (loadBalancer: string, rest: Partial<Extract<NodeAccess, { kind: "from-clients" }>> = {}): NodeAccess => ({
  kind: "from-clients",
  loadBalancer,
  ports: [{ protocol: "tcp", port: 31080 }],
  cidrs: ["0.0.0.0/0"],
  healthPorts: [31080],
  ...rest,
});
const context = { nodeGroups: ["sg-nodes"], formerNames: [], ownGroups: [], subnetCidrs: ["10.0.0.0/24"] };
const claim = (loadBalancer: string, rest = {}): Claim => claimFor(network, access(loadBalancer, rest), context);
const nothingHeld = { ports: new Map<number, string>(), sources: new Map<string, string>() };
const owners = (claims: readonly Claim[], rest: Partial<Omit<Owners, "claims">> = {}): Owners => ({
  claims: new Map(claims.map((each, i) => [String(i), each])),
  upcoming: [],
  leaving: [],
  held: nothingHeld,
  complete: true,
  ...rest,
});
const group = (...rules: readonly SeenRule[]) => ({ id: "sg-nodes", name: "nodes", rules });
const rule = (id: string, port: number, cidr: string, description?: string): SeenRule => ({
  id,
  protocol: "tcp",
  fromPort: port,
  toPort: port,
  cidr,
  ...(description && { description }),
});
const mtu: SeenRule = {
  id: "sgr-mtu",
  protocol: "icmp",
  fromPort: 3,
  toPort: 4,
  cidr: "0.0.0.0/0",
  description: "kubernetes.io/rule/nlb/mtu",
};
const plan = (present: NodeGroup, all: Owners) => stepsOf(present, planNodeRules(present, all));
const texts = (steps: readonly Step[]) => steps.map(({ what }) => what);
const clientOf = (name: string) => `kubernetes.io/rule/nlb/client=${name}`;
const healthOf = (name: string) => `kubernetes.io/rule/nlb/health=${name}`;

test("what is wanted and there already, under any description, is left alone", () => {
  assert.deepEqual(plan(group(rule("sgr-1", 31080, "0.0.0.0/0", clientOf("a")), mtu), owners([claim("a")])), []);
  assert.deepEqual(texts(plan(group(rule("sgr-1", 31080, "0.0.0.0/0", "by hand")), owners([claim("a")]))), []);
});

test("a group as source is satisfied by any rule that names it", () => {
  const fromGroup = claimFor(
    classic,
    { kind: "from-group", loadBalancer: "a" },
    { ...context, source: { id: "sg-lb", ours: true }, ownGroups: ["sg-lb"] },
  );
  const narrow: SeenRule = { id: "sgr-1", protocol: "tcp", fromPort: 1, toPort: 2, sourceGroup: "sg-lb" };
  assert.deepEqual(plan(group(narrow), owners([fromGroup])), []);
  assert.deepEqual(texts(plan(group(), owners([fromGroup]))), ["allow everything from sg-lb in node security group nodes"]);
});

test("rules of one who leaves go by their ids, and what nobody marked stays", () => {
  const present = group(rule("sgr-1", 31080, "0.0.0.0/0", clientOf("a")), rule("sgr-2", 31080, "10.0.0.0/8"), mtu);
  const steps = plan(present, owners([], { leaving: [network.ruleMarks(["a"], [])] }));
  assert.deepEqual(
    steps.map(({ input }) => input),
    [{ GroupId: "sg-nodes", SecurityGroupRuleIds: ["sgr-1", "sgr-mtu"] }],
  );
});

test("rules of a name that the load balancer had before go, or get its present one", () => {
  const [useless, needed] = [rule("sgr-1", 31000, "0.0.0.0/0", clientOf("old")), rule("sgr-2", 31080, "0.0.0.0/0", clientOf("old"))];
  const present = group(useless, needed, rule("sgr-3", 31090, "0.0.0.0/0", clientOf("other")), mtu);
  const steps = plan(present, owners([claimFor(network, access("a"), { ...context, formerNames: ["old"] })]));
  assert.deepEqual(texts(steps), [
    `describe sgr-2 as ${clientOf("a")} in node security group nodes`,
    "revoke tcp:31000 from 0.0.0.0/0 in security group nodes",
  ]);
});

test("nothing is taken away before everybody has spoken, and what is missing is granted all the same", () => {
  const present = group(rule("sgr-1", 31000, "0.0.0.0/0", clientOf("a")));
  const steps = plan(present, owners([claim("a")], { complete: false }));
  assert.deepEqual(texts(steps), ["allow tcp:31080 from 0.0.0.0/0, icmp:3-4 from 0.0.0.0/0 in node security group nodes"]);
});

test("a rule that another needs gets the other's name, and is not revoked", () => {
  const shared = { ports: [{ protocol: "tcp", port: 31090 }], healthPorts: [10256] };
  const present = group(rule("sgr-1", 10256, "10.0.0.0/24", healthOf("a")), rule("sgr-2", 31090, "0.0.0.0/0", clientOf("b")), mtu);
  const steps = plan(present, owners([claim("b", shared)], { leaving: [network.ruleMarks(["a"], [])] }));
  assert.deepEqual(texts(steps), [`describe sgr-1 as ${healthOf("b")} in node security group nodes`]);
});

test("a rule for a group that was lent gets the name of the one whose group it is", () => {
  const own = claimFor(
    classic,
    { kind: "from-group", loadBalancer: "b" },
    { ...context, source: { id: "sg-b", ours: true }, ownGroups: ["sg-b"] },
  );
  const present: SeenRule = { id: "sgr-1", protocol: "-1", sourceGroup: "sg-b", description: nodeRuleDescription.source("a") };
  const leaving = [{ descriptions: [nodeRuleDescription.source("a")], sources: [] }];
  assert.deepEqual(texts(plan(group(present), owners([own], { leaving }))), [
    "describe sgr-1 as kubernetes.io/rule/elb/source=b in node security group nodes",
  ]);
});

test("a rule for a port that one who cannot speak uses is kept in its name", () => {
  const present = group(rule("sgr-1", 10256, "10.0.0.0/24", healthOf("a")));
  const steps = plan(
    present,
    owners([], { leaving: [network.ruleMarks(["a"], [])], held: { ...nothingHeld, ports: new Map([[10256, "b"]]) } }),
  );
  assert.deepEqual(texts(steps), [`describe sgr-1 as ${healthOf("b")} in node security group nodes`]);
});

test("a rule for a group that one who cannot speak has is kept in its name", () => {
  const present = group({ id: "sgr-1", protocol: "-1", sourceGroup: "sg-lent", description: nodeRuleDescription.source("a") });
  const held = { ...nothingHeld, sources: new Map([["sg-lent", "b"]]) };
  const steps = plan(present, owners([], { leaving: [classic.ruleMarks(["a"], [])], held }));
  assert.deepEqual(texts(steps), [`describe sgr-1 as ${nodeRuleDescription.source("b")} in node security group nodes`]);
});

test("health checks need no rule of their own exactly where everybody may reach the ports that are checked, by TCP", () => {
  const descriptions = (rest: Parameters<typeof access>[1]) =>
    claim("a", rest)
      .rules.map(({ description }) => description ?? "")
      .filter((text) => text.includes("health"));
  assert.deepEqual(descriptions({}), []);
  assert.equal(descriptions({ cidrs: ["0.0.0.0/0", "10.0.0.0/8"] }).length, 1);
  assert.equal(descriptions({ healthPorts: [32000] }).length, 1);
  assert.equal(descriptions({ ports: [{ protocol: "udp", port: 31080 }] }).length, 1);
});

test("a node group that lost its nodes loses the rules of their load balancer", () => {
  const moved = claimFor(network, access("a"), { ...context, nodeGroups: ["sg-other"] });
  const steps = plan(group(rule("sgr-1", 31080, "0.0.0.0/0", clientOf("a"))), owners([moved]));
  assert.deepEqual(texts(steps), ["revoke tcp:31080 from 0.0.0.0/0 in security group nodes"]);
});

test("each owner's missing rules stand by themselves, with those that others lack too", () => {
  const { missing } = planNodeRules(group(), owners([claim("a"), claim("b", { cidrs: ["0.0.0.0/0", "10.0.0.0/8"] })]));
  const counts = [...missing].map(([owner, rules]) => [owner, rules.length]);
  assert.deepEqual(counts, [
    ["0", 2],
    ["1", 5],
  ]);
});
