/** Rule 1 with real processes: graces of minutes pass in seconds, and no Node is deleted whose instance lives. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { bed, eventually } from "../bed/bed.ts";
import { asTheReferenceLeavesIt, join, type NodeAccount, nodeAccount, report } from "./node-account.ts";

/** Longer than any grace: ten minutes of a Node's age and five of misses, sixty times as fast. */
const longerThanAnyGraceMs = 22_000;

const troubles: Readonly<Record<string, (account: NodeAccount) => () => void>> = {
  "connection resets": ({ cloud }) => {
    const id = cloud.controls.faults.add({ action: "ec2:*", effect: { kind: "cut" } });
    return () => cloud.controls.faults.remove(id);
  },
  "an account that knows none of them": ({ cloud }) => {
    const { instances } = cloud.account.ec2;
    const ours = instances.values();
    for (const { id } of ours) instances.delete(id);
    return () => {
      for (const instance of ours) instances.put(instance.id, instance);
    };
  },
};

for (const [name, trouble] of Object.entries(troubles)) {
  test(`twenty nodes that are not ready outlive ${name}, and go when their instances are terminated`, async (t) => {
    const { cluster, process: run } = await bed(t);
    const account = await nodeAccount(t, cluster);
    const instances = account.launch(20);
    for (const instance of instances) {
      await join(cluster, instance, asTheReferenceLeavesIt(instance, "10.0.0.1"));
      await report(cluster, instance.privateDnsName, "Unknown");
    }
    const end = trouble(account);
    const kubeconfig = await (await cluster.fairlead()).kubeconfig();
    const flags = ["--cloud-provider=aws", `--cloud-config=${account.cloudConfig}`, `--kubeconfig=${kubeconfig}`, "--secure-port=0"];
    const process = await run(
      new URL("./node-hurried.ts", import.meta.url),
      ["controller-manager", ...flags, "--leader-elect=false", "--controllers=cloud-node-lifecycle", "--node-monitor-period=30s"],
      { environment: { ...account.environment, ...keys } },
    );
    await process.says(/Started \\"cloud-node-lifecycle-controller/);
    const asked = () => account.cloud.controls.journal.calls("ec2:DescribeInstances");
    await eventually(() => assert.ok(asked() > 0, "EC2 is asked about them"));
    const before = asked();
    // There is no condition to wait for: that nothing happens is the point.
    await pause(longerThanAnyGraceMs);
    assert.ok(asked() > before, "EC2 is asked about them all the while");
    assert.equal((await cluster.nodeNames()).length, 20);
    end();
    for (const { id } of instances) account.setState(id, "terminated");
    await eventually(async () => assert.deepEqual(await cluster.nodeNames(), []), 30_000);
  });
}

const keys = { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "of-no-worth", AWS_EC2_METADATA_DISABLED: "true" };
