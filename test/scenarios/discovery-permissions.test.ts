/** The shipped policy and roles of the discoverer against what it really does: nothing is missing, nothing is for nothing. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import type { PolicyRule } from "../../src/kube/types.ts";
import { clusterId, type DiscoveryWorld, discoveryWorld } from "../bed/discovery-world.ts";
import { actionsIn, strictPolicy, usualPolicy } from "../bed/policies.ts";

for (const [variant, policyOf] of Object.entries({ default: usualPolicy, strict: strictPolicy })) {
  test(`the ${variant} policy allows all that the discoverer does, and nothing that it never does`, async () => {
    const world = await discoveryWorld();
    const zoneToSubnetIdMap = { "us-east-1a": world.network.publicSubnetIds[0] };
    await world.infrastructure({ zoneToSubnetIdMap, instances: { ami: "ami-0123456789abcdef0" } });
    world.aws.controls.change({ policy: policyOf(world.aws, world.network, "test", "discovery") });
    world.aws.controls.journal.resetCounts();
    await world.once();
    const counts = world.aws.controls.journal.counts();
    assert.deepEqual(
      Object.entries(counts).filter(([, outcomes]) => outcomes.UnauthorizedOperation !== undefined),
      [],
    );
    assert.deepEqual(
      [...actionsIn("discovery")].filter((action) => counts[action] === undefined),
      [],
    );
  });
}

/** A request as roles know it. */
function grantOf(request: string): string {
  const [, method = "", group = "", resource = "", name] =
    /^(\w+) \/(?:api|apis\/([^/]+))\/v1(?:alpha1)?\/(?:namespaces\/[^/]+\/)?([a-z]+)(?:\/([^/]+))?$/.exec(request) ?? [];
  const verb = { GET: name === undefined ? "list" : "get", POST: "create", PATCH: "patch" }[method];
  // Roles name the objects of namespaces only.
  return [verb, resource, group === "" && resource !== "persistentvolumes" ? name : undefined].filter(Boolean).join(" ");
}

function grantsOf({ resources = [], verbs, resourceNames }: PolicyRule): readonly string[] {
  return verbs.flatMap((verb) =>
    resources.flatMap((resource) => (resourceNames ?? [""]).map((name) => `${verb} ${resource} ${name}`.trim())),
  );
}

/** A disk for which PersistentVolumes are looked through. */
function anyDisk({ aws }: DiscoveryWorld): void {
  const { ec2, ids, time } = aws.account;
  const id = ids.resource("vol");
  const tags = { "ebs.csi.aws.com/cluster": "true", [`kubernetes.io/cluster/${clusterId}`]: "owned" };
  const spec = { type: "gp3", sizeGiB: 1, iops: 3000, throughput: 125, multiAttach: false };
  ec2.volumes.put(id, {
    id,
    state: "available",
    zone: "us-east-1a",
    created: time.now(),
    attachments: [],
    modified: [],
    spec,
    tags,
  } as never);
}

test("each verb of the shipped roles is used, and nothing else is asked of the API server", async () => {
  const text = readFileSync(new URL("../../deploy/manifests/cloud-data-discoverer.yaml", import.meta.url), "utf8");
  const objects = parseAllDocuments(text).map((document) => document.toJS() as { kind: string; rules?: PolicyRule[] } | null);
  const rules = objects.flatMap((each) => (each?.kind === "Role" || each?.kind === "ClusterRole" ? (each.rules ?? []) : []));
  // Those are the proxy's.
  const granted = rules.flatMap(grantsOf).filter((grant) => !/reviews$/.test(grant));

  const world = await discoveryWorld();
  world.aws.controls.deny("ec2:DescribeInstanceTopology");
  anyDisk(world);
  await world.once();
  world.aws.controls.deny("ec2:DescribeAddressesAttribute");
  world.offer(1);
  await world.once();
  assert.deepEqual([...new Set([...world.requests].map(grantOf))].sort(), [...new Set(granted)].sort());
});
