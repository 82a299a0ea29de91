/** A cluster in an account in which nothing passes notices on yet, and the command that sets that up. */
import "../../src/aws/sdk/autoscaling.ts";
import "../../src/aws/sdk/ec2.ts";
import "../../src/aws/sdk/events.ts";
import "../../src/aws/sdk/iam.ts";
import "../../src/aws/sdk/sqs.ts";
import "../../src/aws/sdk/sts.ts";
import { eventual } from "../../src/aws/testing/eventual.ts";
import { setup } from "../../src/commands/interruptions/setup.ts";
import { createAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/groups.ts";
import { autoScalingOf } from "../../src/sandbox/cloud/autoscaling/state.ts";
import { rules } from "../../src/sandbox/cloud/events/bus.ts";
import { type InterruptionWorld, interruptionWorld } from "./interruption-world.ts";

/** A cluster with a group of two instances, and nothing that notices could come by. */
export async function setupBed() {
  const w = await interruptionWorld();
  rules(w.aws.account).delete("all");
  const as = autoScalingOf(w.aws.account);
  createAutoScalingGroup(as, {
    AutoScalingGroupName: "workers",
    VPCZoneIdentifier: w.network.privateSubnetIds.join(","),
    MinSize: 0,
    MaxSize: 10,
    DesiredCapacity: 2,
    Tags: [{ Key: "kubernetes.io/cluster/test", Value: "owned", PropagateAtLaunch: true }],
    launch: { ImageId: "ami-0123456789abcdef0", InstanceType: "m5.large" } as never,
  });
  await w.world.advance(120_000);
  w.aws.account.time.settle();
  return { w, as };
}

/** Runs the command with these flags. */
export async function runSetup(w: InterruptionWorld, ...flags: readonly string[]) {
  let [out, err] = ["", ""];
  const console = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
    columns: 0,
    watched: false,
  };
  const argv = ["--cluster-name=test", `--region=${w.aws.account.region}`, ...flags];
  const invocation = { argv, world: w.world, console, stopSignal: () => new AbortController().signal };
  return { status: await eventual(w.world, setup(invocation, w.aws.handle)), out, err };
}
