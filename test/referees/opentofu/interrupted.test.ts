/** Steps that end in the middle, because AWS refuses one of their calls: what was made is known, gone on with, and taken away in the end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutBed } from "./bed.ts";
import { configuration, inputs, layouts } from "./inputs.ts";

const region = "eu-central-1";

for (const [layout, making, ending] of [
  [layouts[0], ["ec2:CreateRoute", "iam:PutRolePolicy"], ["ec2:RevokeSecurityGroupIngress", "ec2:DeleteSubnet"]],
  [layouts[2], ["ec2:CreateNatGateway", "ec2:AuthorizeSecurityGroupIngress"], ["ec2:DeleteNatGateway", "ec2:ReleaseAddress"]],
] as const) {
  test(`${layout.name}: a base, a master and their end that are each refused in the middle leave nothing behind`, async (t) => {
    const bed = await layoutBed(t, region);
    const [base, master] = [bed.base(layout), bed.master(layout, 0)];
    const step = (more = {}) => inputs(configuration(layout, region), more);
    const without = async (actions: readonly string[], work: () => Promise<void>) => {
      const lift = bed.cloud.controls.deny(...actions);
      await assert.rejects(work(), /not authorized/);
      lift();
    };
    await without(making, () => base.apply(step()));
    await base.apply(step());
    assert.deepEqual(await base.plan(step()), {});
    // The volume of a master is made before its instance.
    await without(["ec2:RunInstances"], () => master.apply(step({ nodeIndex: 0 })));
    await without(["ec2:AttachVolume"], () => master.apply(step({ nodeIndex: 0 })));
    await master.apply(step({ nodeIndex: 0 }));
    assert.deepEqual(await master.plan(step({ nodeIndex: 0 })), {});
    await without(["ec2:DeleteVolume"], () => master.destroy(step({ nodeIndex: 0 })));
    await master.destroy(step({ nodeIndex: 0 }));
    await without(ending, () => base.destroy(step()));
    await base.destroy(step());
    assert.deepEqual(bed.leftOver(), []);
  });
}
