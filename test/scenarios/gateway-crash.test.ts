/** The controller dies after each thing that it changes, in AWS or in the cluster, and another one goes on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type GatewayWorld, gatewayWorld } from "../bed/gateway-world.ts";

interface Story {
  readonly className: "alb" | "nlb";
  readonly protocol: string;
  readonly plural: "httproutes" | "tcproutes";
}

const stories: readonly Story[] = [
  { className: "alb", protocol: "HTTP", plural: "httproutes" },
  { className: "nlb", protocol: "TCP", plural: "tcproutes" },
];

/** Lives a whole life; the process dies after its n-th change and is started again. Says how many changes there were. */
async function life({ className, protocol, plural }: Story, dieAfter: number): Promise<number> {
  const world = await gatewayWorld();
  try {
    const groups = world.all("ec2/security-groups").length;
    await world.service("web");
    await world.pods("web", 1);
    let changes = 0;
    let end = () => {};
    world.onWrite = () => {
      if (++changes === dieAfter) {
        end();
        world.world.clock.after(1_000, () => {
          end = world.serve();
        });
      }
    };
    end = world.serve();
    await world.gateway("edge", [`${protocol}:80`], { gatewayClassName: className });
    const rules = (name: string) => [
      { backendRefs: [{ name, port: 80 }], ...(plural === "httproutes" && { matches: [{ path: { type: "PathPrefix", value: "/" } }] }) },
    ];
    await world.add(plural, "shop", { parentRefs: [{ name: "edge" }], rules: rules("web") });
    await world.programmed("edge");
    assert.deepEqual(world.conditions(plural, "shop"), ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"]);
    assertStands(world);
    await world.service("api");
    await world.pods("api", 1);
    await world.change(plural, "shop", { spec: { rules: rules("api") } });
    await world.world.advance(10 * 60_000);
    assertStands(world);
    await world.drop("gateways", "edge");
    await world.until("the Gateway is gone", () => world.get("gateways", "edge") === undefined, 30 * 60_000);
    await world.until("nothing is left", () => world.all("ec2/security-groups").length === groups, 30 * 60_000);
    assert.deepEqual(
      [world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length, world.bindings().length],
      [0, 0, 0],
    );
    return changes;
  } catch (error) {
    throw new Error(`died after change ${dieAfter}: ${String(error)}\n${world.lines.slice(-8).join("\n")}`, { cause: error });
  } finally {
    world.close();
  }
}

function assertStands(world: GatewayWorld): void {
  const groups = world.all<{ arn: string }>("elbv2/target-groups");
  assert.deepEqual(
    [world.all("elbv2/load-balancers").length, world.all("elbv2/listeners").length, groups.length, world.bindings().length],
    [1, 1, 1, 1],
  );
  assert.equal(world.targets(groups[0]!.arn).length, 1);
}

for (const story of stories)
  test(`a Gateway of class ${story.className} lives through a crash after every change`, async (t) => {
    const changes = await life(story, 0);
    t.diagnostic(`${changes} changes`);
    assert.ok(changes > 15, `${changes} changes`);
    for (let n = 1; n <= changes; n++) await life(story, n);
  });
