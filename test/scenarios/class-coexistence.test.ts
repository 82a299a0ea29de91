/** Two controllers of Services in one process: each Service has one server, and what one leaves to the other it leaves whole. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import "../../src/commands/load-balancer-controller/balancers.ts";
import "../../src/commands/load-balancer-controller/operate.ts";
import "../../src/commands/load-balancer-controller/services.ts";
import "../../src/loadbalancers/targets/binding-controller.ts";
import "../../src/loadbalancers/targets/informers.ts";
import { targetGroupBindingDefinition } from "../../src/loadbalancers/targets/crd.ts";
import { type NodeWorld, nodeWorld } from "../bed/node-world.ts";
import { loadClients } from "../bed/service-world.ts";

const config = `
controller-manager: {controllers: [service-lb-controller]}
load-balancer-controller: {cluster-name: test, feature-gates: "IngressController=false"}
`;
const prefix = "service.beta.kubernetes.io/aws-load-balancer-";

interface StoredService {
  readonly metadata: { readonly name: string; readonly finalizers?: readonly string[] };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly hostname: string }[] } };
}

async function bed(t: TestContext): Promise<NodeWorld> {
  await loadClients();
  const world = await nodeWorld();
  t.after(() => world.close());
  await world.say("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", targetGroupBindingDefinition);
  for (const instance of world.launch(2)) await world.join(instance, { taints: [] });
  return world;
}

async function make(world: NodeWorld, name: string, annotations: Readonly<Record<string, string>>, spec: object = {}): Promise<void> {
  const keyed = Object.fromEntries(Object.entries(annotations).map(([key, value]) => [prefix + key, value]));
  const ports = [{ name: "http", port: 80, targetPort: 8080 }];
  await world.say("POST", "/api/v1/namespaces/default/services", {
    metadata: { name, annotations: keyed },
    spec: { type: "LoadBalancer", ports, ...spec },
  });
}

const service = (world: NodeWorld, name: string) =>
  world.cluster.objects("services").find(({ metadata }) => metadata.name === name) as StoredService | undefined;
const hostname = (world: NodeWorld, name: string) => service(world, name)?.status?.loadBalancer?.ingress?.[0]?.hostname ?? "";
const all = (world: NodeWorld, kind: string) =>
  Object.values(world.aws.controls.snapshot()[kind] ?? {}) as { readonly name: string; readonly tags: Readonly<Record<string, string>> }[];
const counts = (world: NodeWorld) =>
  ["elbv2/load-balancers", "elb/load-balancers", "elbv2/target-groups"].map((kind) => all(world, kind).length);

/** How many watches of a path have been opened since. */
function countWatches({ cluster }: NodeWorld, path: string): () => number {
  const { send } = cluster;
  let count = 0;
  Object.assign(cluster, {
    send: ((request) => {
      if (request.url.pathname === path && request.url.searchParams.has("watch")) count++;
      return send(request);
    }) satisfies typeof send,
  });
  return () => count;
}

const ours = "service.k8s.aws/resources";
const theirs = "service.kubernetes.io/load-balancer-cleanup";

test("a Service of the class, one that is handed over and two of the controller manager's get one load balancer each", async (t) => {
  const world = await bed(t);
  const watched = countWatches(world, "/api/v1/services");
  world.startCluster(config);
  const groupsBefore = all(world, "ec2/security-groups").length;
  await make(world, "by-class", {}, { loadBalancerClass: "service.k8s.aws/nlb" });
  await make(world, "handed-over", { type: "external", "nlb-target-type": "instance" });
  await make(world, "of-the-manager", { type: "nlb" });
  await make(world, "classic", {});
  await make(world, "of-another", {}, { loadBalancerClass: "example.com/other" });
  await make(world, "unclear", { type: "external" });
  const served = ["by-class", "handed-over", "of-the-manager", "classic"];
  await world.until("all are served", () => served.every((name) => hostname(world, name) !== ""), 300_000);
  assert.equal(watched(), 1, "Services are followed once, whoever reads them");
  await world.world.advance(10 * 60_000);
  assert.deepEqual(counts(world), [3, 1, 3], world.lines.slice(-5).join("\n"));
  assert.deepEqual(
    ["by-class", "handed-over", "of-the-manager", "of-another"].map((name) => service(world, name)?.metadata.finalizers?.toSorted() ?? []),
    [[ours], [ours, theirs].toSorted(), [theirs], []],
  );
  const events = world.cluster.objects("events") as unknown as { involvedObject: { name: string }; reason: string; message: string }[];
  assert.ok(
    events.some(
      ({ involvedObject, message }) => involvedObject.name === "unclear" && /must be ip or instance, and is missing/.test(message),
    ),
  );
  const before = served.map((name) => hostname(world, name));
  const written = world.writes.length;
  await world.world.advance(30 * 60_000);
  assert.deepEqual([served.map((name) => hostname(world, name)), world.writes.length], [before, written], "neither writes over the other");

  for (const name of [...served, "of-another", "unclear"]) await world.say("DELETE", `/api/v1/namespaces/default/services/${name}`);
  await world.until(
    "all are gone",
    () => world.cluster.objects("services").every(({ metadata }) => metadata.namespace !== "default" || metadata.name === "kubernetes"),
    3_600_000,
  );
  assert.deepEqual(counts(world), [0, 0, 0]);
  await world.until("the security groups are gone", () => all(world, "ec2/security-groups").length === groupsBefore, 3_600_000);
});

test("a Service that is handed over, and taken back, has the other's load balancer and address in the end, and nothing of the first", async (t) => {
  const world = await bed(t);
  world.startCluster(config);
  await make(world, "web", { type: "nlb" });
  await world.until("it is served", () => hostname(world, "web") !== "", 300_000);
  const path = "/api/v1/namespaces/default/services/web";
  const first = hostname(world, "web");
  await world.say("PATCH", path, {
    metadata: { annotations: { [`${prefix}type`]: "external", [`${prefix}nlb-target-type`]: "instance" } },
  });
  await world.until("the other serves it", () => ![first, ""].includes(hostname(world, "web")), 600_000);
  await world.world.advance(30 * 60_000);
  const [only, ...more] = all(world, "elbv2/load-balancers");
  assert.deepEqual([only?.tags["service.k8s.aws/stack"], more.length], ["default/web", 0], world.lines.slice(-5).join("\n"));
  const second = hostname(world, "web");
  assert.ok(second.startsWith(`${only?.name}-`), second);

  await world.say("PATCH", path, { metadata: { annotations: { [`${prefix}type`]: "nlb", [`${prefix}nlb-target-type`]: null } } });
  await world.world.advance(60 * 60_000);
  const [back, ...others] = all(world, "elbv2/load-balancers");
  assert.deepEqual([back?.tags["kubernetes.io/service-name"], others.length], ["default/web", 0], world.lines.slice(-5).join("\n"));
  assert.ok(hostname(world, "web").startsWith(`${back?.name}-`), hostname(world, "web"));
  assert.deepEqual(service(world, "web")?.metadata.finalizers, [theirs]);
  assert.equal(all(world, "elbv2/target-groups").length, 1);
});
