/** `fairlead adopt`: a Service goes from the controller manager's load balancer to the load balancer controller's. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { adopt } from "../../src/commands/adopt.ts";
import "../../src/commands/load-balancer-controller/balancers.ts";
import "../../src/commands/load-balancer-controller/operate.ts";
import "../../src/commands/load-balancer-controller/services.ts";
import "../../src/loadbalancers/targets/binding-controller.ts";
import "../../src/loadbalancers/targets/informers.ts";
import { targetGroupBindingDefinition } from "../../src/loadbalancers/targets/crd.ts";
import type { SecurityGroupRule } from "../../src/sandbox/cloud/ec2/state.ts";
import { command } from "../bed/command.ts";
import { type NodeWorld, nodeWorld } from "../bed/node-world.ts";
import { loadClients } from "../bed/service-world.ts";

const config = `
controller-manager: {controllers: [service-lb-controller]}
load-balancer-controller: {cluster-name: test, feature-gates: "IngressController=false"}
`;
const prefix = "service.beta.kubernetes.io/aws-load-balancer-";

interface StoredService {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec: { readonly type: string; readonly loadBalancerClass?: string };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly hostname: string }[] } };
}

async function bed(t: TestContext, { defined = true } = {}): Promise<NodeWorld> {
  await loadClients();
  const world = await nodeWorld();
  t.after(() => world.close());
  if (defined) await world.say("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", targetGroupBindingDefinition);
  for (const instance of world.launch(2)) await world.join(instance, { taints: [] });
  const { vpcId, privateSubnetIds } = world.network;
  const cloud = `[Global]\nRegion=us-east-1\nVPC=${vpcId}\nSubnetID=${privateSubnetIds[0]}\nKubernetesClusterID=test\n`;
  await world.world.files.write("/etc/cloud", cloud, 0o600);
  if (defined) world.startCluster(config);
  return world;
}

async function make(world: NodeWorld, name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  const keyed = Object.fromEntries(Object.entries(annotations).map(([key, value]) => [key.includes("/") ? key : prefix + key, value]));
  await world.say("POST", "/api/v1/namespaces/default/services", {
    metadata: { name, annotations: keyed },
    spec: { type: "LoadBalancer", selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
  });
  await world.until("it is served", () => hostname(world, name) !== "", 300_000);
  await world.world.advance(5 * 60_000);
}

const service = (world: NodeWorld, name: string) =>
  world.cluster.objects("services").find(({ metadata }) => metadata.name === name) as unknown as StoredService | undefined;
const hostname = (world: NodeWorld, name: string) => service(world, name)?.status?.loadBalancer?.ingress?.[0]?.hostname ?? "";
const all = (world: NodeWorld, kind: string) =>
  Object.values(world.aws.controls.snapshot()[kind] ?? {}) as {
    readonly arn: string;
    readonly name: string;
    readonly tags: Readonly<Record<string, string>>;
  }[];
const counts = (world: NodeWorld) =>
  ["elbv2/load-balancers", "elb/load-balancers", "elbv2/target-groups"].map((kind) => all(world, kind).length);
const run = (world: NodeWorld, ...argv: readonly string[]) => command(world, adopt, ...argv, "--cluster-name=test");
const ids = (world: NodeWorld) =>
  ["elbv2/load-balancers", "elbv2/target-groups", "elbv2/listeners"].map((kind) => all(world, kind).map(({ arn }) => arn));
/** What anybody may reach, as port and description. */
const letIn = (world: NodeWorld) =>
  (Object.values(world.aws.controls.snapshot()["ec2/security-group-rules"] ?? {}) as SecurityGroupRule[])
    .filter(({ egress, peer }) => !egress && JSON.stringify(peer).includes("0.0.0.0/0"))
    .map(({ fromPort, description }) => `${fromPort} ${description}`);

test("a network load balancer is adopted where it stands: same load balancer, address, listeners and targets, and nodes never shut", async (t) => {
  const world = await bed(t);
  await make(world, "web", { type: "nlb" });
  const before = { hostname: hostname(world, "web"), ids: ids(world) };
  const port = letIn(world)
    .find((rule) => /rule\/nlb\/client/.test(rule))
    ?.split(" ")[0];
  assert.ok(port, letIn(world).join());

  const planned = await run(world, "service/web");
  assert.equal(planned.status, 2, planned.err);
  assert.match(planned.out, /is adopted where it stands, and keeps its address/);
  for (const text of [
    /~ tag load balancer \S+ with elbv2.k8s.aws\/cluster=test, service.k8s.aws\/stack=default\/web, service.k8s.aws\/resource=LoadBalancer/,
    /~ tag target group \S+ with .*service.k8s.aws\/resource=default\/web:80/,
    /~ describe sgr-\S+ in security group \S+ as elbv2.k8s.aws\/targetGroupBinding=shared/,
    /~ remove tag kubernetes.io\/service-name of load balancer/,
    /~ annotate Service default\/web with .*type: external.*nlb-target-type: instance.*scheme: internet-facing/,
    /Then the load balancer controller would:/,
    /Nothing was done. Give --yes/,
  ])
    assert.match(planned.out, text);
  assert.deepEqual(
    [ids(world), service(world, "web")?.metadata.annotations?.[`${prefix}type`]],
    [before.ids, "nlb"],
    "a plan does nothing",
  );

  let shut = 0;
  const done = await run(world, "service/web", "--yes");
  assert.equal(done.status, 0, done.out + done.err);
  for (let i = 0; i < 60; i++) {
    await world.world.advance(10_000);
    if (!letIn(world).some((rule) => rule.startsWith(`${port} `))) shut++;
  }
  assert.equal(shut, 0, "the node port stays open");
  await world.world.advance(3_600_000);
  assert.deepEqual(
    [hostname(world, "web"), ids(world), counts(world)],
    [before.hostname, before.ids, [1, 0, 1]],
    world.lines.slice(-8).join("\n"),
  );
  const [lb] = all(world, "elbv2/load-balancers");
  assert.deepEqual([lb?.tags["service.k8s.aws/stack"], lb?.tags["kubernetes.io/service-name"]], ["default/web", undefined]);
  assert.ok(
    letIn(world).some((rule) => rule === `${port} elbv2.k8s.aws/targetGroupBinding=shared`),
    letIn(world).join(),
  );
  assert.ok(service(world, "web")?.metadata.finalizers?.includes("service.k8s.aws/resources"));

  const again = await run(world, "service/web");
  assert.deepEqual([again.status, /nothing to adopt/.test(again.out)], [0, true]);
  await world.say("DELETE", "/api/v1/namespaces/default/services/web");
  await world.until("it is gone", () => service(world, "web") === undefined, 3_600_000);
  assert.deepEqual(counts(world), [0, 0, 0]);
});

test("an adoption that was broken off is finished by running it again", async (t) => {
  const world = await bed(t);
  await make(world, "web", { type: "nlb" });
  const before = { hostname: hostname(world, "web"), ids: ids(world) };
  world.aws.controls.faults.add({
    action: "elasticloadbalancing:RemoveTags",
    effect: { kind: "fail", code: "AccessDenied", status: 403 },
    probability: 1,
  });
  const broken = await run(world, "service/web", "--yes");
  assert.equal(broken.status, 1, broken.out);
  world.aws.controls.faults.remove(undefined);
  const done = await run(world, "service/web", "--yes");
  assert.equal(done.status, 0, done.out + done.err);
  await world.world.advance(3_600_000);
  assert.deepEqual([hostname(world, "web"), ids(world)], [before.hostname, before.ids]);
});

test("a classic load balancer is replaced by a second Service; names move, and the first goes only when asked to", async (t) => {
  const world = await bed(t);
  await make(world, "web", { "external-dns.alpha.kubernetes.io/hostname": "web.example.com", internal: "true" });
  const first = hostname(world, "web");
  const planned = await run(world, "service/web");
  assert.equal(planned.status, 2, planned.err);
  assert.match(planned.out, /\+ create Service default\/web-nlb of class service.k8s.aws\/nlb, internal/);
  assert.match(planned.out, /Then the load balancer controller would:\n.*create/);
  assert.equal((await run(world, "service/web", "--finish", "--yes")).status, 1, "nothing is made yet");
  assert.equal((await run(world, "service/web", "--yes")).status, 0);
  const soon = await run(world, "service/web");
  assert.match(soon.out, /Wait: /);
  assert.equal((await run(world, "service/web", "--finish", "--yes")).status, 1, "it does not serve yet");
  await world.world.advance(10 * 60_000);
  const names = await run(world, "service/web", "--yes");
  assert.match(names.out, /done: annotate Service default\/web-nlb with external-dns.alpha.kubernetes.io\/hostname: web.example.com/);
  assert.deepEqual(
    ["web", "web-nlb"].map((name) => service(world, name)?.metadata.annotations?.["external-dns.alpha.kubernetes.io/hostname"]),
    [undefined, "web.example.com"],
  );
  assert.deepEqual([hostname(world, "web"), counts(world)], [first, [1, 1, 1]], "both serve");
  const told = await run(world, "service/web");
  assert.match(told.out, new RegExp(`Point your names from ${first} to ${hostname(world, "web-nlb")}`));
  const last = await run(world, "service/web", "--finish");
  assert.match(last.out, /- make Service default\/web of type ClusterIP/);
  assert.equal((await run(world, "service/web", "--finish", "--yes")).status, 0);
  await world.world.advance(30 * 60_000);
  assert.deepEqual([service(world, "web")?.spec.type, counts(world)], ["ClusterIP", [1, 0, 1]]);
  const over = await run(world, "service/web");
  assert.deepEqual([over.status, /It is over/.test(over.out)], [0, true]);
});

test("what cannot be adopted is refused with the reason: no definition, no Service, nothing that stands, a mistake of the author's", async (t) => {
  const world = await bed(t);
  await make(world, "web", { type: "nlb" });
  await world.say("PATCH", "/api/v1/namespaces/default/services/web", {
    metadata: { annotations: { [`${prefix}target-node-labels`]: "nonsense" } },
  });
  const wrong = await run(world, "service/web", "--yes");
  assert.equal(wrong.status, 1, wrong.out);
  assert.match(wrong.out, /! failed to parse stringMap annotation, .*target-node-labels/);
  assert.match((await run(world, "service/nobody")).err, /there is no Service default\/nobody/);
  await world.say("POST", "/api/v1/namespaces/default/services", { metadata: { name: "plain" }, spec: { ports: [{ port: 80 }] } });
  assert.match((await run(world, "service/plain")).err, /has no load balancer of the controller manager's/);
  const bare = await bed(t, { defined: false });
  await bare.say("POST", "/api/v1/namespaces/default/services", {
    metadata: { name: "web" },
    spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
  });
  assert.match((await run(bare, "service/web")).err, /has no TargetGroupBinding: install the load balancer controller first/);
});
