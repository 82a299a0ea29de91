/** The controller dies after each thing it changes, and another takes its place: nothing is lost and nothing is left. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type BindingWorld, bindingWorld } from "../bed/binding-world.ts";

const gate = "target-health.elbv2.k8s.aws/web";

/** A binding's life, in which a controller dies after its nth change. Returns how many changes there were. */
async function life(dieAfter: number): Promise<number> {
  const world = await bindingWorld();
  let changes = 0;
  let kill = world.start();
  world.onWrite = () => {
    if (++changes !== dieAfter) return;
    kill();
    kill = world.start();
  };
  try {
    await live(world);
    return changes;
  } finally {
    world.close();
  }
}

async function live(world: BindingWorld): Promise<void> {
  const source = world.network.nodeGroupId;
  const arn = await world.group("shop", { protocol: "HTTP", used: true });
  const nodes = await world.group("nodes", { type: "instance" });
  const shared = await world.group("shared");
  await world.service("web");
  await world.service("nodes", { type: "NodePort", ports: [{ name: "http", port: 80, nodePort: 30080 }] });
  const [first = "", ...rest] = await world.pods("web", 3, { gates: [gate], ready: false });
  const ingress = [{ from: [{ securityGroup: { groupID: source } }], ports: [{ port: 30080 }] }];
  await world.bind("web", { targetGroupName: "shop" });
  await world.bind("shared", { targetGroupARN: shared, multiClusterTargetGroup: true });
  await world.bind("nodes", { targetGroupARN: nodes, serviceRef: { name: "nodes", port: 80 }, networking: { ingress } });
  const ready = (...pods: readonly string[]) => pods.every((pod) => world.gate(pod, gate)?.status === "True");
  await world.until("the first pods", () => ready(first, ...rest), 900_000);
  const [next = ""] = await world.pods("web", 1, { gates: [gate], ready: false });
  await world.until("the next pod", () => ready(next), 900_000);
  await world.remove("web", first);
  await world.world.advance(180_000);
  assert.deepEqual([world.targets(arn), world.targets(shared)], [world.addresses("web"), world.addresses("web")]);
  assert.equal(world.targets(nodes).length, 2);
  for (const name of ["web", "shared", "nodes"]) assert.equal(world.condition(name)?.status, "True", name);

  for (const name of ["web", "shared", "nodes"]) await world.unbind(name);
  const left = () => ["web", "shared", "nodes"].filter((name) => world.binding(name) !== undefined);
  await world.until("gone", () => left().length === 0, 900_000);
  await world.world.advance(60_000);
  assert.deepEqual(
    [arn, nodes, shared].flatMap((group) => world.targets(group)),
    [],
  );
  assert.deepEqual(
    world.cluster.objects("configmaps").filter(({ metadata }) => metadata.name.startsWith("aws-lbc-targets-")),
    [],
  );
}

test("a controller that dies after any of its changes leaves nothing undone", async () => {
  const changes = await life(0);
  assert.ok(changes > 20, `${changes}`);
  for (let n = 1; n <= changes; n++) await life(n).catch((cause: unknown) => Promise.reject(new Error(`after change ${n}`, { cause })));
});

test("a Service that is deleted and made again has its targets back, whatever the controller had come to when it died", async () => {
  let hasDied = true;
  for (let dieAfter = 1; hasDied; dieAfter++) {
    hasDied = false;
    const world = await bindingWorld();
    try {
      const kill = world.start();
      const arn = await world.group("shop", { used: true });
      await world.service("web");
      await world.pods("web", 1);
      await world.bind("web", { targetGroupName: "shop" });
      await world.until("targets", () => world.targets(arn).length === 1, 300_000);
      await world.world.advance(60_000);
      let changes = 0;
      world.onWrite = () => {
        if (++changes !== dieAfter) return;
        hasDied = true;
        kill();
      };
      await world.say("DELETE", "/api/v1/namespaces/default/services/web");
      await world.world.advance(120_000);
      world.onWrite = () => {};
      const ports = [{ name: "http", port: 80, targetPort: 8080 }];
      await world.say("POST", "/api/v1/namespaces/default/services", {
        metadata: { name: "web" },
        spec: { selector: { app: "web" }, ports },
      });
      if (hasDied) world.start();
      await world.world.advance(180_000);
      assert.deepEqual(world.targets(arn), world.addresses("web"), `dead after change ${dieAfter}`);
    } finally {
      world.close();
    }
  }
});
