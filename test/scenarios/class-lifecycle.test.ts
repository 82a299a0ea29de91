/** Services with the load balancer controller's class: their status, their mistakes, and how they end. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ingressClassParamsDefinition } from "../../src/loadbalancers/ingress/crd.ts";
import "../../src/commands/load-balancer-controller/ingress.ts";
import { type ClassWorld, classWorld } from "../bed/class-world.ts";

async function bed(t: TestContext): Promise<ClassWorld> {
  const world = await classWorld();
  t.after(() => world.close());
  return world;
}

const ip = { "nlb-target-type": "ip" };
const balancers = (world: ClassWorld) =>
  world.all<{ arn: string; name: string; tags: Readonly<Record<string, string>> }>("elbv2/load-balancers");
const groups = (world: ClassWorld) => world.all<{ tags: Readonly<Record<string, string>> }>("ec2/security-groups");

test("deletion protection by annotation keeps the Service; protection by somebody in AWS does not", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", { ...ip, attributes: "deletion_protection.enabled=true" });
  await world.settled("web");
  await world.drop("web");
  await world.world.advance(10 * 60_000);
  assert.match(
    world.events("web").join("\n"),
    /FailedBuildModel: Failed build model due to deletion_protection is enabled, cannot delete the service: web/,
  );
  assert.deepEqual([balancers(world).length, world.get("web")?.metadata.finalizers], [1, ["service.k8s.aws/resources"]]);
  assert.notEqual(world.hostname("web"), "", "its address stays too");
  await world.change("web", { attributes: "deletion_protection.enabled=false" });
  await world.until("it is gone", () => world.get("web") === undefined, 3_600_000);

  await world.classService("other", ip);
  await world.settled("other");
  await world.protect(balancers(world)[0]!.arn);
  await world.drop("other");
  await world.until("it is gone", () => world.get("other") === undefined, 3_600_000);
  assert.equal(balancers(world).length, 0);
});

test("a Service that nobody claims any more loses everything and its address, and its finalizer last", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.service("web", { type: "LoadBalancer" }, { "service.beta.kubernetes.io/aws-load-balancer-type": "nlb-ip" });
  await world.pods("web", 1);
  await world.settled("web");
  await world.change("web", { type: null });
  await world.until("it is let go", () => (world.get("web")?.metadata.finalizers ?? []).length === 0, 3_600_000);
  assert.deepEqual(
    [balancers(world).length, world.all("elbv2/target-groups").length, world.bindings().length, world.hostname("web")],
    [0, 0, 0, ""],
  );
});

test("a Service that others guard, or that is of another class, is not touched", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.service("web", { type: "LoadBalancer", loadBalancerClass: "example.com/lb" });
  await world.world.advance(60_000);
  await world.drop("web");
  await world.world.advance(60_000);
  assert.deepEqual([world.get("web"), world.writes, world.mutations()], [undefined, [], {}]);
});

test("a failed step keeps finalizer and status, is told, and is retried to the end", async (t) => {
  const world = await bed(t);
  const end = world.serve();
  await world.classService("web", ip);
  await world.settled("web");
  const address = world.hostname("web");
  const fail = { effect: { kind: "fail", code: "InternalFailure", status: 500 }, probability: 1 } as const;
  world.aws.controls.faults.add({ ...fail, action: "elasticloadbalancing:DeleteLoadBalancer" });
  await world.drop("web");
  await world.world.advance(10 * 60_000);
  assert.deepEqual(
    [world.get("web")?.metadata.finalizers, world.hostname("web")],
    [["service.k8s.aws/resources"], address],
    "what stands has its address",
  );
  assert.match(world.events("web").join("\n"), /FailedDeployModel: .*InternalFailure/);
  world.aws.controls.faults.remove(undefined);
  world.aws.controls.faults.add({ ...fail, action: "elasticloadbalancing:DeleteTargetGroup" });
  await world.until("the load balancer is gone", () => balancers(world).length === 0, 3_600_000);
  await world.world.advance(60_000);
  assert.ok(world.get("web"));
  world.aws.controls.faults.remove(undefined);
  end();
  world.serve();
  await world.until("it is gone", () => world.get("web") === undefined, 3_600_000);
  assert.equal(world.all("elbv2/target-groups").length, 0);
});

test("a mistake is told with the key and what is allowed, stops nobody else, and what stands stays", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", ip);
  await world.classService("other", ip);
  await world.settled("web", "other");
  world.resetCalls();
  await world.change("web", { scheme: "outside" });
  await world.change("other", { "additional-resource-tags": "a=b" });
  await world.world.advance(60_000);
  assert.match(
    world.events("web").join("\n"),
    /FailedBuildModel: Failed build model due to unknown scheme: outside \(annotation service.beta.kubernetes.io\/aws-load-balancer-scheme takes/,
  );
  assert.deepEqual([balancers(world).length, balancers(world).filter(({ tags }) => tags.a === "b").length], [2, 1]);
  assert.match(
    await world.metrics.metrics(),
    /awslbc_controller_reconcile_errors_total\{controller="service",error_category="build_model_error"\} \d/,
  );
  await world.change("web", { scheme: null, helthcheck: "x", "ssl-ports": "80" });
  await world.world.advance(60_000);
  const warned = world.events("web").filter((event) => event.includes("LoadBalancerWarning"));
  assert.equal(warned.length, 1);
  assert.match(warned[0] ?? "", /ssl-ports has no effect: there is no certificate.*helthcheck is not known/);
});

test("a target group with the Service's marks, but without its part, is left alone and told of", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", ip);
  await world.settled("web");
  const arn = await world.group("mine");
  await world.tag(arn, { "elbv2.k8s.aws/cluster": "test", "service.k8s.aws/stack": "default/web" });
  await world.world.advance(30 * 60_000);
  await world.change("web", { "additional-resource-tags": "a=b" });
  await world.world.advance(60_000);
  assert.match(world.events("web").join("\n"), /FailedBuildModel: .*unexpected targetGroup with no resourceID: arn:.*targetgroup\/mine/);
  assert.equal(world.all("elbv2/target-groups").length, 2);
});

test("ports of the status follow those of the Service, and nothing is written when only their order changes", async (t) => {
  const world = await bed(t);
  world.serve();
  const http = { name: "http", port: 80, targetPort: 8080 };
  const more = { name: "more", port: 81, targetPort: 8081 };
  await world.classService("web", ip, { ports: [http] });
  await world.settled("web");
  await world.change("web", {}, { ports: [http, more] });
  await world.world.advance(120_000);
  const ports = () => world.get("web")?.status?.loadBalancer?.ingress?.[0]?.ports?.length;
  assert.equal(ports(), 2);
  world.resetCalls();
  await world.change("web", {}, { ports: [more, http] });
  await world.world.advance(120_000);
  assert.deepEqual([ports(), world.mutations(), world.writes.filter((path) => path.includes("/services/"))], [2, {}, []]);
  await world.change("web", {}, { ports: [more] });
  await world.world.advance(600_000);
  assert.deepEqual(
    [ports(), world.all("elbv2/listeners").length, world.all("elbv2/target-groups").length, world.bindings().length],
    [1, 1, 1, 1],
  );
});

test("the group that load balancers share goes with the last that needs it, Ingresses included", async (t) => {
  const world = await bed(t);
  await world.say("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", ingressClassParamsDefinition);
  await world.say("POST", "/apis/networking.k8s.io/v1/ingressclasses", {
    metadata: { name: "alb" },
    spec: { controller: "ingress.k8s.aws/alb" },
  });
  world.serve("--feature-gates=IngressController=true");
  await world.classService("web", ip);
  await world.service("behind");
  const paths = [{ path: "/", pathType: "Prefix", backend: { service: { name: "behind", port: { number: 80 } } } }];
  await world.say("POST", "/apis/networking.k8s.io/v1/namespaces/default/ingresses", {
    metadata: { name: "shop", annotations: { "alb.ingress.kubernetes.io/target-type": "ip" } },
    spec: { ingressClassName: "alb", rules: [{ http: { paths } }] },
  });
  await world.settled("web");
  const shared = () => groups(world).filter(({ tags }) => tags["elbv2.k8s.aws/resource"] === "backend-sg").length;
  assert.deepEqual([shared(), balancers(world).length], [1, 2]);
  await world.drop("web");
  await world.until("the Service is gone", () => world.get("web") === undefined, 3_600_000);
  await world.world.advance(30 * 60_000);
  assert.equal(shared(), 1, "the Ingress needs it");
  await world.say("DELETE", "/apis/networking.k8s.io/v1/namespaces/default/ingresses/shop");
  await world.until("it is gone", () => shared() === 0, 3_600_000);
});

test("the VPC may be named by its tags, of which exactly one must have all", async (t) => {
  const world = await bed(t);
  const tags = Object.entries(world.all<{ tags: Readonly<Record<string, string>> }>("ec2/vpcs")[0]!.tags).map((pair) => pair.join("="));
  assert.ok(tags.length > 0);
  const end = world.serve("--aws-vpc-id=", `--aws-vpc-tags=${tags[0]},owner=nobody`);
  await world.classService("web", ip);
  await world.world.advance(60_000);
  assert.equal(balancers(world).length, 0);
  assert.match(world.lines.join("\n"), /no VPC has the tags .*owner=nobody in us-east-1/);
  end();
  world.serve("--aws-vpc-id=", `--aws-vpc-tags=${tags.join()}`);
  await world.settled("web");
  assert.equal(balancers(world).length, 1);
});

test("a Service that changes its mind while the shared group is made for it leaves none behind", async (t) => {
  const world = await bed(t);
  const before = groups(world).length;
  world.serve();
  const changes: Promise<void>[] = [];
  world.onAwsMutation((action) => {
    if (action === "CreateSecurityGroup" && changes.length === 0)
      changes.push(world.change("web", {}, { type: "ClusterIP", loadBalancerClass: null }));
  });
  await world.classService("web", ip);
  await world.world.advance(60_000);
  await Promise.all(changes);
  assert.equal(changes.length, 1);
  assert.deepEqual([groups(world).length, balancers(world).length], [before, 0], world.lines.slice(-5).join("\n"));
});

test("a finalizer that is taken away by hand comes back", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", ip);
  await world.settled("web");
  await world.say("PATCH", "/api/v1/namespaces/default/services/web", { metadata: { finalizers: null } }, "merge");
  await world.world.advance(60_000);
  assert.deepEqual(world.get("web")?.metadata.finalizers, ["service.k8s.aws/resources"]);
  await world.drop("web");
  await world.until("nothing is left", () => balancers(world).length === 0 && world.get("web") === undefined, 600_000);
});
