import assert from "node:assert/strict";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { eventually } from "./eventually.ts";

/** Waits until the instances run: EC2 attaches no volume to one that has not booted. */
export async function booted(aws: Cloud, instances: readonly Instance[]): Promise<void> {
  await eventually(() => {
    aws.account.time.settle();
    for (const { id } of instances) assert.equal(aws.account.ec2.instances.get(id)?.state, "running");
  });
}
