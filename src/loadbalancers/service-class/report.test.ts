import assert from "node:assert/strict";
import { test } from "node:test";
import type { PublishedAddress, SeenService } from "../service-state.ts";
import { Report } from "./report.ts";

const hostname = "k8s-shop-web-0.elb.us-east-1.amazonaws.com";
const port = (number: number) => ({ name: "", protocol: "TCP", port: number, targetPort: 8080, nodePort: 0 });
const seen = (published: readonly PublishedAddress[], ports = [80, 443]): SeenService =>
  ({
    metadata: { name: "web", namespace: "shop", uid: "u-1", resourceVersion: "1" },
    view: { ports: ports.map(port), finalizers: [] },
    published,
  }) as unknown as SeenService;
const shown = (ports: readonly number[], more: Partial<PublishedAddress> = {}): PublishedAddress => ({ hostname, ip: "", ports, ...more });

/** What is written to the status of such a Service. */
async function published(service: SeenService): Promise<readonly unknown[]> {
  const patches: unknown[] = [];
  const kube = { patch: async (_of: unknown, where: unknown, { merge }: { merge: unknown }) => void patches.push([where, merge]) };
  const told = await new Report({ kube, recorder: undefined } as never).publish(service, hostname, new AbortController().signal);
  assert.equal(told, patches.length > 0);
  return patches;
}

test("an address is published with all ports of the Service, in their order", async () => {
  const ports = [
    { port: 80, protocol: "TCP" },
    { port: 443, protocol: "TCP" },
  ];
  assert.deepEqual(await published(seen([])), [
    [{ namespace: "shop", name: "web", subresource: "status" }, { status: { loadBalancer: { ingress: [{ hostname, ports }] } } }],
  ]);
});

test("nothing is written where the address and every port are published, in whichever order", async () => {
  assert.deepEqual(await published(seen([shown([443, 80])])), []);
});

test("another number of ports, another port, no ports, an IP, another name or a second entry is put right", async () => {
  const wrong: readonly (readonly PublishedAddress[])[] = [
    [shown([80])],
    [shown([80, 443, 8443])],
    [shown([80, 8443])],
    [shown([])],
    [shown([80, 443], { ip: "10.0.0.1" })],
    [shown([80, 443], { hostname: "other" })],
    [shown([80, 443]), shown([80, 443])],
  ];
  for (const each of wrong) assert.equal((await published(seen(each))).length, 1, JSON.stringify(each));
});
