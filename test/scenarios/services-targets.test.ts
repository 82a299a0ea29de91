/** Targets that AWS does not take: they are left out, it is said, and nobody else is kept waiting for them. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { classicOf, networkOf } from "../bed/balancers.ts";
import { type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext, nodes = 2): Promise<ServiceWorld> {
  const world = await serviceWorld({ nodes });
  t.after(() => world.close());
  world.start();
  return world;
}

const condition = (world: ServiceWorld, name: string, type: string) =>
  world.service(name)?.status?.conditions?.find((each) => each.type === type);

const kinds = [
  {
    kind: "classic",
    annotations: {},
    register: "RegisterInstancesWithLoadBalancer",
    refusal: "InvalidInstance",
    targets: (world: ServiceWorld) =>
      classicOf(world, "web")
        ?.instances.map(({ id }) => id)
        .toSorted(),
  },
  {
    kind: "network",
    annotations: { type: "nlb" },
    register: "RegisterTargets",
    refusal: "InvalidTarget",
    targets: (world: ServiceWorld) => networkOf(world, "web")?.groups[0]?.targets.toSorted(),
  },
] as const;

const ids = (world: ServiceWorld, names: Iterable<string>) => [...names].map((name) => world.instances.get(name)?.id ?? "").toSorted();

for (const { kind, annotations, register, refusal, targets } of kinds) {
  test(`a Node in another VPC keeps no other Node from a ${kind} load balancer that stands, and the Service says so`, async (t) => {
    const world = await bed(t);
    await world.create("web", { annotations });
    await world.published("web");
    const [stranger = ""] = await world.join(1, {}, standardNetwork(world.aws, { clusterId: "test" }));
    await world.join(2);
    await world.world.advance(30_000);
    const own = [...world.instances.keys()].filter((name) => name !== stranger);
    assert.deepEqual(targets(world), ids(world, own));
    const id = world.instances.get(stranger)!.id;
    assert.match(world.events("web").join("\n"), new RegExp(`Warning LoadBalancerWarning: .*VPC.*${id} in vpc-`));
    assert.match(condition(world, "web", "LoadBalancerConfigured")?.message ?? "", new RegExp(`${id} in vpc-`));
    assert.doesNotMatch(world.events("web").join("\n"), /Failed/);

    await world.leave(stranger);
    await world.world.advance(30_000);
    assert.equal(condition(world, "web", "LoadBalancerConfigured"), undefined, "gone with the Node");
  });

  test(`a Node in another VPC keeps no ${kind} load balancer from being made`, async (t) => {
    const world = await bed(t);
    const own = ids(world, world.instances.keys());
    await world.join(1, {}, standardNetwork(world.aws, { clusterId: "test" }));
    await world.create("web", { annotations });
    await world.published("web");
    assert.deepEqual(targets(world), own);
    assert.match(condition(world, "web", "LoadBalancerConfigured")?.message ?? "", /VPC/);
  });

  for (const named of [true, false]) {
    test(`a target that AWS refuses is left out of its batch on a ${kind} load balancer, ${named ? "" : "not "}named in the error`, async (t) => {
      const world = await bed(t, 4);
      const all = ids(world, world.instances.keys());
      const bad = all[1]!;
      const message = named ? `The following targets are not valid: '${bad}'` : "One of the targets is not valid";
      const effect = { kind: "fail", code: refusal, status: 400, message } as const;
      const fault = world.aws.controls.faults.add({ action: `elasticloadbalancing:${register}`, effect, containing: bad });
      await world.create("web", { annotations });
      await world.published("web");
      assert.deepEqual(
        targets(world),
        all.filter((id) => id !== bad),
      );
      assert.match(condition(world, "web", "LoadBalancerConfigured")?.message ?? "", new RegExp(`AWS refuses ${bad}.*${refusal}`));

      const [added = ""] = await world.join(1);
      await world.world.advance(90_000);
      assert.ok(targets(world)?.includes(world.instances.get(added)!.id), "others come after it");

      world.aws.controls.faults.remove(fault);
      await world.world.advance(180_000);
      assert.deepEqual(targets(world), ids(world, world.instances.keys()), "tried until it is taken");
      assert.equal(condition(world, "web", "LoadBalancerConfigured"), undefined);
    });
  }
}
