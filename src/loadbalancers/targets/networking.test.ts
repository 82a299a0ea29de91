import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeView, type SeenNode } from "../../identity/node-view.ts";
import type { Endpoint } from "./endpoints.ts";
import { type NetworkingParts, networkingOf } from "./networking.ts";
import type { SeenPod } from "./pods.ts";

const ask = { cause: "test", signal: new AbortController().signal };

const node = (name: string, labels: Readonly<Record<string, string>> = {}, providerId = `aws:///us-east-1a/i-${name}`): SeenNode =>
  nodeView({
    metadata: { name, uid: name, resourceVersion: "1", labels: { ...labels } },
    spec: { providerID: providerId },
    status: { addresses: [{ type: "InternalIP", address: `10.0.9.${name.length}` }] },
  });

const nodes: readonly SeenNode[] = [
  node("plain"),
  node("fargate", { "eks.amazonaws.com/compute-type": "fargate" }, "aws:///us-east-1a/abc/fargate"),
  node("hybrid", { "eks.amazonaws.com/compute-type": "hybrid" }, "eks-hybrid:///eu/c/mi-1"),
  node("hyperpod", { "sagemaker.amazonaws.com/compute-type": "hyperpod" }, "aws:///x/sagemaker/cluster/i-hyperpod"),
];

interface Interface {
  readonly id: string;
  readonly groups?: readonly string[];
  readonly ips?: readonly string[];
  readonly ipv4Prefixes?: readonly string[];
  readonly ipv6Prefixes?: readonly string[];
  readonly deviceIndex?: number;
}

interface Bed {
  /** Of instances, by id. */
  readonly instances?: Readonly<Record<string, readonly Interface[]>>;
  /** Attached ones by their primary address. */
  readonly attached?: Readonly<Record<string, readonly Interface[]>>;
  readonly byId?: Readonly<Record<string, Interface>>;
}

const full = ({ id, groups = [`sg-${id}`], ips = [], ipv4Prefixes = [], ipv6Prefixes = [], deviceIndex = 0 }: Interface) => ({
  id,
  groups,
  privateAddresses: ips.map((ip) => ({ ip })),
  ipv4Prefixes,
  ipv6Prefixes,
  attachment: { deviceIndex },
});

/** The groups that let something in to these endpoints, and what could not be found out. */
async function groupsOf(
  endpoints: readonly Endpoint[],
  { instances = {}, attached = {}, byId = {} }: Bed,
  targetType: "ip" | "instance" = "ip",
) {
  const asked: string[] = [];
  const cloud = {
    instances: {
      lookup: async (id: string) => {
        asked.push(id);
        return instances[id] ? { kind: "found", instance: { interfaces: instances[id].map(full) } } : { kind: "missing" };
      },
    },
    networkInterfaces: {
      attachedWith: async (ip: string) => {
        asked.push(ip);
        return (attached[ip] ?? []).map(full);
      },
      list: async ([filter]: readonly { values: readonly string[] }[]) =>
        filter!.values.flatMap((id) => (byId[id] ? [full(byId[id])] : [])),
    },
    securityGroups: { list: async () => [] },
  };
  const parts = {
    cloud,
    vpc: "vpc-1",
    clusterTag: "kubernetes.io/cluster/c",
    groupTags: {},
    node: (name: string) => nodes.find((each) => each.metadata.name === name),
  };
  const networking = { ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8" } }], ports: [{ port: 80 }] }] };
  const spec = { targetType, serviceRef: { name: "web", port: 80 }, networking };
  const { claim, problems } = await networkingOf(spec, endpoints, parts as unknown as NetworkingParts, ask);
  return { groups: [...claim.keys()], problems, asked };
}

const pod = (ip: string, on: string, eni?: string): Endpoint => ({
  id: ip,
  port: 80,
  createdAt: 0,
  pod: { metadata: { namespace: "shop", name: `p-${ip}` }, node: on, ports: {}, ...(eni && { eni }) } as unknown as SeenPod,
});

test("a node lets in by the group of its first interface; of one that is not found it is said", async () => {
  const instances = { "i-1": [{ id: "second", deviceIndex: 1 }, { id: "first" }] };
  const found = await groupsOf(
    ["i-1", "i-2"].map((id) => ({ id, port: 80, createdAt: 0 })),
    { instances },
    "instance",
  );
  assert.deepEqual([found.groups, found.problems], [["sg-first"], ["cannot resolve node ENI for nodes: [i-2]"]]);
});

test("a pod lets in by the interface that has its address, or a prefix of either family in which it lies", async () => {
  const instances = {
    "i-plain": [
      { id: "single", ips: ["10.0.0.1"] },
      { id: "four", ipv4Prefixes: ["10.0.1.0/28"] },
      { id: "six", ipv6Prefixes: ["2001:db8:1::/80"] },
    ],
  };
  for (const [ip, group] of [
    ["10.0.0.1", "sg-single"],
    ["10.0.1.7", "sg-four"],
    ["2001:db8:1::7", "sg-six"],
  ] as const)
    assert.deepEqual((await groupsOf([pod(ip, "plain")], { instances })).groups, [group]);
});

test("one pod that cannot be found keeps no other from being let in to", async () => {
  const instances = { "i-plain": [{ id: "single", ips: ["10.0.0.1"] }] };
  const found = await groupsOf([pod("10.0.0.1", "plain"), pod("10.0.0.9", "plain"), pod("10.0.0.8", "gone")], { instances });
  assert.deepEqual(found.groups, ["sg-single"]);
  assert.deepEqual(found.problems.toSorted(), [
    "cannot resolve pod ENI for pods: [shop/p-10.0.0.8]",
    "cannot resolve pod ENI for pods: [shop/p-10.0.0.9]",
  ]);
});

test("a pod with an interface of its own lets in by that one, before those of its node", async () => {
  const instances = { "i-plain": [{ id: "single", ips: ["10.0.0.1"] }] };
  const found = await groupsOf([pod("10.0.0.1", "plain", "eni-own")], { instances, byId: { "eni-own": { id: "eni-own" } } });
  assert.deepEqual([found.groups, found.asked], [["sg-eni-own"], []]);
  assert.equal((await groupsOf([pod("10.0.0.1", "plain", "eni-gone")], { instances })).problems.length, 1);
});

test("pods of Fargate have an interface each, and those of hybrid nodes none in AWS", async () => {
  const attached = { "10.0.0.1": [{ id: "its" }] };
  assert.deepEqual((await groupsOf([pod("10.0.0.1", "fargate")], { attached })).groups, ["sg-its"]);
  assert.equal((await groupsOf([pod("10.0.0.2", "fargate")], { attached })).problems.length, 1);
  const hybrid = await groupsOf([pod("10.0.0.1", "hybrid")], { attached });
  assert.deepEqual([hybrid.groups, hybrid.problems, hybrid.asked], [[], [], []]);
});

test("pods of HyperPod are found by their address, or by a prefix of their node's interface", async () => {
  const attached = { "10.0.0.1": [{ id: "its" }], "10.0.9.8": [{ id: "other" }, { id: "nodes", ipv4Prefixes: ["10.0.3.0/28"] }] };
  assert.deepEqual((await groupsOf([pod("10.0.0.1", "hyperpod")], { attached })).groups, ["sg-its"]);
  const found = await groupsOf([pod("10.0.3.4", "hyperpod")], { attached });
  assert.deepEqual([found.groups, found.asked], [["sg-nodes"], ["10.0.3.4", "10.0.9.8"]]);
  assert.equal((await groupsOf([pod("10.0.4.4", "hyperpod")], { attached })).problems.length, 1);
});

test("an interface without groups lets nothing in, which is said", async () => {
  const instances = { "i-plain": [{ id: "bare", groups: [], ips: ["10.0.0.1"] }] };
  const found = await groupsOf([pod("10.0.0.1", "plain")], { instances });
  assert.deepEqual(found.groups, []);
  assert.match(found.problems.join(), /expected exactly one securityGroup tagged with kubernetes.io\/cluster\/c for eni bare, got: \[\]/);
});
