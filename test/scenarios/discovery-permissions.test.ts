/** The shipped policy and roles of the discoverer against what it really does: nothing is missing, nothing is for nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { discoveryWorld } from "../bed/discovery-world.ts";
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
