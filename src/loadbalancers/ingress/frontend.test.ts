/** What a group says about the network load balancer in front of its own, put together. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bed, ingress, settings } from "./ingress.fixture.ts";

const enabled = { "enable-frontend-nlb": "true" };

function of(rows: readonly Readonly<Record<string, string>>[], given: Parameters<typeof bed>[0] = {}) {
  const members = rows.map((annotations, i) => ingress(`a/${"xyz"[i]}`, { annotations: { "group.name": "g", ...annotations } }));
  const { frontend, faults } = bed(given).desire(...members);
  return {
    model: frontend?.model,
    ports: [...(frontend?.ports.values() ?? [])],
    listeners: frontend?.model.listeners.map(({ port }) => port),
    fault: (key: string) => faults.get(key)?.join("; ") ?? "",
  };
}

test("ports: all of the Ingress's own, or those that it maps; two who lead one port elsewhere are told", () => {
  assert.equal(of([{}]).model, undefined);
  const two = of([{ ...enabled, "listen-ports": '[{"HTTP":80},{"HTTP":8080}]' }]);
  assert.deepEqual(
    [two.listeners, two.ports],
    [
      [80, 8080],
      [80, 8080],
    ],
  );
  const mapped = of([{ ...enabled, "frontend-nlb-listener-port-mapping": "443=80,9=77" }]);
  assert.deepEqual([mapped.listeners, mapped.ports], [[443], [80]], "a port that nobody listens on leads nowhere");
  const conflict = of([
    { ...enabled, "listen-ports": '[{"HTTP":80}]', "frontend-nlb-listener-port-mapping": "443=80" },
    { "listen-ports": '[{"HTTP":81}]', "frontend-nlb-listener-port-mapping": "443=81" },
  ]);
  assert.match(
    conflict.fault("a/y"),
    /failed to merge NLB listenPort config for port: 443: conflicting Target Port, config 2: 81, previous: 80/,
  );
  assert.deepEqual(of([{ ...enabled, "frontend-nlb-listener-port-mapping": "" }]).listeners, [80], "an empty mapping is none");
});

test("tags: those of the load balancer behind, or its own alone; scheme: the same, unless it says so", () => {
  const flags = { settings: { ...settings, defaultTags: { flag: "1" } } };
  assert.deepEqual([of([{ ...enabled, tags: "t=1" }], flags).model?.tags?.t, of([enabled], flags).model?.tags?.flag], ["1", "1"]);
  const own = of([{ ...enabled, tags: "t=1", "frontend-nlb-tags": "own=1" }], flags).model?.tags;
  assert.deepEqual([own?.own, own?.t, own?.flag], ["1", undefined, undefined], "as the reference has it");
  assert.match(
    of([{ ...enabled, "frontend-nlb-tags": "a=1" }, { "frontend-nlb-tags": "a=2" }]).fault("a/y"),
    /conflicting frontend NLB tags/,
  );
  assert.equal(of([{ ...enabled, scheme: "internet-facing" }]).model?.internal, false);
  assert.equal(of([{ ...enabled, "frontend-nlb-scheme": "internet-facing" }]).model?.internal, false);
  assert.match(
    of([{ ...enabled, "frontend-nlb-scheme": "internal" }, { "frontend-nlb-scheme": "internet-facing" }]).fault("a/y"),
    /conflicting scheme/,
  );
});

test("health checks and attributes: who says nothing follows who does, and two who differ are told", () => {
  const check = (...rows: readonly Readonly<Record<string, string>>[]) => of(rows.map((row) => ({ ...enabled, ...row })));
  assert.deepEqual(
    [
      check({}, { "frontend-nlb-healthcheck-path": "/up" }).model?.targetGroups[0]?.healthCheck.path,
      check({}).model?.targetGroups[0]?.healthCheck.healthyThreshold,
    ],
    ["/up", 2],
  );
  assert.equal(
    check({ "frontend-nlb-healthcheck-success-codes": "200" }, { "frontend-nlb-healthcheck-success-codes": "200" }).fault("a/y"),
    "",
  );
  assert.match(
    check({ "frontend-nlb-healthcheck-path": "/a" }, { "frontend-nlb-healthcheck-path": "/b" }).fault("a/y"),
    /failed to merge NLB listenPort config for port: 80: conflicting health check path: \/a \| \/b/,
  );
  const attributes = "load_balancing.cross_zone.enabled=true";
  assert.equal(check({ "frontend-nlb-attributes": attributes }, {}).fault("a/y"), "", "who says nothing contradicts nobody");
  assert.match(
    check({ "frontend-nlb-attributes": attributes }, { "frontend-nlb-attributes": "load_balancing.cross_zone.enabled=false" }).fault("a/y"),
    /conflicting frontend NLB attributes/,
  );
});

test("addresses: one per subnet, only towards the internet, the same for all; by the order of who says so first", () => {
  const open = { ...enabled, "frontend-nlb-scheme": "internet-facing", "frontend-nlb-subnets": "subnet-b,subnet-a" };
  const two = of([{ ...open, "frontend-nlb-eip-allocations": "eipalloc-1,eipalloc-2" }]);
  assert.deepEqual(two.model?.subnets, [
    { subnet: "subnet-b", allocation: "eipalloc-1" },
    { subnet: "subnet-a", allocation: "eipalloc-2" },
  ]);
  assert.match(
    of([
      { ...open, "frontend-nlb-eip-allocations": "eipalloc-1,eipalloc-2" },
      { "frontend-nlb-eip-allocations": "eipalloc-1,eipalloc-3" },
    ]).fault("a/y"),
    /all EIP allocations for the ingress group must be the same/,
  );
});
