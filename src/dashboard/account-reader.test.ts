import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoadBalancer, TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Cloud } from "../aws/cloud.ts";
import type { Clock } from "../runtime/world.ts";
import { AccountReader } from "./account-reader.ts";
import { graphOf } from "./graph.ts";

const vpc = "vpc-1";
const ask = { cause: "dashboard", signal: new AbortController().signal };
const scope = { vpc, ofCluster: { name: "tag-key", values: ["c"] }, isOurs: (tags: Readonly<Record<string, string>>) => "ours" in tags };

interface Account {
  balancers: readonly LoadBalancer[];
  groups: readonly TargetGroup[];
  tags: Readonly<Record<string, Readonly<Record<string, string>>>>;
  volumes: readonly string[];
  denied: readonly string[];
}

/** An account that answers from lists, and counts what it is asked. */
function account(given: Partial<Account>) {
  const state: Account = { balancers: [], groups: [], tags: {}, volumes: [], denied: [], ...given };
  const calls: string[] = [];
  const answer = (name: string, value: () => unknown) => async () => {
    calls.push(name);
    if (state.denied.includes(name)) throw new Error(`${name} is not allowed`);
    return value();
  };
  const tags = (arn: string) => answer("tags", () => state.tags[arn] ?? {})();
  const cloud = {
    loadBalancers: {
      list: answer("list", () => state.balancers),
      targetGroups: answer("targetGroups", () => state.groups),
      listeners: (arn: string) =>
        answer("listeners", () => [{ ListenerArn: `${arn}/listener`, Protocol: "HTTP", Port: 80, DefaultActions: [] }])(),
      targetHealth: answer("targetHealth", () => []),
      tags,
    },
    classicLoadBalancers: { list: answer("classics", () => []), tags },
    listeners: { rules: answer("rules", () => []) },
    instances: { list: answer("instances", () => [{ id: "i-1", disks: [{ volumeId: "vol-attached" }], tags: {}, state: "running" }]) },
    volumes: {
      list: answer("volumes", () => state.volumes.map((id) => ({ id, tags: state.tags[id] ?? {}, attachments: [], state: "available" }))),
    },
    routeTables: { list: answer("tables", () => []) },
    call: answer("addresses", () => ({})),
  } as unknown as Cloud;
  const time = { now: 0 };
  const clock = { monotonic: () => time.now } as Clock;
  const reader = new AccountReader(cloud, scope, ask, clock);
  const shown = () => graphOf(reader.entries(), new Map()).things.map(({ id, state: how }) => `${id} ${how}`);
  const asked = (name: string) => calls.filter((call) => call === name).length;
  return { reader, state, time, shown, asked };
}

const balancer = (name: string): LoadBalancer => ({ LoadBalancerArn: name, LoadBalancerName: name, VpcId: vpc, Type: "application" });
const ours = { ours: "" };

test("what may not be read is named, and hides nothing else", async () => {
  const { reader, shown } = account({ balancers: [balancer("a")], tags: { a: ours }, denied: ["volumes", "tables"] });
  assert.deepEqual(await reader.refresh(), ["disks: volumes is not allowed", "route tables: tables is not allowed"]);
  assert.deepEqual(shown(), ["a idle", "i-1 good"]);
});

test("what was read stays when it cannot be read again", async () => {
  const { reader, state, shown } = account({ balancers: [balancer("a")], tags: { a: ours } });
  assert.deepEqual(await reader.refresh(), []);
  state.denied = ["list"];
  assert.deepEqual(await reader.refresh(), ["load balancers: list is not allowed"]);
  assert.ok(shown().includes("a idle"));
});

test("load balancers of other clusters in the VPC are not called left over; whose they are is asked once", async () => {
  const groups = [{ TargetGroupArn: "tg", TargetGroupName: "tg", VpcId: vpc, LoadBalancerArns: ["other"] }];
  const { reader, state, shown, asked } = account({ balancers: [balancer("a"), balancer("other")], groups, tags: { a: ours } });
  await reader.refresh();
  await reader.refresh();
  assert.deepEqual(shown(), ["a idle", "i-1 good"]);
  assert.equal(asked("tags"), 2);
  state.balancers = [balancer("a"), balancer("other"), balancer("new")];
  await reader.refresh();
  assert.equal(asked("tags"), 3);
});

test("nothing is called left over whose owner cannot be told", async () => {
  const { reader, shown } = account({ balancers: [balancer("a")], denied: ["tags"] });
  assert.deepEqual(await reader.refresh(), ["tags of load balancers: tags is not allowed"]);
  assert.deepEqual(shown(), ["a good", "i-1 good"]);
});

test("listeners and health are read of what is looked at, and no longer when nobody has for a while", async () => {
  const { reader, state, time, shown, asked } = account({ balancers: [balancer("a"), balancer("b")], tags: { a: ours, b: ours } });
  await reader.refresh();
  assert.equal(asked("listeners"), 0);
  await reader.open(["a"]);
  await reader.open(["a"]);
  assert.equal(asked("listeners"), 1, "to look on costs nothing");
  assert.ok(shown().includes("a/listener good"));
  await reader.refresh();
  assert.equal(asked("listeners"), 2);
  time.now = 120_000;
  await reader.refresh();
  assert.equal(asked("listeners"), 2);
  assert.ok(!shown().includes("a/listener good"));
  await reader.open(["a"]);
  state.balancers = [balancer("b")];
  await reader.refresh();
  await reader.refresh();
  assert.equal(asked("listeners"), 3, "one that is gone is not asked for");
});

test("of a load balancer with very many target groups not all are read, but the one that is looked at is", async () => {
  const groups = Array.from({ length: 100 }, (_, n) => ({ TargetGroupArn: `tg-${n}`, VpcId: vpc, LoadBalancerArns: ["a"] }));
  const { reader, asked } = account({ balancers: [balancer("a")], groups, tags: { a: ours } });
  await reader.refresh();
  await reader.open(["tg-99"]);
  assert.equal(asked("targetHealth"), 41);
});

test("a disk without the cluster's tag is shown where something of ours leads to it", async () => {
  const volumes = ["vol-attached", "vol-of-others", "vol-left"];
  const { reader, shown } = account({ volumes, tags: { "vol-left": ours } });
  await reader.refresh();
  assert.deepEqual(shown(), ["i-1 good", "vol-attached good", "vol-left idle"]);
});
