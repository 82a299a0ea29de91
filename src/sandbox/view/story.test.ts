import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeRow, picture } from "./fixture.ts";
import { type EventRow, emptied, type Picture } from "./picture.ts";
import { storyBetween } from "./story.ts";

test("nothing happened between two equal pictures", () => {
  assert.deepEqual(told(picture, picture), []);
});

test("a new world is told from its beginning", () => {
  assert.deepEqual(told(emptied(picture), picture), [
    "replicas: a holds the lease: it leads",
    "replicas: b is on standby",
    "AWS: 2 machines are running",
    "kubelet: ip-10-0-32-1 registers as a Node",
    "kubelet: ip-10-0-32-2 registers as a Node, tainted uninitialized",
  ]);
});

test("a Node that is initialised tells what was learnt of its machine", () => {
  const after = { ...picture, nodes: [nodeRow(1), nodeRow(2)] };
  assert.deepEqual(told(picture, after), ["Fairlead: ip-10-0-32-2 initialised: m5.large in us-east-1a at 10.0.32.2, taint removed"]);
});

test("a stopped machine is followed from EC2 through Kubernetes to the taint, and back", () => {
  const up = { ...picture, nodes: [nodeRow(1)] };
  const down = {
    ...picture,
    nodes: [{ ...nodeRow(1, { ready: "Unknown", taints: ["shutdown", "unreachable"] }), machine: "stopped" as const }],
  };
  assert.deepEqual(told(up, down), [
    "AWS: i-00000000000000001 is stopped",
    "Fairlead: ip-10-0-32-1 tainted shutdown: its machine is stopped",
    "Kubernetes: ip-10-0-32-1 is no longer Ready: its kubelet stopped reporting",
  ]);
  assert.deepEqual(told(down, up), [
    "AWS: i-00000000000000001 is running",
    "Fairlead: ip-10-0-32-1 freed of the taint shutdown: its machine is back",
    "kubelet: ip-10-0-32-1 is Ready",
  ]);
});

test("a Node of the same name with another UID is one that went and one that came", () => {
  const before = { ...picture, nodes: [nodeRow(1)] };
  const after = { ...picture, nodes: [nodeRow(1, { uid: "another" })] };
  assert.deepEqual(told(before, after), [
    "Fairlead: ip-10-0-32-1 is deleted: its machine is gone for good",
    "kubelet: ip-10-0-32-1 registers as a Node",
  ]);
});

test("the same Event about several Nodes is said once, and again when it is repeated", () => {
  const event = (number: number, count = 1): EventRow => ({
    uid: `event-${number}`,
    at: picture.now,
    warning: false,
    reason: "Synced",
    about: `node/ip-10-0-32-${number}.ec2.internal`,
    message: "Node synced successfully",
    count,
  });
  const once = { ...picture, events: [event(1), event(2)] };
  assert.deepEqual(told(picture, once), ["Event: Synced 2 nodes: Node synced successfully"]);
  assert.deepEqual(told(once, { ...picture, events: [event(1), event(2, 2)] }), [
    "Event: Synced node/ip-10-0-32-2: Node synced successfully",
  ]);
});

test("calls that AWS turned away are counted, and the last one is named", () => {
  const tallies = [{ action: "DescribeInstances", calls: 5, throttled: 3, failed: 0 }];
  assert.deepEqual(told(picture, { ...picture, throttling: true, calls: { ...picture.calls, tallies } }), [
    "AWS: answers every call with a throttling error from now on",
    "AWS: turns 2 calls away: DescribeInstances RequestLimitExceeded",
  ]);
});

test("a route that appears, moves or goes is told", () => {
  const routed = (...instances: readonly string[]) => ({
    ...picture,
    routes: instances.map((instanceId) => ({ destination: "10.244.1.0/24", instanceId })),
  });
  assert.deepEqual(told(picture, routed("i-1")), ["Fairlead: route 10.244.1.0/24 leads to i-1"]);
  assert.deepEqual(told(routed("i-1"), routed("i-2")), ["Fairlead: route 10.244.1.0/24 leads to i-2"]);
  assert.deepEqual(told(routed("i-2"), picture), ["Fairlead: route 10.244.1.0/24 removed from the VPC"]);
});

test("a Service is followed from its wish through its load balancer's health to its end", () => {
  const name = "default/web";
  const service = { name, kind: "network", ports: "80:31234", address: undefined, deleting: false };
  const served = { ...service, address: "web.elb.amazonaws.com" };
  const behind = (healthy: number): Picture => ({
    ...picture,
    services: [served],
    balancers: [{ kind: "network", dnsName: "web.elb.amazonaws.com", ports: [80], targets: 2, healthy, local: [] }],
  });
  assert.deepEqual(told(picture, { ...picture, services: [service] }), ["you: Service default/web asks for a network load balancer"]);
  assert.deepEqual(told({ ...picture, services: [service] }, behind(0)), [
    "Fairlead: Service default/web is served at web.elb.amazonaws.com",
  ]);
  assert.deepEqual(told(behind(0), behind(1)), []);
  assert.deepEqual(told(behind(1), behind(2)), ["AWS: all 2 nodes behind default/web are healthy: it serves"]);
  assert.deepEqual(told(behind(2), behind(1)), ["AWS: 1 of 2 nodes behind default/web are healthy"]);
  assert.deepEqual(told(behind(2), picture), ["Kubernetes: Service default/web is gone"]);
  const [balancer] = behind(2).balancers;
  const open = { ...behind(2), balancers: [{ ...balancer!, local: [{ port: 80, url: "http://127.0.0.1:4711" }] }] };
  assert.deepEqual(told(behind(2), open), ["AWS: port 80 of default/web is open to you: curl http://127.0.0.1:4711"]);
  assert.deepEqual(told(open, open), []);
});

test("each step that Fairlead takes is told once, with its reason, in words that can be read", () => {
  const ids = "i-00000000000000001, i-00000000000000002";
  const what = `register ${ids} with load balancer a95ec6ed61f784c33acec418756d947c`;
  const after = { ...picture, steps: [{ id: "a.1.1", at: picture.now, what, why: "eligible nodes of this Service" }] };
  assert.deepEqual(told(picture, after), ["Fairlead: register 2 machines with load balancer a95ec6ed…: eligible nodes of this Service"]);
  assert.deepEqual(told(after, after), []);
  const ports = {
    ...after.steps[0]!,
    id: "b.1",
    what: "register i-00000000000000001:30080, i-00000000000000002:30080 and 4 more with target group web",
  };
  assert.deepEqual(told(after, { ...after, steps: [...after.steps, ports] }), [
    "Fairlead: register 6 machines with target group web: eligible nodes of this Service",
  ]);
});

function told(before: Picture, after: Picture): readonly string[] {
  return storyBetween(before, after).map(({ who, text }) => `${who}: ${text}`);
}
