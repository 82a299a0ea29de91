/** The shipped policies against what serving Services with a class really takes: nothing is missing, nothing is for nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { classGrants } from "../../src/doctor/class-grants.ts";
import { classWorld } from "../bed/class-world.ts";
import { actionsIn, strictPolicy, usualPolicy } from "../bed/policies.ts";

const features = ["class-services", "target-group-bindings"];

/** What AWS checks without a call of ours. */
const unasked = new Set(classGrants.flatMap(({ also = [] }) => also));
const arn = (name: string) => `arn:aws:acm:us-east-1:123456789012:certificate/${name}`;

/** The life of Services in which everything happens that can. */
async function life(policy: typeof usualPolicy) {
  const world = await classWorld({ ipv6: true });
  world.aws.controls.change({ certificates: [arn("a"), arn("b")], policy: policy(world.aws, world.network, "test", ...features) });
  world.resetCalls();
  world.serve("--enable-leader-election=true");
  const settle = (ms = 120_000) => world.world.advance(ms);
  const [first, second] = world.network.privateSubnetIds;
  const ports = [
    { name: "http", port: 80, targetPort: 8080 },
    { name: "https", port: 443, targetPort: 8080 },
  ];
  await world.classService(
    "web",
    {
      "nlb-target-type": "ip",
      attributes: "load_balancing.cross_zone.enabled=true",
      "target-group-attributes": "deregistration_delay.timeout_seconds=30",
      "listener-attributes.TCP-80": "tcp.idle_timeout.seconds=400",
      "ssl-cert": `${arn("a")},${arn("b")}`,
      "ssl-ports": "https",
      "minimum-load-balancer-capacity": "CapacityUnits=100",
      "additional-resource-tags": "team=a,old=1",
      subnets: `${first}`,
    },
    { ports },
  );
  await settle(600_000);
  assert.notEqual(world.hostname("web"), "", `${world.lines.slice(-5).join("\n")}\n${world.events("web").join("\n")}`);
  await world.change("web", {
    attributes: "load_balancing.cross_zone.enabled=false",
    "ssl-cert": arn("a"),
    "alpn-policy": "HTTP2Only",
    "additional-resource-tags": "team=b",
    "healthcheck-healthy-threshold": "4",
    "ip-address-type": "dualstack",
    "inbound-sg-rules-on-private-link-traffic": "off",
    "/load-balancer-source-ranges": "10.0.0.0/8",
  });
  await settle();
  await world.change(
    "web",
    { subnets: `${first},${second}`, "ssl-ports": null, "ssl-cert": null, "alpn-policy": null },
    { ports: ports.slice(0, 1) },
  );
  await settle();
  await world.classService("bare", { "nlb-target-type": "ip", "disable-nlb-sg": "true" });
  await settle();
  for (const name of ["web", "bare"]) assert.doesNotMatch(world.events(name).join("\n"), /Failed|Unauthorized|AccessDenied/);
  for (const name of ["web", "bare"]) await world.drop(name);
  await world.until("gone", () => world.get("web") === undefined && world.get("bare") === undefined, 3_600_000);
  await settle(300_000);
  assert.deepEqual([world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length], [0, 0]);
  world.close();
  return world;
}

for (const [name, policy] of Object.entries({ usual: usualPolicy, strict: strictPolicy })) {
  test(`the ${name} policy allows all that Services of the class need, and nothing that they do not`, async () => {
    const world = await life(policy);
    const called = new Set(Object.keys(world.aws.controls.journal.counts()));
    assert.deepEqual(
      actionsIn("class-services").filter((action) => !called.has(action) && !unasked.has(action)),
      [],
      "allowed, and never called",
    );
    assert.deepEqual(
      [...called].filter((action) => !actionsIn(...features).includes(action)),
      [],
      "called, and not allowed",
    );
  });
}
