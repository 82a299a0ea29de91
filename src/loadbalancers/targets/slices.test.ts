import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointsState } from "./slices.ts";

const metadata = { name: "web", namespace: "shop", uid: "1", resourceVersion: "1" };
const pod = (ip: string, name: string) => ({ ip, targetRef: { kind: "Pod", name } });

test("Endpoints are read as slices: one part for each set of ports and family, and who is not ready is known", () => {
  const subsets = [
    { addresses: [pod("10.0.0.1", "a"), pod("fd00::1", "a"), { ip: "10.0.0.9" }], ports: [{ name: "http", port: 8080 }] },
    { notReadyAddresses: [pod("10.0.0.2", "b")], ports: [{ port: 9090 }] },
  ];
  const { service, parts } = endpointsState({ metadata, subsets });
  assert.equal(service, "web");
  assert.deepEqual(parts, [
    {
      addressType: "IPv4",
      ports: [{ name: "http", port: 8080 }],
      endpoints: [{ address: "10.0.0.1", ready: true, terminating: false, pod: "shop/a" }],
    },
    {
      addressType: "IPv6",
      ports: [{ name: "http", port: 8080 }],
      endpoints: [{ address: "fd00::1", ready: true, terminating: false, pod: "shop/a" }],
    },
    {
      addressType: "IPv4",
      ports: [{ name: "", port: 9090 }],
      endpoints: [{ address: "10.0.0.2", ready: false, terminating: false, pod: "shop/b" }],
    },
  ]);
  assert.deepEqual(endpointsState({ metadata }).parts, []);
});
