import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stored } from "../kube/resource.ts";
import type { Node } from "../kube/types.ts";
import { claimedAddresses, claimedInstance, isReady, nodeView, sameButVersion } from "./node-view.ts";

function view(node: { name?: string; providerID?: string; annotation?: string; status?: Node["status"]; resourceVersion?: string }) {
  const { name = "n", providerID, annotation, status, resourceVersion = "1" } = node;
  const annotations = annotation === undefined ? {} : { "alpha.kubernetes.io/provided-node-ip": annotation };
  return nodeView({ metadata: { name, uid: "u", resourceVersion, annotations }, spec: { providerID }, status } as Stored<Node>);
}

test("a Node claims the instance of its provider ID, else of its name, and an invalid provider ID claims none", () => {
  assert.equal(claimedInstance(view({ providerID: "aws:///us-east-1a/i-1" })), "i-1");
  assert.equal(claimedInstance(view({ name: "i-0123456789abcdef0.ec2.internal" })), "i-0123456789abcdef0");
  assert.equal(claimedInstance(view({ name: "i-2", providerID: "aws:///us-east-1a/vol-1" })), undefined);
  assert.equal(claimedInstance(view({ name: "i-2", providerID: "gce://project/zone/i-3" })), undefined);
  assert.equal(claimedInstance(view({ name: "web" })), undefined);
  assert.equal(claimedInstance(view({ name: "i-love-linux" })), undefined);
});

test("the addresses a kubelet was told to use go before those it reports, in canonical text", () => {
  const status = {
    addresses: [
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "ExternalIP", address: "1.2.3.4" },
    ],
  };
  assert.deepEqual(claimedAddresses(view({ status })), ["10.0.0.1"]);
  assert.deepEqual(claimedAddresses(view({ status, annotation: "10.0.0.9,2001:DB8::0001" })), ["10.0.0.9", "2001:db8::1"]);
  assert.deepEqual(claimedAddresses(view({ status, annotation: "banana" })), []);
});

test("only Ready=True is ready", () => {
  for (const [status, expected] of [
    ["True", true],
    ["False", false],
    ["Unknown", false],
  ] as const) {
    assert.equal(isReady(view({ status: { conditions: [{ type: "Ready", status }] } })), expected);
  }
  assert.equal(isReady(view({})), false);
});

test("a heartbeat is no change", () => {
  const beat = (at: string, status: string, resourceVersion: string) =>
    view({ resourceVersion, status: { conditions: [{ type: "Ready", status, lastHeartbeatTime: at, message: at }] } });
  assert.ok(sameButVersion(beat("1", "True", "1"), beat("2", "True", "2")));
  assert.ok(!sameButVersion(beat("1", "True", "1"), beat("2", "False", "2")));
});
