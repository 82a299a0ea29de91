import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndpointSlice } from "../../kube/types.ts";
import { podState, samePod } from "./pods.ts";
import { endpointsState, sameEndpoints, sliceState } from "./slices.ts";

const metadata = { name: "web-1", namespace: "shop", uid: "u", resourceVersion: "1", labels: { "kubernetes.io/service-name": "web" } };
const slice = (endpoints: EndpointSlice["endpoints"], more: object = {}) =>
  sliceState({ metadata, addressType: "IPv4", ports: [{ name: "http", port: 8080 }], endpoints, ...more } as never);
const pod = { kind: "Pod", name: "web-1" };

test("endpoints are pods with an address; one that says nothing about its readiness is ready", () => {
  const { service, parts } = slice([
    { addresses: ["10.0.0.1"], targetRef: pod },
    { addresses: ["10.0.0.2", "10.0.0.3"], conditions: { ready: false, terminating: true }, targetRef: { ...pod, namespace: "other" } },
    { addresses: ["10.0.0.4"], targetRef: { kind: "VirtualMachine", name: "vm" } },
    { addresses: ["10.0.0.5"] },
    { addresses: [], targetRef: pod },
  ]);
  assert.deepEqual([service, parts[0]?.ports], ["web", [{ name: "http", port: 8080 }]]);
  assert.deepEqual(parts[0]?.endpoints, [
    { address: "10.0.0.1", ready: true, terminating: false, pod: "shop/web-1" },
    { address: "10.0.0.2", ready: false, terminating: true, pod: "other/web-1" },
  ]);
});

test("Endpoints tell the same in their own way: those that are not ready are neither ready nor ending", () => {
  const { service, parts } = endpointsState({
    metadata: { ...metadata, name: "web", labels: {} },
    subsets: [
      {
        addresses: [{ ip: "10.0.0.1", targetRef: pod }],
        notReadyAddresses: [{ ip: "10.0.0.2", targetRef: pod }, { ip: "10.0.0.3" }],
        ports: [{ port: 8080 }],
      },
    ],
  });
  assert.equal(service, "web");
  assert.deepEqual(parts[0]?.ports, [{ name: "", port: 8080 }]);
  assert.deepEqual(
    parts.flatMap(({ endpoints }) => endpoints.map(({ address, ready, terminating }) => [address, ready, terminating])),
    [
      ["10.0.0.1", true, false],
      ["10.0.0.2", false, false],
    ],
  );
});

test("a slice without the Service's label is nobody's, and one without ports or endpoints has none", () => {
  assert.equal(slice([], { metadata: { ...metadata, labels: {} } }).service, "");
  const [bare] = slice(undefined as never, { ports: null }).parts;
  assert.deepEqual([bare?.ports, bare?.endpoints], [[], []]);
});

test("a slice is news when its ports or endpoints change, and at no other time", () => {
  const one = slice([{ addresses: ["10.0.0.1"], targetRef: pod }]);
  assert.ok(sameEndpoints(one, { ...one, metadata: { ...one.metadata, resourceVersion: "2" } }));
  assert.ok(!sameEndpoints(one, slice([{ addresses: ["10.0.0.2"], targetRef: pod }])));
  assert.ok(!sameEndpoints(one, { ...one, parts: [{ ...one.parts[0]!, ports: [{ name: "http", port: 9090 }] }] }));
});

test("a pod is news when something that is read of it changes, and at no other time", () => {
  const state = (status: object, resourceVersion: string) =>
    podState({ metadata: { ...metadata, resourceVersion }, spec: { nodeName: "n" }, status } as never, "ID");
  const running = state({ podIP: "10.0.0.1", phase: "Running" }, "1");
  assert.ok(samePod(running, state({ podIP: "10.0.0.1", phase: "Running", qosClass: "Burstable" }, "2")));
  assert.ok(!samePod(running, state({ podIP: "10.0.0.2" }, "2")));
  assert.ok(!samePod(running, state({ podIP: "10.0.0.1", conditions: [{ type: "ContainersReady", status: "True" }] }, "2")));
});
