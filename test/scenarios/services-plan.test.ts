import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { stringify } from "yaml";
import { explainService } from "../../src/commands/explain.ts";
import { plan } from "../../src/commands/plan.ts";
import type { Service } from "../../src/kube/types.ts";
import { command } from "../bed/command.ts";
import {
  annotationsOf,
  certificate,
  type ServiceWish,
  type ServiceWorld,
  type ServiceWorldOptions,
  serviceWorld,
} from "../bed/service-world.ts";

async function bed(t: TestContext, options?: ServiceWorldOptions): Promise<ServiceWorld> {
  const world = await serviceWorld(options);
  t.after(() => world.close());
  return world;
}

interface PlannedStep {
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
}

const manifests: Readonly<Record<string, ServiceWish>> = {
  "a plain classic one": {},
  "two ports and a certificate": {
    annotations: { "ssl-cert": certificate, "ssl-ports": "443", "backend-protocol": "http" },
    spec: {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 443 },
      ],
    },
  },
  "the PROXY protocol and attributes": {
    annotations: { "proxy-protocol": "*", "connection-idle-timeout": "100", "cross-zone-load-balancing-enabled": "true" },
  },
  "an internal classic one": { annotations: { internal: "true" } },
  "local traffic": { spec: { externalTrafficPolicy: "Local" } },
  "a plain network one": { annotations: { type: "nlb" } },
  "TLS on a network one": {
    annotations: { type: "nlb", "ssl-cert": certificate, "ssl-ports": "443" },
    spec: {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 443 },
      ],
    },
  },
  UDP: { annotations: { type: "nlb" }, spec: { ports: [{ port: 53, protocol: "UDP" }] } },
  "source ranges and attributes": {
    annotations: { type: "nlb", "target-group-attributes": "proxy_protocol_v2.enabled=true", "cross-zone-load-balancing-enabled": "true" },
    spec: { loadBalancerSourceRanges: ["192.168.0.0/16"] },
  },
  "a name of its own": { annotations: { type: "nlb", name: "shop", internal: "true" } },
};

for (const [what, wish] of Object.entries(manifests)) {
  test(`the plan of a manifest is what then happens, step by step: ${what}`, async (t) => {
    const world = await bed(t, { config: "NLBSecurityGroupMode=Managed" });
    const spec = { type: "LoadBalancer", ports: [{ port: 80 }], ...wish.spec };
    const manifest: Service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", namespace: "default", annotations: annotationsOf(wish.annotations ?? {}) },
      spec,
    };
    await world.world.files.write("/web.yaml", stringify(manifest), 0o600);
    const { status, out, err } = await command(world, plan, "-f", "/web.yaml", "-o", "json");
    assert.equal(status, 2, err);
    assert.equal(world.mutations().length, 0, "nothing is done");
    const [shown] = JSON.parse(out) as { steps: PlannedStep[] }[];

    world.start();
    await world.create("web", wish);
    await world.published("web");
    const happened = world.aws.controls.journal.entries();
    const known = substitutions(world);
    const planned = shown!.steps.map(({ action, input }) => ({ action: action.split(":")[1], input: known(input, happened) }));
    assert.deepEqual(
      planned,
      happened.map(({ action, input }) => ({ action: action.split(":")[1], input: plain(input) })),
    );
    const after = await command(world, plan, "service/web");
    assert.deepEqual([after.status, after.out], [0, "service default/web: nothing to do\n"]);
  });
}

/** Numbers as text: what is not known yet is told as text too. */
const plain = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (_, inner: unknown) => (typeof inner === "number" ? String(inner) : inner))) as unknown;

/** Puts in what the API server and AWS have given meanwhile. */
function substitutions(world: ServiceWorld) {
  const service = world.service("web")!;
  const text = (value: unknown) => {
    let json = JSON.stringify(plain(value)).replaceAll("a<uid>", world.loadBalancerOf("web"));
    for (const { port, nodePort } of service.spec?.ports ?? []) json = json.replaceAll(`<nodePort:${port}>`, String(nodePort));
    return json.replaceAll("<healthCheckNodePort>", String(service.spec?.healthCheckNodePort));
  };
  const names = (json: string, made: readonly { readonly input: Readonly<Record<string, unknown>> }[]) => {
    const groups = made.flatMap(({ input }) =>
      typeof input.Name === "string" && input.TargetType ? [[input.Name, input.Port] as const] : [],
    );
    let named = json;
    for (const [name, nodePort] of groups) {
      const port = service.spec?.ports?.find((each) => each.nodePort === nodePort)?.port;
      named = named.replaceAll(`k8s-default-web-<hash:${port}>`, name);
    }
    const managed = world.aws.account.ec2.securityGroups.values().find(({ name }) => /^k8s-default-web-[0-9a-f]{10}$/.test(name));
    if (managed) named = named.replaceAll("k8s-default-web-<hash>", managed.name);
    for (const { id, name } of world.aws.account.ec2.securityGroups.values()) named = named.replaceAll(`<security group ${name}>`, id);
    const snapshot = world.snapshot();
    for (const [table, kind] of [
      ["elbv2/load-balancers", "load balancer"],
      ["elbv2/target-groups", "target group"],
    ] as const) {
      for (const [arn, record] of Object.entries(snapshot[table] ?? {}))
        named = named.replaceAll(`<${kind} ${(record as { name: string }).name}>`, arn);
    }
    return named;
  };
  return (value: unknown, made: readonly { readonly input: Readonly<Record<string, unknown>> }[]) =>
    JSON.parse(names(text(value), made)) as unknown;
}

test("a plan reads as text, names what it takes away, and says what keeps it from being carried out", async (t) => {
  const world = await bed(t);
  world.start();
  await world.create("web", { annotations: { type: "nlb" }, spec: { ports: [{ port: 80, nodePort: 31080 }] } });
  await world.published("web");
  await world.world.files.write(
    "/web.yaml",
    stringify({
      kind: "Service",
      metadata: { name: "web", annotations: annotationsOf({ type: "nlb" }) },
      spec: { type: "LoadBalancer", ports: [{ port: 81, nodePort: 31081 }] },
    }),
    0o600,
  );
  const changed = await command(world, plan, "-f", "/web.yaml");
  assert.equal(changed.status, 2);
  assert.match(changed.out, /^service default\/web: \d+ steps$/m);
  assert.match(changed.out, /^ {2}\+ create target group k8s-default-web-\w+ TCP:31081/m);
  assert.match(changed.out, /^ {2}- delete listener TCP:80 of load balancer/m);
  assert.match(changed.out, /^ {2}- revoke tcp:31080 from 0\.0\.0\.0\/0/m);

  await world.create("bad", { annotations: { "connection-idle-timeout": "soon" } });
  const bad = await command(world, plan, "service/bad");
  assert.equal(bad.status, 1);
  assert.match(bad.out, /! .*connection-idle-timeout=soon \(takes a number of seconds\)/);
  assert.equal((await command(world, plan)).status, 64);
  assert.match((await command(world, plan, "service/none")).err, /there is no Service default\/none/);
});

test("nothing is planned for a Service that goes and is held up by somebody else, nor for one that another controller serves", async (t) => {
  const world = await bed(t);
  await world.create("held");
  await world.say("PATCH", "/api/v1/namespaces/default/services/held", { metadata: { finalizers: ["example.com/held"] } });
  await world.delete("held");
  await world.create("theirs", { annotations: { type: "external" } });
  await world.create("classed", { spec: { loadBalancerClass: "example.com/lb" } });
  for (const name of ["held", "classed"]) {
    const { status, out } = await command(world, plan, `service/${name}`);
    assert.deepEqual([status, out], [0, `service default/${name}: nothing to do\n`]);
  }
  const theirs = await command(world, plan, "service/theirs");
  assert.equal(theirs.status, 0);
  assert.match(
    theirs.out,
    /^service default\/theirs: nothing to do\n {2}\? no load balancer is created: .* must be ip or instance, and is missing\n$/,
  );
  const page = await command(world, explainService, "service/classed");
  assert.match(page.out, /Who serves it\n {2}another controller, by loadBalancerClass example\.com\/lb: Fairlead makes no load balancer/);
  assert.match(
    (await command(world, explainService, "service/theirs")).out,
    /Who serves it\n {2}nobody[\s\S]*must be ip or instance, and is missing[\s\S]*Set the annotation/,
  );
});

test("a dry run posts the plan, with the rules of the nodes in it", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { type: "nlb" } });
  const { out } = await command(world, plan, "service/web", "-o", "json");
  const [{ steps }] = JSON.parse(out) as [{ steps: PlannedStep[] }];
  world.start("--dry-run");
  await world.world.advance(30_000);
  const posted = world.events("web").find((text) => text.startsWith("Normal LoadBalancerPlan")) ?? "";
  assert.ok(steps.some(({ action }) => action.endsWith("AuthorizeSecurityGroupIngress")));
  assert.match(posted, /in node security group test-nodes/);
  assert.deepEqual(world.mutations(), []);
});

test("a page explains a load balancer that works", async (t) => {
  const world = await bed(t);
  world.start();
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  await world.world.advance(300_000);
  const { status, out, err } = await command(world, explainService, "service/web");
  assert.equal(status, 0, err);
  assert.match(out, /What it asks for\n {2}network load balancer a\w+, internet-facing\n {2}TCP:80 to TCP:\d+ of the nodes/);
  assert.match(out, /What exists\n {2}network load balancer a\w+, \S+amazonaws\.com, active/);
  assert.match(out, /taken {3}subnet-\w+ us-east-1a: it carries kubernetes\.io\/role\/elb/);
  assert.match(out, /refused subnet-\w+ us-east-1a: it is private/);
  assert.match(out, /of the nodes: sg-\w+ \(test-nodes\)/);
  assert.match(out, /i-\w+ port \d+ healthy/);
  assert.match(out, /Last calls to AWS\n {2}not known: give --endpoint/);
  assert.match(out, /What to do next\n {2}Nothing: it is as it should be\./);
});

const failures: readonly (readonly [string, ServiceWish, ServiceWorldOptions, RegExp, ((world: ServiceWorld) => void)?])[] = [
  [
    "no subnet that may be used",
    {},
    {},
    /Tag at least one subnet|tag at least one subnet/,
    (world) => {
      for (const id of [...world.network.publicSubnetIds, ...world.network.privateSubnetIds])
        world.aws.account.ec2.subnets.update(id, { tags: { "kubernetes.io/cluster/other": "owned" } });
    },
  ],
  [
    "no public subnet",
    {},
    {},
    /kubernetes\.io\/role\/elb=1/,
    (world) => world.aws.account.ec2.routeTables.update(world.network.publicTableId, { routes: [] }),
  ],
  [
    "a certificate that is not there",
    { annotations: { "ssl-cert": certificate.replace("11111111", "99999999") } },
    {},
    /does not exist in this account and region/,
  ],
  ["too many rules", { annotations: { type: "nlb" } }, { settings: { quotas: { rulesPerSecurityGroup: 1 } } }, /60 rules by default/],
  [
    "a missing permission",
    {},
    {},
    /add that action to its IAM policy/,
    (world) => void world.aws.controls.deny("elasticloadbalancing:CreateLoadBalancer"),
  ],
  ["no nodes", {}, { nodes: 0 }, /No Node can take traffic/],
  ["failing health checks", { annotations: { type: "nlb" } }, { probe: () => ({ kind: "refused" }) }, /Targets fail their health check/],
  ["too few elastic IPs", { annotations: { type: "nlb", "eip-allocations": "eipalloc-1" } }, {}, /one elastic IP .* for each subnet/],
  ["a misspelt annotation", { annotations: { intrnal: "true" } }, {}, /An annotation is misspelt/],
  ["too many load balancers", {}, { settings: { quotas: { classicLoadBalancers: 0 } } }, /as many load balancers as its quota allows/],
];

for (const [what, wish, options, advice, prepare] of failures) {
  test(`a page makes it plain: ${what}`, async (t) => {
    const world = await bed(t, options);
    prepare?.(world);
    world.start();
    await world.create("web", wish);
    await world.world.advance(300_000);
    const { status, out, err } = await command(world, explainService, "web");
    assert.equal(status, 0, err);
    assert.match(out.slice(out.indexOf("What to do next")), advice, out);
  });
}

test("advice about a problem that is gone is not given again", async (t) => {
  const world = await bed(t);
  world.start();
  const lift = world.aws.controls.deny("elasticloadbalancing:CreateLoadBalancer");
  await world.create("web");
  await world.world.advance(120_000);
  assert.match((await command(world, explainService, "web")).out, /What to do next\n {2}The role of the controller may not/);
  lift();
  await world.published("web");
  // Something is to be done again, which has nothing to do with the old failure.
  await world.edit("web", { "connection-idle-timeout": "75" });
  const { out } = await command(world, explainService, "web");
  assert.match(out, /Warnings\n {2}\d+ (s|min) ago, over: SyncLoadBalancerFailed: /);
  assert.match(out, /What to do next\n {2}Wait: the controller takes these steps by itself/);
});
