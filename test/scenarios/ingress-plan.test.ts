/** `fairlead plan` and `fairlead explain` for Ingresses. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { stringify } from "yaml";
import { explainService } from "../../src/commands/explain.ts";
import { plan } from "../../src/commands/plan.ts";
import { command } from "../bed/command.ts";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";

async function bed(t: TestContext): Promise<IngressWorld> {
  const world = await ingressWorld();
  t.after(() => world.close());
  for (const name of ["web", "api"]) {
    await world.service(name);
    await world.pods(name, 1);
  }
  const where = `Zone=us-east-1a\nVPC=${world.network.vpcId}\nSubnetID=${world.network.publicSubnetIds[0]}\nKubernetesClusterID=test\n`;
  await world.world.files.write("/etc/cloud", `[Global]\n${where}`, 0o600);
  return world;
}

const settings = ["--cluster-name=test"];

const manifest = (name: string, annotations: Readonly<Record<string, string>> = {}) => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name, namespace: "default", annotations: { "alb.ingress.kubernetes.io/target-type": "ip", ...annotations } },
  spec: {
    ingressClassName: "alb",
    rules: [
      {
        host: "shop.example.com",
        http: {
          paths: [
            { pathType: "Prefix", path: "/", backend: { service: { name: "web", port: { number: 80 } } } },
            { pathType: "Exact", path: "/api", backend: { service: { name: "api", port: { number: 80 } } } },
          ],
        },
      },
    ],
  },
});

test("the plan of a manifest is what then happens, and afterwards nothing is left to do", async (t) => {
  const world = await bed(t);
  await world.world.files.write("/shop.yaml", stringify(manifest("shop")), 0o600);
  world.resetCalls();
  const { status, out, err } = await command(world, plan, "-f", "/shop.yaml", "-o", "json", ...settings);
  assert.equal(status, 2, err);
  assert.deepEqual(world.mutations(), {}, "nothing is done");
  const [{ group, steps }] = JSON.parse(out) as [{ group: string; steps: { action: string }[] }];
  assert.equal(group, "Ingress default/shop");
  const planned = steps.map(({ action }) => action.split(":")[1] ?? "").toSorted();

  world.serve();
  await world.say("POST", "/apis/networking.k8s.io/v1/namespaces/default/ingresses", manifest("shop"));
  await world.until("served", () => world.hostname("shop") !== "", 120_000);
  await world.world.advance(60_000);
  // The group that all load balancers share is made once for the cluster; the bindings fill the target groups.
  const { CreateSecurityGroup = 0, RegisterTargets, ...rest } = world.mutations();
  assert.ok(RegisterTargets, "bindings fill the groups");
  const done = Object.entries({ ...rest, CreateSecurityGroup: CreateSecurityGroup - 1 });
  assert.deepEqual(planned, done.flatMap(([action, times]) => Array.from({ length: times }, () => action)).toSorted());

  const again = await command(world, plan, "ingress/shop", ...settings);
  assert.deepEqual([again.status, again.out], [0, "Ingress default/shop: nothing to do\n"], again.err);
});

test("a mistake is told with the Ingress that makes it, and what is done for the others is printed", async (t) => {
  const world = await bed(t);
  const shared = { "group.name": "g", "target-type": "ip" };
  await world.ingress("a", { "a.example.com": ["Prefix / web:80"] }, shared);
  await world.ingress("b", { "b.example.com": ["Prefix / web:80"] }, { ...shared, "listen-ports": "[", "helthcheck-path": "/" });
  const { status, out } = await command(world, plan, "ing/default/a", ...settings);
  assert.equal(status, 1);
  assert.match(out, /^Ingress group g: \d+ steps\n/);
  assert.match(out, / {2}! default\/b: failed to parse listen-ports configuration: `\[`.*; it keeps what it has/);
  assert.match(out, / {2}\? default\/b: .*helthcheck-path is not known/);
  assert.match(out, / {2}\+ create application load balancer /);
  const none = await command(world, plan, "ingress/none", ...settings);
  assert.deepEqual([none.status, /there is no Ingress default\/none/.test(none.err)], [1, true]);
});

test("explain tells the group, each rule with its author and priority, certificates with their reason, subnets and targets", async (t) => {
  const world = await bed(t);
  await world.issue(["*.example.com"], ["a.example.com"]);
  world.serve();
  const shared = { "group.name": "g", "target-type": "ip", "listen-ports": '[{"HTTPS":443}]' };
  await world.ingress("a", { "a.example.com": ["Prefix / web:80"] }, shared);
  await world.ingress("b", { "b.example.com": ["Exact /api api:80"] }, shared);
  await world.until("served", () => world.hostname("b") !== "", 120_000);
  await world.world.advance(300_000);
  const { status, out, err } = await command(world, explainService, "ingress/b", ...settings);
  assert.equal(status, 0, err);
  assert.match(
    out,
    /^Ingress default\/b\n\nIts group\n {2}Ingress group g, in the order of its rules:\n {2}default\/a: served\n {2}default\/b: served\n/,
  );
  assert.match(out, /Rules\n {2}HTTPS:443 1: .*a\.example\.com.* → Service default\/web:80 {2}\(Ingress default\/a routes /);
  assert.match(out, / {2}HTTPS:443 2: .*b\.example\.com.* → Service default\/api:80 {2}\(Ingress default\/b routes /);
  assert.match(out, / {2}HTTPS:443 else: 404\n/);
  assert.match(out, /Certificates\n(.*\n)* {2}HTTPS:443 arn:\S+: .*; fits b\.example\.com by \*\.example\.com\n/);
  assert.match(out, /Subnets\n {2}taken {3}subnet-\S+ us-east-1\w: the load balancer is already in it\n/);
  assert.match(out, /Targets\n {2}target group k8s-default-\S+: \S+ healthy\n/);
  assert.match(out, /What to do next\n {2}Nothing: it is as it should be\.\n$/);

  await world.change("b", { "listen-ports": "[" });
  await world.world.advance(60_000);
  const wrong = await command(world, explainService, "ingress/b", ...settings);
  assert.match(wrong.out, /default\/b: keeps what it had: it cannot be understood/);
  assert.match(
    wrong.out,
    /What to do next\n {2}Fix what is wrong with this Ingress: until then it keeps what it had, and the others go on\./,
  );
});

test("-A plans every group once, beside all Services, and names Ingresses that nobody serves", async (t) => {
  const world = await bed(t);
  const served = { "*": ["Prefix / web:80"] };
  await world.ingress("a", served, { "group.name": "shared", "target-type": "ip" });
  await world.ingress("b", served, { "group.name": "shared", "target-type": "ip" });
  await world.ingress("alone", served, { "target-type": "ip" });
  await world.ingress("lost", served, {}, "missing");
  await world.ingress("theirs", served, { "kubernetes.io/ingress.class": "nginx" });
  const { status, out, err } = await command(world, plan, "-A", "-o", "json", ...settings);
  assert.equal(status, 1, err);
  const entries = JSON.parse(out) as { service?: string; group?: string; ingress?: string; steps: unknown[]; problems: string[] }[];
  assert.deepEqual(
    entries.flatMap(({ group, steps }) => (group === undefined ? [] : [[group, steps.length > 0]])),
    [
      ["Ingress default/alone", true],
      ["Ingress group shared", true],
    ],
  );
  assert.deepEqual(
    entries.flatMap(({ ingress, problems }) => (ingress === undefined ? [] : [[ingress, problems[0]]])),
    [["default/lost", 'invalid ingress class: IngressClass.networking.k8s.io "missing" not found']],
  );
  assert.deepEqual(
    entries.flatMap(({ service }) => service ?? []),
    ["default/api", "default/web"],
  );
  assert.deepEqual(world.mutations(), {});
  await world.drop("lost");
  const text = await command(world, plan, "-A", ...settings);
  assert.equal(text.status, 2);
  assert.match(text.out, /^Ingress group shared: \d+ steps$/m);
});

test("with the gate IngressPlanAnnotation the first Ingress of a group carries its plan, sorted and once; without it nobody does", async (t) => {
  const world = await bed(t);
  const planOf = (name: string) =>
    (world.get(name)?.metadata as { annotations?: Record<string, string> } | undefined)?.annotations?.[
      "alb.ingress.kubernetes.io/dry-run-plan"
    ];
  let end = world.serve("--feature-gates=IngressController=true,IngressPlanAnnotation=true");
  const rules = { "shop.example.com": ["Prefix /api api:80"] };
  for (const name of ["a", "b"]) await world.ingress(name, rules, { "group.name": "shared" });
  await world.until("served", () => world.hostname("a") !== "" && world.hostname("b") !== "", 120_000);
  await world.world.advance(60_000);
  const { id, resources } = JSON.parse(planOf("a") ?? "{}") as { id: string; resources: Record<string, Record<string, { spec: object }>> };
  assert.equal(id, "shared");
  assert.deepEqual(resources["AWS::ElasticLoadBalancingV2::ListenerRule"]?.["80:1"]?.spec, {
    actions: [
      {
        forwardConfig: {
          targetGroups: [
            { targetGroupARN: { $ref: "#/resources/AWS::ElasticLoadBalancingV2::TargetGroup/default/a-api:80/status/targetGroupARN" } },
          ],
        },
        type: "forward",
      },
    ],
    conditions: [
      { field: "host-header", hostHeaderConfig: { values: ["shop.example.com"] } },
      { field: "path-pattern", pathPatternConfig: { values: ["/api", "/api/*"] } },
    ],
    listenerARN: { $ref: "#/resources/AWS::ElasticLoadBalancingV2::Listener/80/status/listenerARN" },
    priority: 1,
    tags: { "elbv2.k8s.aws/cluster": "test", "ingress.k8s.aws/resource": "80:1", "ingress.k8s.aws/stack": "shared" },
  });
  assert.deepEqual(resources.FrontendNLBTargetGroup, { FrontendNLBTargetGroup: { TargetGroups: {} } });
  assert.equal(planOf("b"), undefined);
  const writes = () => world.writes.filter((write) => write.includes("/ingresses/")).length;
  const before = writes();
  await world.world.advance(3_600_000);
  assert.equal(writes(), before, "the same wish is the same text");
  end();
  end = world.serve();
  await world.world.advance(60_000);
  assert.equal(planOf("a"), undefined);
  end();
});
