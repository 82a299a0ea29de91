/** Routes of a Gateway that share target groups: what stands, and that coming to share them and ceasing to loses no request. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explainService } from "../../src/commands/explain.ts";
import { plan } from "../../src/commands/plan.ts";
import type { HttpRequest } from "../../src/runtime/http.ts";
import type { Listener, Rule, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";
import { command } from "../bed/command.ts";
import { type GatewayWorld, gatewayBed, gatewayWorld, settle } from "../bed/gateway-world.ts";

const annotation = "gateway.fairlead.io/share-target-groups";
const share = (world: GatewayWorld, said: "true" | "false" | null) =>
  world.change("gateways", "edge", { metadata: { annotations: { [annotation]: said } } });
const counts = (world: GatewayWorld) => [world.all("elbv2/target-groups").length, world.bindings().length];
const minutes = (count: number) => count * 60_000;

type Forwarding = Pick<Rule | Listener, "actions">;
const groupsBehind = ({ actions }: Forwarding) =>
  actions.flatMap(({ TargetGroupArn, ForwardConfig }) =>
    [...(ForwardConfig?.TargetGroups ?? []), { TargetGroupArn }].flatMap(({ TargetGroupArn: arn }) => arn ?? []),
  );

/** Where requests go that nobody would answer. */
function unanswered(world: GatewayWorld): readonly string[] {
  const fronts = [...world.all<Rule>("elbv2/rules"), ...world.all<Listener>("elbv2/listeners")];
  return fronts.flatMap(groupsBehind).filter((arn) => world.targets(arn).length === 0);
}

/** Three routes, two of which lead to one Service; on an `nlb` each has a port. */
async function serve(world: GatewayWorld, className: "alb" | "nlb"): Promise<void> {
  const backends = { a: "web", b: "web", c: "api" };
  if (className === "alb") await world.gateway("edge", ["HTTP:80"]);
  else await world.gateway("edge", ["TCP:80", "TCP:81", "TCP:82"], { gatewayClassName: "nlb" });
  for (const [i, [name, backend]] of Object.entries(backends).entries()) {
    if (className === "alb") await world.route(name, { [`/${name}`]: [`${backend}:80`] });
    else {
      const parentRefs = [{ name: "edge", sectionName: `tcp-${80 + i}` }];
      await world.add("tcproutes", name, { parentRefs, rules: [{ backendRefs: [{ name: backend, port: 80 }] }] });
    }
  }
  await world.programmed("edge");
}

for (const className of ["alb", "nlb"] as const)
  test(`a running Gateway of class ${className} comes to share target groups, and ceases to, without a request lost`, async (t) => {
    const world = await gatewayBed(t, "web", "api");
    world.serve();
    await serve(world, className);
    assert.deepEqual(counts(world), [3, 3]);
    const lost: string[] = [];
    world.onWrite = () => lost.push(...unanswered(world));
    await share(world, "true");
    await settle(world, minutes(10));
    assert.deepEqual([counts(world), lost], [[2, 2], []]);
    await share(world, null);
    await settle(world, minutes(10));
    assert.deepEqual([counts(world), lost], [[3, 3], []]);
    world.resetCalls();
    await settle(world, minutes(10));
    assert.deepEqual(world.mutations(), {}, "nothing is left to do");
  });

for (const className of ["alb", "nlb"] as const)
  test(`a switch of class ${className} whose targets do not come for long leaves nobody unanswered, and holds up nothing else`, async (t) => {
    const world = await gatewayBed(t, "web", "api");
    world.serve();
    await serve(world, className);
    const lost: string[] = [];
    world.onWrite = () => lost.push(...unanswered(world));
    const lift = world.aws.controls.deny("elasticloadbalancing:RegisterTargets");
    await share(world, "true");
    await settle(world, minutes(10));
    assert.deepEqual([counts(world), lost], [[5, 5], []]);
    await world.drop(className === "alb" ? "httproutes" : "tcproutes", "c");
    await settle(world, minutes(10));
    const fronts = world.all<Forwarding>(className === "alb" ? "elbv2/rules" : "elbv2/listeners");
    assert.deepEqual(
      [fronts.filter((front) => groupsBehind(front).length > 0).length, lost],
      [2, []],
      "what is asked for meanwhile is done",
    );
    lift();
    await settle(world, minutes(10));
    assert.deepEqual([counts(world), lost], [[1, 1], []]);
    world.resetCalls();
    await settle(world, minutes(10));
    assert.deepEqual(world.mutations(), {}, "nothing is left to do");
  });

test("a switch whose bindings the API server refuses leaves nobody unanswered", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await serve(world, "alb");
  const lost: string[] = [];
  world.onWrite = () => lost.push(...unanswered(world));
  const match = ({ method, url }: HttpRequest) => method === "POST" && /targetgroupbindings/.test(url.pathname);
  const lift = world.cluster.faults.add({ match, effect: { kind: "refuse", status: 403 } });
  await share(world, "true");
  await settle(world, minutes(10));
  assert.deepEqual([counts(world), lost], [[5, 3], []]);
  lift();
  await settle(world, minutes(30));
  assert.deepEqual([counts(world), lost], [[2, 2], []]);
});

test("a route that leaves takes no target group of another, and the last one takes it along", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await world.gateway("edge", ["HTTP:80"], {}, { [annotation]: "true" });
  await world.route("a", { "/a": ["web:80"] });
  await world.route("b", { "/b": ["web:80"] });
  await world.programmed("edge");
  assert.deepEqual(counts(world), [1, 1]);
  const [before] = world.all<{ arn: string }>("elbv2/target-groups");
  const lost: string[] = [];
  world.onWrite = () => lost.push(...unanswered(world));
  await world.drop("httproutes", "a");
  await settle(world, minutes(5));
  assert.deepEqual([world.all<{ arn: string }>("elbv2/target-groups").map(({ arn }) => arn), lost], [[before!.arn], []]);
  await world.route("c", { "/c": ["web:80"] });
  await settle(world, minutes(5));
  assert.deepEqual([counts(world), world.all("elbv2/rules").length, lost], [[1, 1], 2, []]);
  for (const name of ["b", "c"]) await world.drop("httproutes", name);
  await settle(world, minutes(10));
  assert.deepEqual(counts(world), [0, 0]);
});

test("settings of one route split its target group from the shared one, and join it again", async (t) => {
  const world = await gatewayBed(t, "web");
  world.serve();
  await world.gateway("edge", ["HTTP:80"], {}, { [annotation]: "true" });
  const healthCheck = (interval: number) => ({ healthCheckConfig: { healthCheckInterval: interval } });
  await world.add("targetgroupconfigurations", "web", { targetReference: { name: "web" }, defaultConfiguration: healthCheck(15) });
  await world.route("a", { "/a": ["web:80"] });
  await world.route("b", { "/b": ["web:80"] });
  await world.programmed("edge");
  const intervals = () =>
    world
      .all<TargetGroup>("elbv2/target-groups")
      .map(({ check }) => check.interval)
      .toSorted();
  assert.deepEqual(intervals(), [15]);
  const lost: string[] = [];
  world.onWrite = () => lost.push(...unanswered(world));
  const routeIdentifier = { kind: "HTTPRoute", namespace: "default", name: "b" };
  const routeConfigurations = [{ routeIdentifier, targetGroupProps: healthCheck(30) }];
  await world.change("targetgroupconfigurations", "web", { spec: { routeConfigurations } });
  await settle(world, minutes(5));
  assert.deepEqual([intervals(), lost], [[15, 30], []]);
  const defaultConfiguration = healthCheck(20);
  world.resetCalls();
  await world.change("targetgroupconfigurations", "web", { spec: { routeConfigurations: null, defaultConfiguration } });
  await settle(world, minutes(10));
  assert.deepEqual([intervals(), lost, world.mutations().CreateTargetGroup], [[20], [], undefined]);
});

test("plan and explain name the routes that share a target group; a typo in the annotation changes nothing and is told", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  const where = `Zone=us-east-1a\nVPC=${world.network.vpcId}\nSubnetID=${world.network.publicSubnetIds[0]}\nKubernetesClusterID=test\n`;
  await world.world.files.write("/etc/cloud", `[Global]\n${where}`, 0o600);
  for (const name of ["web", "api"])
    await world.add("targetgroupconfigurations", name, { targetReference: { name }, defaultConfiguration: { targetType: "ip" } });
  world.serve();
  await serve(world, "alb");
  world.resetCalls();
  await share(world, "yes" as never);
  await settle(world);
  assert.deepEqual(world.mutations(), {});
  assert.deepEqual(world.conditions("gateways", "edge").toSorted(), ["Accepted=False InvalidParameters", "Programmed=True Programmed"]);
  const accepted = world.get("gateways", "edge")?.status?.conditions?.find(({ type }) => type === "Accepted");
  assert.match(accepted?.message ?? "", /share-target-groups of Gateway default\/edge is "yes": it takes "true" or "false"/);
  await share(world, "true");
  const settings = ["--cluster-name=test"];
  const users = /shared by HTTPRoute default\/a, HTTPRoute default\/b/;
  const planned = await command(world, plan, "gateway/edge", ...settings);
  assert.match(planned.out, users, planned.err);
  await settle(world, minutes(5));
  const explained = await command(world, explainService, "gateway/edge", ...settings);
  assert.match(explained.out, /target group k8s-default-web-[0-9a-f]{10} is shared by HTTPRoute default\/a, HTTPRoute default\/b/);
});

test("the class says it for all of its Gateways, and is followed", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await serve(world, "alb");
  const ofClass = (said: string | null) => world.change("gatewayclasses", "alb", { metadata: { annotations: { [annotation]: said } } });
  await ofClass("true");
  await settle(world, minutes(5));
  assert.deepEqual(counts(world), [2, 2]);
  await share(world, "false");
  await settle(world, minutes(5));
  assert.deepEqual(counts(world), [3, 3]);
});

test("a process that dies after any change of a switch leaves nothing behind and nobody unanswered", async (t) => {
  let changes = 1;
  for (let dieAfter = 1; dieAfter <= changes; dieAfter++) {
    const world = await gatewayWorld();
    try {
      for (const name of ["web", "api"]) {
        await world.service(name);
        await world.pods(name, 1);
      }
      let end = world.serve();
      await serve(world, "alb");
      let count = 0;
      const lost: string[] = [];
      world.onWrite = () => {
        lost.push(...unanswered(world));
        if (++count === dieAfter) {
          end();
          world.world.clock.after(1_000, () => {
            end = world.serve();
          });
        }
      };
      await share(world, "true");
      await settle(world, minutes(10));
      assert.deepEqual([counts(world), lost], [[2, 2], []], `died after change ${dieAfter}`);
      changes = Math.max(changes, count);
    } finally {
      world.close();
    }
  }
  t.diagnostic(`${changes} changes`);
  assert.ok(changes > 8, `${changes} changes`);
});

/** Services in namespaces of their own, without pods, to which the routes of `default` may lead. */
async function foreignServices(world: GatewayWorld, ...places: readonly (readonly [namespace: string, name: string])[]): Promise<void> {
  for (const [namespace, name] of places) {
    await world.say("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    const spec = { selector: { app: name }, ports: [{ name: "http", port: 80, targetPort: 8080 }] };
    await world.say("POST", `/api/v1/namespaces/${namespace}/services`, { metadata: { name }, spec });
    const from = [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "default" }];
    await world.add("referencegrants", "all", { from, to: [{ group: "", kind: "Service" }] }, namespace);
  }
}

for (const said of ["true", "false"] as const)
  test(`Services whose names are alike each have a target group, and nothing is left to do (shared: ${said})`, async (t) => {
    const world = await gatewayBed(t);
    await foreignServices(world, ["team", "a-web"], ["team-a", "web"]);
    world.serve();
    await world.gateway("edge", ["HTTP:80"], {}, { [annotation]: said });
    const to = (namespace: string, name: string) => [{ namespace, name, port: 80 }];
    await world.route("both", { "/one": to("team", "a-web"), "/other": to("team-a", "web") });
    await world.programmed("edge");
    assert.deepEqual(
      [
        counts(world),
        world
          .bindings()
          .map(({ metadata }) => metadata.namespace)
          .toSorted(),
      ],
      [
        [2, 2],
        ["team", "team-a"],
      ],
    );
    assert.equal(new Set(world.all<Rule>("elbv2/rules").flatMap(groupsBehind)).size, 2);
    world.resetCalls();
    await world.change("gateways", "edge", { metadata: { annotations: { looked: "at" } } });
    await settle(world, minutes(10));
    assert.deepEqual(world.mutations(), {});
  });

test("two ports of a Service that lead to one port of its pods share a target group of instances, and nothing is left to do", async (t) => {
  const world = await gatewayBed(t);
  const ports = [80, 81].map((port) => ({ name: `http-${port}`, port, targetPort: 8080, nodePort: 30_000 + port }));
  await world.service("web", { type: "NodePort", ports });
  world.serve("--default-target-type=instance");
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("a", { "/a": ["web:80"], "/b": ["web:81"] });
  await world.programmed("edge");
  assert.deepEqual([counts(world), world.all("elbv2/rules").length], [[1, 1], 2]);
  world.resetCalls();
  await world.change("gateways", "edge", { metadata: { annotations: { looked: "at" } } });
  await settle(world, minutes(10));
  assert.deepEqual(world.mutations(), {});
});
