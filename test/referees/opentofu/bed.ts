/** A simulated account in which OpenTofu runs the steps of the layouts, with the stand-in provider. */
import type { TestContext } from "node:test";
import type { Cloud } from "../../../src/sandbox/cloud/cloud.ts";
import { compareSnapshots } from "../../../src/sandbox/cloud/controls/compare.ts";
import { cloudBed } from "../../../src/sandbox/cloud/testing.ts";
import { type Aws, awsOf } from "./aws/account.ts";
import type { Layout } from "./inputs.ts";
import { standInProvider } from "./provider.ts";
import { type Step, startTofu } from "./tofu.ts";

export interface LayoutBed {
  readonly cloud: Cloud;
  readonly aws: Aws;
  /** The step that is run once per cluster. */
  base(layout: Layout): Step;
  /** The step of one master. */
  master(layout: Layout, index: number): Step;
  /** The step of one node of a permanent group. */
  node(layout: Layout, group: string, index: number): Step;
  /** What differs from the account at the start, once AWS has forgotten what it remembers of things that are gone. */
  leftOver(): readonly object[];
}

export async function layoutBed(t: Pick<TestContext, "after">, region = "eu-central-1"): Promise<LayoutBed> {
  // Six nodes with Elastic IP addresses are more than AWS allows an account that has not asked for more.
  const { cloud, world } = cloudBed({ region, settings: { checkInstanceProfiles: true, quotas: { addresses: 20 } } });
  const aws = awsOf(cloud, (ms) => world.pass(ms));
  const tofu = await startTofu(t, await standInProvider(aws));
  const before = cloud.controls.snapshot();
  return {
    cloud,
    aws,
    base: ({ folder }) => tofu.step(`${folder}-base`, `layouts/${folder}/base-infrastructure`),
    master: ({ folder }, index) => tofu.step(`${folder}-master-${index}`, `layouts/${folder}/master-node`),
    node: ({ folder }, group, index) => tofu.step(`${folder}-${group}-${index}`, `layouts/${folder}/static-node`),
    leftOver() {
      world.pass(24 * 3_600_000);
      cloud.account.time.settle();
      return compareSnapshots(before, cloud.controls.snapshot());
    },
  };
}
