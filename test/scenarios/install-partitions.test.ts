/** The shipped policies in each of AWS's partitions, whose ARNs and domains differ. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { strictPolicy, usualPolicy } from "../bed/policies.ts";
import { serviceWorld } from "../bed/service-world.ts";

/** A region of each partition, and what the host names of its load balancers end in. */
const partitions: Readonly<Record<string, readonly [partition: string, domain: string]>> = {
  "us-west-2": ["aws", "us-west-2.amazonaws.com"],
  "cn-north-1": ["aws-cn", "cn-north-1.amazonaws.com.cn"],
  "us-gov-west-1": ["aws-us-gov", "us-gov-west-1.amazonaws.com"],
  "us-iso-east-1": ["aws-iso", "us-iso-east-1.c2s.ic.gov"],
  "us-isob-east-1": ["aws-iso-b", "us-isob-east-1.sc2s.sgov.gov"],
  "eu-isoe-west-1": ["aws-iso-e", "eu-isoe-west-1.cloud.adc-e.uk"],
  "us-isof-south-1": ["aws-iso-f", "us-isof-south-1.csp.hci.ic.gov"],
  "eusc-de-east-1": ["aws-eusc", "eusc-de-east-1.amazonaws.eu"],
};

for (const [region, [partition, domain]] of Object.entries(partitions)) {
  test(`in ${region}, partition ${partition}, the shipped policies let load balancers be made and removed`, async (t) => {
    for (const policy of [usualPolicy, strictPolicy]) {
      const world = await serviceWorld({ region, nodes: 1, config: "NLBSecurityGroupMode=Managed" });
      t.after(() => world.close());
      const before = world.snapshot();
      world.aws.controls.change({ policy: policy(world.aws, world.network, "test", "load-balancers") });
      world.start();
      await world.create("classic");
      await world.create("network", { annotations: { type: "nlb" } });
      await world.published("classic", "network").catch((error: unknown) => {
        throw new Error([...world.events("classic"), ...world.events("network")].join("\n"), { cause: error });
      });
      assert.ok(world.hostname("network")?.endsWith(`.elb.${domain}`), String(world.hostname("network")));
      assert.equal(world.aws.account.partition, partition);
      for (const name of ["classic", "network"]) await world.delete(name);
      for (const name of ["classic", "network"]) await world.gone(name);
      assert.deepEqual(world.differences(before), []);
    }
  });
}
