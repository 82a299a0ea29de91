/** The policy of load balancers against what the controller of Services really calls. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import type { PolicyDocument } from "../../deploy/iam/policies.ts";
import { certificate, type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

const policy = JSON.parse(readFileSync(new URL("../../deploy/iam/load-balancers.json", import.meta.url), "utf8")) as PolicyDocument;
const shipped = [...new Set(policy.Statement.flatMap(({ Action }) => Action))].sort();

/** Checked with a create, or asked for by AWS itself: no call of their own need be seen. */
const implicit = ["ec2:CreateTags", "iam:CreateServiceLinkedRole"];

async function busyServices(t: TestContext, allowed: readonly string[], config = ""): Promise<ServiceWorld> {
  const world = await serviceWorld({ config });
  t.after(() => world.close());
  world.aws.controls.change({ policy: [{ effect: "allow", actions: allowed }] });
  world.aws.controls.journal.resetCounts();
  world.start();
  return world;
}

/** Services of both kinds are made, changed in every way, and deleted. */
async function live(world: ServiceWorld, patienceMs = 600_000): Promise<void> {
  const { publicSubnetIds, nodeGroupId } = world.network;
  const [leaving] = world.instances.keys();
  const before = world.snapshot();
  await world.create("classic", {
    annotations: {
      "ssl-cert": certificate,
      "ssl-ports": "443",
      "backend-protocol": "http",
      "proxy-protocol": "*",
      subnets: publicSubnetIds.slice(0, 2).join(","),
    },
    spec: {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 443 },
      ],
    },
  });
  await world.create("network", {
    annotations: { type: "nlb" },
    spec: {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81 },
      ],
    },
  });
  await world.published("classic", "network");

  await world.edit(
    "classic",
    {
      "cross-zone-load-balancing-enabled": "true",
      "ssl-negotiation-policy": "ELBSecurityPolicy-TLS-1-2-2017-01",
      "extra-security-groups": nodeGroupId,
      "additional-resource-tags": "team=a",
      subnets: publicSubnetIds.slice(1).join(","),
      "healthcheck-interval": "20",
    },
    {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 443 },
        { name: "c", port: 8080 },
      ],
    },
  );
  await world.edit(
    "network",
    {
      "cross-zone-load-balancing-enabled": "true",
      "target-group-attributes": "preserve_client_ip.enabled=false",
      "healthcheck-healthy-threshold": "4",
      "additional-resource-tags": "team=a",
    },
    {
      ports: [
        { name: "a", port: 80 },
        { name: "c", port: 82 },
      ],
    },
  );
  await world.world.advance(60_000);
  await world.leave(leaving!);
  await world.edit(
    "network",
    { "security-groups": nodeGroupId },
    {
      ports: [
        { name: "a", port: 80 },
        { name: "c", port: 82, protocol: "TCP" },
      ],
    },
  );
  await world.edit("network", { "ssl-cert": certificate, "ssl-ports": "82" });
  await world.edit("classic", {}, { ports: [{ name: "a", port: 80 }] });
  await world.world.advance(60_000);
  for (const name of ["classic", "network"]) await world.delete(name);
  for (const name of ["classic", "network"]) await world.gone(name, patienceMs);
  assert.deepEqual(world.differences(before), []);
}

/** Network load balancers without groups of their own share rules in the nodes' group; one becomes a classic one. */
async function share(world: ServiceWorld, patienceMs = 600_000): Promise<void> {
  const before = world.snapshot();
  for (const name of ["one", "two"])
    await world.create(name, { annotations: { type: "nlb", "type-change": "replace", "healthcheck-port": "10256" } });
  await world.published("one", "two");
  await world.delete("one");
  await world.gone("one", patienceMs);
  const first = world.hostname("two");
  await world.edit("two", { type: null });
  await world.until("the classic one serves", () => world.hostname("two") !== first, patienceMs);
  await world.delete("two");
  await world.gone("two", patienceMs);
  assert.deepEqual(world.differences(before), []);
}

test("under the policy of load balancers everything is done, and every action it allows is used", async (t) => {
  const managed = await busyServices(t, shipped, "NLBSecurityGroupMode=Managed");
  const shared = await busyServices(t, shipped);
  await live(managed);
  await share(shared);
  const counts = [managed, shared].flatMap(({ aws }) => Object.entries(aws.controls.journal.counts()));
  assert.deepEqual([...new Set([...counts.map(([action]) => action), ...implicit])].sort(), shipped);
  assert.deepEqual(
    counts.filter(([, results]) => "AccessDenied" in results || "UnauthorizedOperation" in results),
    [],
  );
});

for (const missing of shipped) {
  test(`without ${missing} the work is not done, and Events of the Services concerned name exactly that action`, async (t) => {
    const allowed = shipped.filter((action) => action !== missing);
    const events: string[] = [];
    for (const [config, work] of [
      ["NLBSecurityGroupMode=Managed", live],
      ["", share],
    ] as const) {
      const world = await busyServices(t, allowed, config);
      await work(world, 200_000).catch(() => {});
      events.push(...["classic", "network", "one", "two"].flatMap((name) => world.events(name)));
    }
    const said = events.filter((event) => event.includes("; allow "));
    assert.deepEqual([...new Set(said.flatMap((event) => event.match(/allow ([a-z0-9]+:\w+)/)?.[1] ?? []))], [missing]);
    for (const event of said) assert.match(event, /^Warning \w+: .*(AccessDenied|UnauthorizedOperation): .*\[request id [\w-]+\]/);
  });
}
