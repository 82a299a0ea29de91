/** `fairlead plan` and `fairlead explain` for Services with the load balancer controller's class. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { stringify } from "yaml";
import { explainService } from "../../src/commands/explain.ts";
import "../../src/commands/manifest-file.ts";
import { plan } from "../../src/commands/plan.ts";
import { type ClassWorld, classWorld } from "../bed/class-world.ts";
import { command } from "../bed/command.ts";

const settings = ["--cluster-name=test"];

async function bed(t: TestContext): Promise<ClassWorld> {
  const world = await classWorld();
  t.after(() => world.close());
  const { vpcId, privateSubnetIds } = world.network;
  const cloud = `[Global]\nRegion=us-east-1\nVPC=${vpcId}\nSubnetID=${privateSubnetIds[0]}\nKubernetesClusterID=test\n`;
  await world.world.files.write("/etc/cloud", cloud, 0o600);
  return world;
}

const annotations = { "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type": "ip" };
const spec = { type: "LoadBalancer", loadBalancerClass: "service.k8s.aws/nlb", ports: [{ name: "http", port: 80, targetPort: 8080 }] };

test("a plan of a manifest is what is then done, and nothing is left to do after it", async (t) => {
  const world = await bed(t);
  await world.world.files.write("/web.yaml", stringify({ kind: "Service", metadata: { name: "web", annotations }, spec }), 0o600);
  const before = await command(world, plan, "-f", "/web.yaml", ...settings);
  assert.equal(before.status, 2, `${before.out}${before.err}`);
  for (const text of [
    /^service default\/web: 5 steps$/m,
    /\+ create security group k8s-default-web-<hash>/,
    /\+ create network load balancer k8s-default-web-<hash>, internal, in/,
    /\+ create target group k8s-default-web-<hash> TCP:8080, checked by TCP:traffic-port/,
    /\+ create listener TCP:80 on load balancer k8s-default-web-<hash>/,
  ])
    assert.match(before.out, text);
  assert.deepEqual(world.mutations(), {});

  world.serve();
  await world.classService("web", { "nlb-target-type": "ip" });
  await world.settled("web");
  const after = await command(world, plan, "service/web", ...settings);
  assert.deepEqual([after.status, after.out], [0, "service default/web: nothing to do\n"], after.err);
  const all = await command(world, plan, "-A", ...settings);
  assert.match(all.out, /service default\/web: nothing to do/);
});

test("what is wrong is said by plan and explain, with what exists and what to do", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", { "nlb-target-type": "ip" });
  await world.settled("web");
  const good = await command(world, explainService, "service/web", ...settings);
  for (const text of [
    /the load balancer controller, by loadBalancerClass service.k8s.aws\/nlb/,
    /network load balancer k8s-default-web-[0-9a-f]{10}, internal, ipv4/,
    /TCP:80 to TCP:8080 of the pods, checked by TCP:traffic-port/,
    /aws-load-balancer-nlb-target-type: ip {2}Whether nodes or pods are registered/,
    /published address k8s-default-web-/,
    /taken {3}subnet-/,
    /What to do next\n {2}/,
  ])
    assert.match(good.out, text, good.out);
  await world.change("web", { scheme: "outside" });
  await world.world.advance(60_000);
  const bad = await command(world, plan, "service/web", ...settings);
  assert.equal(bad.status, 1);
  assert.match(bad.out, /is wrong and is not applied.*\n {2}! unknown scheme: outside/);
  const told = await command(world, explainService, "service/web", ...settings);
  assert.match(told.out, /What is wrong\n {2}unknown scheme: outside[\s\S]*FailedBuildModel[\s\S]*Fix what is wrong/);
});

test("another scheme: the plan makes the new load balancer first, or where that cannot be, deletes the old one and nothing else", async (t) => {
  const world = await bed(t);
  const end = world.serve();
  await world.classService("web", { "nlb-target-type": "ip" });
  await world.classService("named", { "nlb-target-type": "ip", name: "mine" });
  await world.settled("web", "named");
  end();
  for (const name of ["web", "named"]) await world.change(name, { scheme: "internet-facing" });
  const steps = async (name: string) =>
    [...(await command(world, plan, `service/${name}`, ...settings)).out.matchAll(/^ +[-+~] (\w+ [a-z ]+)/gm)].map(([, what]) =>
      what!.trim(),
    );
  assert.deepEqual(await steps("web"), [
    "create network load balancer k",
    "create target group k",
    "create listener",
    "delete load balancer k",
    "delete target group k",
  ]);
  assert.deepEqual(await steps("named"), ["delete load balancer mine"]);
});
