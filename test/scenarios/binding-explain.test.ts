/** `fairlead explain targetgroupbinding/NAME`. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { explainService } from "../../src/commands/explain.ts";
import type { BindingWorldOptions } from "../bed/binding-world.ts";
import { type BindingWorld, bindingWorld } from "../bed/binding-world.ts";
import { command } from "../bed/command.ts";

async function bed(t: TestContext, options?: BindingWorldOptions): Promise<BindingWorld> {
  const world = await bindingWorld(options);
  t.after(() => world.close());
  const { vpcId, privateSubnetIds } = world.network;
  const cloud = `[Global]\nRegion=us-east-1\nVPC=${vpcId}\nSubnetID=${privateSubnetIds[0]}\nKubernetesClusterID=test\n`;
  await world.world.files.write("/etc/cloud", cloud, 0o600);
  return world;
}

const explain = (world: BindingWorld, name: string) => command(world, explainService, `targetgroupbinding/${name}`, "--cluster-name=test");
const gate = "target-health.elbv2.k8s.aws/web";

test("what is registered, what is not, who waits and what to do next", async (t) => {
  const world = await bed(t, { probe: () => ({ kind: "refused" }) });
  const arn = await world.group("shop", { used: true });
  await world.service("web");
  await world.pods("web", 2, { gates: [gate], ready: false });
  const end = world.start();
  await world.bind("web", { targetGroupARN: arn });
  await world.until("registered", () => world.targets(arn).length === 2);
  await world.world.advance(10 * 60_000);
  end();
  await world.pods("web", 1);
  const { status, out, err } = await explain(world, "web");
  assert.equal(status, 0, err);
  for (const text of [
    /^TargetGroupBinding default\/web\n/,
    /target group arn:\S+targetgroup\/shop\//,
    /with pods of Service default\/web, port /,
    /Ready is /,
    /unhealthy: Target\.\S+.* {2}\(pod \S+\)/,
    /not registered yet {2}\(pod \S+\)/,
    /Pods that wait\n {2}\S+: Target\./,
    /What to do next\n {2}Wait: the load balancer controller registers the rest/,
  ])
    assert.match(out, text, out);
});

test("a binding whose group is not there, and one that does not exist", async (t) => {
  const world = await bed(t);
  await world.service("web");
  await world.bind("web", { targetGroupName: "nothing" });
  const { out } = await explain(world, "web");
  assert.match(out, /What is wrong\n {2}.*target group nothing does not exist[\s\S]*Fix what is wrong/);
  const none = await explain(world, "other");
  assert.deepEqual([none.status, /there is no TargetGroupBinding default\/other/.test(none.err)], [1, true]);
});
