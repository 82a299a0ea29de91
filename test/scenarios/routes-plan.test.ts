/** `fairlead plan routes` and `fairlead explain node/NAME`, against a cluster and an account in one process. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import "../../src/routes/controller.ts";
import { explainService } from "../../src/commands/explain.ts";
import { plan } from "../../src/commands/plan.ts";
import { command } from "../bed/command.ts";
import { type NodeWorld, nodeWorld } from "../bed/node-world.ts";

const cidr = "--cluster-cidr=10.200.0.0/16";

async function routed(t: TestContext): Promise<{ world: NodeWorld; name: string; instanceId: string }> {
  const world = await nodeWorld();
  t.after(() => world.close());
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { taints: [] });
  await world.say("PATCH", `/api/v1/nodes/${name}`, { spec: { podCIDR: "10.200.0.0/24", podCIDRs: ["10.200.0.0/24"] } });
  return { world, name, instanceId: instance!.id };
}

test("plan routes prints what the controller then does, and nothing once it is done", async (t) => {
  const { world, name, instanceId } = await routed(t);
  const before = await command(world, plan, "routes", cidr);
  assert.equal(before.status, 2, before.err);
  assert.match(before.out, /^routes: 2 steps$/m);
  assert.match(before.out, new RegExp(`~ turn the source/destination check off on ${instanceId}`));
  assert.match(
    before.out,
    new RegExp(`\\+ create route 10.200.0.0/24 to ${instanceId} in route table rtb-\\w+ {2}\\(node ${name} has this pod CIDR\\)`),
  );
  assert.equal(world.calls("CreateRoute"), 0, "a plan is only read");
  const json = JSON.parse((await command(world, plan, "routes", cidr, "-o", "json")).out) as { routes: { action: string }[] };
  assert.deepEqual(
    json.routes.map(({ action }) => action),
    ["ec2:ModifyInstanceAttribute", "ec2:CreateRoute"],
  );

  world.start("--controllers=node-route-controller", cidr);
  await world.until("the route is there", () => world.calls("CreateRoute") === 1);
  await world.world.advance(5_000);
  assert.deepEqual([world.calls("ModifyInstanceAttribute"), world.calls("CreateRoute")], [1, 1], "the plan was carried out");
  const after = await command(world, plan, "routes", cidr);
  assert.deepEqual([after.status, after.out], [0, "routes: nothing to do\n"]);
});

test("plan routes without the pod CIDRs says what to give", async (t) => {
  const { world } = await routed(t);
  const { status, err } = await command(world, plan, "routes");
  assert.equal(status, 1);
  assert.match(err, /--cluster-cidr=10\.244\.0\.0\/16/);
});

test("a page explains a node: its machine, its addresses, its routes", async (t) => {
  const { world, name, instanceId } = await routed(t);
  world.start("--controllers=cloud-node,route", cidr);
  await world.until("it is routed", () => world.calls("CreateRoute") === 1);
  await world.world.advance(5_000);
  const { status, out, err } = await command(world, explainService, `node/${name}`, cidr);
  assert.equal(status, 0, err);
  assert.match(out, new RegExp(`identity +${instanceId}, m5.large in us-east-1\\w, running, known by its provider ID`));
  assert.match(out, /addresses +InternalIP 10\.0\./);
  assert.match(out, new RegExp(`10.200.0.0/24 leads to ${instanceId} in route table rtb-\\w+, active$`, "m"));
  assert.match(out, /NetworkUnavailable False \(RouteCreated\)/);
  assert.match(out, /next +nothing/);
});

test("a page about a node tells what the doctor would: a tag too many, and what to do about it", async (t) => {
  const { world, name, instanceId } = await routed(t);
  world.start("--controllers=cloud-node");
  await world.world.advance(30_000);
  const { instances } = world.aws.account.ec2;
  instances.update(instanceId, { tags: { ...instances.get(instanceId)!.tags, "kubernetes.io/cluster/other": "owned" } });
  const { out } = await command(world, explainService, `node/${name}`);
  assert.match(out, / wrong +instances: tagged for \w+ and for another cluster too: i-\w+ \(other\)/);
  assert.match(out, / next +aws ec2 delete-tags --resources i-\w+ --tags Key=kubernetes\.io\/cluster\/other /);
});

test("a page explains why a node is not known, and that a node that is not there is not", async (t) => {
  const { world } = await routed(t);
  await world.join(world.launch(1)[0]!, { name: "odd-name", providerID: "gce://project/zone/vm" });
  const { out } = await command(world, explainService, "node/odd-name");
  assert.match(out, /identity +not known: ForeignProviderID: .*gce/);
  assert.match((await command(world, explainService, "node/none")).err, /there is no Node none/);
});
