import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { BindingWorldOptions } from "../bed/binding-world.ts";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";

async function bed(t: TestContext, options?: BindingWorldOptions): Promise<IngressWorld> {
  const world = await ingressWorld(options);
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 2);
  await world.service("api");
  await world.pods("api", 1);
  return world;
}

const settled = (world: IngressWorld, ...names: string[]) =>
  world
    .until("addresses are published", () => names.every((name) => world.hostname(name) !== ""), 120_000)
    .catch((error: unknown) => {
      throw new Error(`${String(error)}\n${world.lines.slice(-20).join("\n")}\n${names.flatMap((name) => world.events(name)).join("\n")}`);
    });

test("an Ingress gets a load balancer whose rules lead to its pods, costs nothing at rest, and leaves nothing behind", async (t) => {
  const world = await bed(t);
  const before = world.all("elbv2/load-balancers").length;
  const groupsBefore = world.all("ec2/security-groups").length;
  world.serve();
  await world.ingress("shop", { "shop.example.com": ["Prefix / web:80", "Prefix /api api:80"] });
  await settled(world, "shop");
  await world.world.advance(60_000);
  assert.equal(world.all("elbv2/load-balancers").length, before + 1);
  assert.equal(world.bindings().length, 2);
  const groups = world.all<{ name: string; arn: string }>("elbv2/target-groups");
  assert.deepEqual(groups.map(({ arn }) => world.targets(arn).length).toSorted(), [1, 2], world.lines.slice(-10).join("\n"));
  assert.deepEqual(world.get("shop")?.metadata.finalizers, ["ingress.k8s.aws/resources"]);
  assert.deepEqual([...new Set(world.events("shop"))], ["Normal SuccessfullyReconciled: Successfully reconciled"]);

  await world.world.advance(10 * 60_000);
  world.resetCalls();
  await world.world.advance(10 * 60_000);
  assert.deepEqual([world.mutations(), world.writes], [{}, []]);

  await world.drop("shop");
  await world
    .until("the Ingress is gone", () => world.get("shop") === undefined, 30 * 60_000)
    .catch((error: unknown) => {
      throw new Error(`${String(error)}\n${world.lines.slice(-20).join("\n")}\n${world.events("shop").join("\n")}`);
    });
  assert.deepEqual(
    [world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length, world.bindings().length],
    [before, 0, 0],
  );
  await world.until("the shared group is gone", () => world.all("ec2/security-groups").length === groupsBefore, 600_000);
  assert.deepEqual([world.mutations().DeleteLoadBalancer, world.mutations().DeleteTargetGroup], [1, 2]);
  const tries = world.mutations().DeleteSecurityGroup ?? 0;
  assert.ok(tries <= 5, `AWS is not asked again and again: ${tries}`);
});

const shared = { "group.name": "g" };
const rulesIn = (world: IngressWorld) =>
  world
    .all<{ priority: number | "default"; conditions: { Field: string; HostHeaderConfig?: { Values?: string[] } }[] }>("elbv2/rules")
    .filter(({ priority }) => priority !== "default")
    .toSorted((a, b) => Number(a.priority) - Number(b.priority))
    .map(({ conditions }) => conditions.find(({ Field }) => Field === "host-header")?.HostHeaderConfig?.Values?.[0]);

test("three teams share a load balancer; the mistake of one is told to it, and the others go on, also after a restart", async (t) => {
  const world = await bed(t);
  let end = world.serve();
  for (const team of ["a", "b", "c"]) await world.ingress(team, { [`${team}.example.com`]: ["Prefix / web:80"] }, shared);
  await settled(world, "a", "b", "c");
  await world.world.advance(60_000);
  assert.equal(new Set(["a", "b", "c"].map((name) => world.hostname(name))).size, 1);
  assert.deepEqual(rulesIn(world), ["a.example.com", "b.example.com", "c.example.com"]);

  await world.change("b", { "listen-ports": "[" });
  await world.change("c", {}, { "c2.example.com": ["Prefix / api:80"] });
  await world.world.advance(60_000);
  assert.deepEqual(rulesIn(world), ["a.example.com", "b.example.com", "c2.example.com"], world.lines.slice(-5).join("\n"));
  assert.match(
    world.events("b").join("\n"),
    /Warning FailedBuildModel: Failed build model due to failed to parse listen-ports configuration: `\[`/,
  );
  assert.doesNotMatch(world.events("c").join("\n"), /Failed/);

  end();
  end = world.serve();
  await world.world.advance(60_000);
  world.resetCalls();
  await world.change("a", {}, { "a2.example.com": ["Prefix / web:80"] });
  await world.world.advance(60_000);
  assert.deepEqual(
    rulesIn(world),
    ["a2.example.com", "b.example.com", "c2.example.com"],
    "nobody remembers what b asked for, and it stands",
  );
  await world.drop("c");
  await world.until("c is gone", () => world.get("c") === undefined, 600_000);
  assert.deepEqual(rulesIn(world), ["a2.example.com", "b.example.com"]);

  await world.change("b", { "listen-ports": null }, { "b2.example.com": ["Prefix / web:80"] });
  await world.world.advance(120_000);
  assert.deepEqual(rulesIn(world), ["a2.example.com", "b2.example.com"]);
  assert.equal(world.all("elbv2/target-groups").length, 2, "what belonged to the rules that went is gone");
});

test("a restart over groups that nothing happened to changes nothing, and costs lists; what AWS tells one by one is asked within the hour", async (t) => {
  const world = await bed(t);
  const end = world.serve();
  const names = Array.from({ length: 12 }, (_, i) => `in-${i}`);
  for (const [i, name] of names.entries())
    await world.ingress(name, { [`${name}.example.com`]: ["Prefix / web:80", "Prefix /api api:80"] }, { "group.name": `g${i % 4}` });
  await settled(world, ...names);
  await world.world.advance(10 * 60_000);
  end();
  world.resetCalls();
  world.serve();
  await world.world.advance(120_000);
  assert.deepEqual([world.mutations(), world.writes], [{}, []]);
  const calls = world.calls();
  assert.deepEqual(
    [calls.DescribeLoadBalancers, calls.DescribeListeners, calls.DescribeRules, calls.DescribeTargetHealth],
    [1, undefined, undefined, undefined],
    JSON.stringify(calls),
  );
  await world.world.advance(3_600_000);
  const { DescribeListeners, DescribeRules } = world.calls();
  assert.deepEqual([world.mutations(), DescribeListeners, DescribeRules], [{}, 4, 4]);
});

test("a crash after any call that changes something leaves nothing behind and nothing undone", async (t) => {
  const plan = { "shop.example.com": ["Prefix / web:80", "Prefix /api api:80"] };
  let deaths = 0;
  for (let after = 1; ; after++) {
    const world = await bed(t);
    const before = world.all("ec2/security-groups").length;
    let end = world.serve();
    let left = after;
    const off = world.onAwsMutation(() => {
      if (--left !== 0) return;
      end();
      deaths++;
    });
    await world.ingress("shop", plan);
    await world.world.advance(60_000);
    if (left > 0) {
      off();
      break;
    }
    off();
    end = world.serve();
    await settled(world, "shop");
    await world.world.advance(60_000);
    const counts = ["load-balancers", "listeners", "target-groups"].map((kind) => world.all(`elbv2/${kind}`).length);
    assert.deepEqual(counts, [1, 1, 2], `after call ${after}: ${world.lines.slice(-5).join("\n")}`);
    assert.equal(rulesIn(world).length, 2);
    await world.drop("shop");
    await world.until("it is gone", () => world.get("shop") === undefined, 30 * 60_000);
    assert.deepEqual([world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length], [0, 0]);
    await world.until("the security groups are gone", () => world.all("ec2/security-groups").length === before, 600_000);
  }
  assert.ok(deaths >= 8, `it died ${deaths} times`);
});

test("another scheme is another load balancer, of the name that the reference gives it, and serves before the old one goes", async (t) => {
  const world = await bed(t);
  let end = world.serve();
  await world.ingress("shop", { "*": ["Prefix / web:80", "Prefix /api api:80"] });
  await settled(world, "shop");
  await world.world.advance(300_000);
  const internal = world.hostname("shop");
  const standing = () => world.all<{ scheme: string; state: string }>("elbv2/load-balancers").map(({ scheme }) => scheme);
  await world.change("shop", { scheme: "internet-facing" });
  await world.until("another address", () => world.hostname("shop") !== internal, 600_000);
  assert.deepEqual(standing().toSorted(), ["internal", "internet-facing"], "clients of the old address are served still");
  const groups = world.all<{ arn: string }>("elbv2/target-groups");
  assert.equal(groups.length, 4, "each has target groups of its own");
  for (const { arn } of groups) assert.ok(world.targets(arn).length > 0, `${arn} has targets`);
  const moved = world.hostname("shop");

  // Whoever comes in the middle of it goes on.
  end();
  end = world.serve();
  await world.until("the old one is gone", () => standing().length === 1, 30 * 60_000);
  await world.world.advance(120_000);
  assert.deepEqual([standing(), world.hostname("shop")], [["internet-facing"], moved]);
  assert.deepEqual([world.all("elbv2/target-groups").length, world.bindings().length], [2, 2]);
  world.resetCalls();
  await world.world.advance(30 * 60_000);
  assert.deepEqual([world.mutations(), world.writes], [{}, []], "names of target groups that differ from the usual are no reason to write");

  end();
  await world.change("shop", { scheme: null, "listen-ports": "[" });
  world.serve();
  await world.world.advance(120_000);
  assert.deepEqual(standing(), ["internet-facing"], "nobody knows what it asks for");
});

test("a load balancer of a chosen name, and one that is protected, are replaced too", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.ingress(
    "shop",
    { "*": ["Prefix / web:80"] },
    {
      "load-balancer-name": "chosen",
      "load-balancer-attributes": "deletion_protection.enabled=true",
    },
  );
  await settled(world, "shop");
  await world.change("shop", { scheme: "internet-facing" });
  const standing = () => world.all<{ name: string; scheme: string }>("elbv2/load-balancers").map(({ name, scheme }) => `${name} ${scheme}`);
  await world.until("replaced", () => standing().join() === "chosen internet-facing", 600_000);
  await world.world.advance(120_000);
  assert.equal(world.all("elbv2/target-groups").length, 1);
});

test("the class that vanishes, and a group with an impossible name, take nothing away", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.ingress("shop", { "*": ["Prefix / web:80"] });
  await settled(world, "shop");
  await world.say("DELETE", "/apis/networking.k8s.io/v1/ingressclasses/alb");
  await world.change("shop", { tags: "a=b" });
  await world.world.advance(120_000);
  assert.equal(world.all("elbv2/load-balancers").length, 1);
  assert.match(
    world.events("shop").join("\n"),
    /FailedLoadGroupID: failed load groupID due to invalid ingress class: IngressClass.networking.k8s.io "alb" not found/,
  );
});

test("parameters of the class go before annotations, and an Ingress that moves to a group takes its rules along", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.say("POST", "/apis/elbv2.k8s.aws/v1beta1/ingressclassparams", {
    apiVersion: "elbv2.k8s.aws/v1beta1",
    kind: "IngressClassParams",
    metadata: { name: "public" },
    spec: { scheme: "internet-facing", tags: [{ key: "team", value: "platform" }], inboundCIDRs: ["10.0.0.0/8"] },
  });
  await world.say("POST", "/apis/networking.k8s.io/v1/ingressclasses", {
    metadata: { name: "public" },
    spec: { controller: "ingress.k8s.aws/alb", parameters: { apiGroup: "elbv2.k8s.aws", kind: "IngressClassParams", name: "public" } },
  });
  await world.ingress("shop", { "shop.example.com": ["Prefix / web:80"] }, { scheme: "internal" });
  await settled(world, "shop");
  await world.say(
    "PATCH",
    "/apis/networking.k8s.io/v1/namespaces/default/ingresses/shop",
    { spec: { ingressClassName: "public" } },
    "merge",
  );
  await world.world.advance(20 * 60_000);
  assert.deepEqual(
    world.all<{ scheme: string }>("elbv2/load-balancers").map(({ scheme }) => scheme),
    ["internet-facing"],
  );

  await world.change("shop", shared);
  await world.world.advance(10 * 60_000);
  assert.deepEqual(world.get("shop")?.metadata.finalizers, ["group.ingress.k8s.aws/g"]);
  assert.deepEqual(
    [world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length, rulesIn(world)],
    [1, 1, ["shop.example.com"]],
  );
});

const provider = {
  issuer: "https://idp",
  authorizationEndpoint: "https://idp/a",
  tokenEndpoint: "https://idp/t",
  userInfoEndpoint: "https://idp/u",
};

test("a log-in by a Secret that comes later, and that changes, is applied when it does", async (t) => {
  const world = await bed(t);
  world.aws.controls.change({ certificates: ["arn:aws:acm:us-east-1:123456789012:certificate/x"] });
  let end = world.serve();
  const oidc = { ...provider, secretName: "client" };
  await world.ingress(
    "shop",
    { "*": ["Prefix / web:80"] },
    {
      "listen-ports": '[{"HTTPS":443}]',
      "certificate-arn": "arn:aws:acm:us-east-1:123456789012:certificate/x",
      "auth-type": "oidc",
      "auth-idp-oidc": JSON.stringify(oidc),
    },
  );
  await world.world.advance(60_000);
  assert.match(world.events("shop").join("\n"), /secret "default\/client" not found/);
  const data = (secret: string) => ({
    clientID: Buffer.from("id").toString("base64"),
    clientSecret: Buffer.from(secret).toString("base64"),
  });
  await world.say("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "client" }, data: data("first-secret") });
  await settled(world, "shop");
  await world.world.advance(10 * 60_000);
  world.resetCalls();
  await world.world.advance(10 * 60_000);
  assert.deepEqual(world.mutations(), {}, "a secret that AWS does not tell is not written at every look");
  await world.say("PATCH", "/api/v1/namespaces/default/secrets/client", { data: data("second-secret") }, "merge");
  await world.world.advance(60_000);
  assert.deepEqual(world.mutations(), { ModifyRule: 1 });
  world.resetCalls();
  await world.change("shop", { "target-type": "nonsense" });
  await world.world.advance(10 * 60_000);
  assert.deepEqual(world.mutations(), {}, "nor is it sent again for one that keeps what it asked for before");
  await world.change("shop", { "target-type": null });
  await world.world.advance(60_000);

  end();
  await world.say("PATCH", "/api/v1/namespaces/default/secrets/client", { metadata: { labels: { a: "b" } } }, "merge");
  world.resetCalls();
  end = world.serve();
  await world.world.advance(60_000);
  assert.deepEqual([world.mutations(), world.writes], [{}, []], "what is as it was is not sent again");

  end();
  await world.say("PATCH", "/api/v1/namespaces/default/secrets/client", { data: data("third-secret") }, "merge");
  world.resetCalls();
  world.serve();
  await world.world.advance(60_000);
  assert.deepEqual(world.mutations(), { ModifyRule: 1 }, "changed while nobody looked");
  assert.doesNotMatch(world.lines.join("\n"), /(first|second|third)-secret/);
});

test("only Secrets that carry the required label are read", async (t) => {
  const world = await bed(t);
  world.aws.controls.change({ certificates: ["arn:aws:acm:us-east-1:123456789012:certificate/x"] });
  world.serve("--required-secrets-label=team=a");
  const data = { clientID: Buffer.from("id").toString("base64"), clientSecret: Buffer.from("s3cret").toString("base64") };
  await world.say("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "client", labels: { team: "b" } }, data });
  await world.ingress(
    "shop",
    { "*": ["Prefix / web:80"] },
    {
      "certificate-arn": "arn:aws:acm:us-east-1:123456789012:certificate/x",
      "auth-type": "oidc",
      "auth-idp-oidc": JSON.stringify({ ...provider, secretName: "client" }),
    },
  );
  await world.world.advance(60_000);
  assert.match(world.events("shop").join("\n"), /secret default\/client is missing required label team=a/);
  await world.say("PATCH", "/api/v1/namespaces/default/secrets/client", { metadata: { labels: { team: "a" } } }, "merge");
  await settled(world, "shop");
});

test("certificates are found by host names, trust stores and target groups by their names, each for one call", async (t) => {
  const world = await bed(t);
  await world.group("theirs", { protocol: "HTTP" });
  const [wide, narrow] = await world.issue(["*.example.com"], ["shop.example.com"]);
  world.serve();
  const forward = '{"type":"forward","forwardConfig":{"targetGroups":[{"targetGroupName":"theirs"}]}}';
  await world.ingress(
    "shop",
    { "shop.example.com": ["Prefix / web:80", "Prefix /theirs theirs:use-annotation"] },
    { "listen-ports": '[{"HTTPS":443}]', "actions.theirs": forward },
  );
  await settled(world, "shop");
  await world.world.advance(60_000);
  const [listener] = world.all<{ certificate: string; moreCertificates: readonly string[] }>("elbv2/listeners");
  assert.deepEqual([listener?.certificate, ...(listener?.moreCertificates ?? [])].toSorted(), [wide, narrow].toSorted());
  assert.equal(rulesIn(world).length, 2);
  assert.deepEqual([world.calls().ListCertificates, world.calls().DescribeCertificate], [1, undefined]);
  await world.change("shop", {}, { "other.org": ["Prefix / web:80"] });
  await world.world.advance(60_000);
  assert.match(world.events("shop").join("\n"), /no certificate found for host: other.org/);
  assert.equal(rulesIn(world).length, 2, "what stands stays");
});

test("with three calls in ten failing, and answers that are lost, everything comes to stand and in the end to go", async (t) => {
  const world = await bed(t);
  const before = world.all("ec2/security-groups").length;
  const effects = [{ kind: "fail", code: "InternalFailure", status: 500 }, { kind: "lose-answer" }] as const;
  for (const effect of effects) {
    for (const action of ["elasticloadbalancing:*", "ec2:*"]) world.aws.controls.faults.add({ action, effect, probability: 0.15 });
  }
  world.serve();
  const names = ["a", "b", "c", "own"];
  for (const name of names) {
    await world.ingress(name, { [`${name}.example.com`]: ["Prefix / web:80", "Prefix /api api:80"] }, name === "own" ? {} : shared);
  }
  await world.until("all have an address", () => names.every((name) => world.hostname(name) !== ""), 2 * 3_600_000);
  await world.until("all rules stand", () => rulesIn(world).length === 8, 2 * 3_600_000);
  assert.ok(
    world.lines.some((line) => line.includes("InternalFailure")),
    "calls did fail",
  );
  await world.drop("b");
  await world.until("b is gone", () => world.get("b") === undefined, 2 * 3_600_000);
  assert.equal(rulesIn(world).length, 6);
  world.aws.controls.faults.remove(undefined);
  await world.world.advance(30 * 60_000);
  const counts = ["load-balancers", "listeners", "target-groups"].map((kind) => world.all(`elbv2/${kind}`).length);
  assert.deepEqual([...counts, rulesIn(world).length], [2, 2, 6, 6], world.lines.slice(-5).join("\n"));
  for (const name of ["a", "c", "own"]) await world.drop(name);
  await world.until("all are gone", () => names.every((name) => world.get(name) === undefined), 2 * 3_600_000);
  assert.deepEqual([world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length], [0, 0]);
  await world.until("the security groups are gone", () => world.all("ec2/security-groups").length === before, 600_000);
});

test("a key that is a typo, or needs a gate that is closed, is told to its author once, and the Ingress is served", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.ingress("shop", { "*": ["Prefix / web:80"] }, { "create-acm-cert": "true", "helthcheck-path": "/" });
  await settled(world, "shop");
  await world.change("shop", { tags: "a=b" });
  await world.world.advance(60_000);
  const warnings = world.events("shop").filter((event) => event.includes("LoadBalancerWarning"));
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0] ?? "",
    /create-acm-cert has no effect while the feature gate EnableCertificateManagement is off; annotation .*helthcheck-path is not known .* did you mean .*healthcheck-path/,
  );
});

test("twenty load balancers: half of the reference's calls to create them, a tenth at a restart, fewer to delete them", async (t) => {
  const world = await bed(t);
  let end = world.serve();
  const names = Array.from({ length: 20 }, (_, i) => `in-${i}`);
  // In this world the addresses of pods are on no interface of their nodes, which is looked up again and again.
  const count = () => {
    const { DescribeInstances: _, ...calls } = world.calls();
    return Object.values(calls).reduce((sum, times) => sum + times, 0);
  };
  world.resetCalls();
  for (const name of names) await world.ingress(name, { [`${name}.example.com`]: ["Prefix / web:80"] });
  await settled(world, ...names);
  await world.world.advance(10 * 60_000);
  const created = count();
  end();
  world.resetCalls();
  end = world.serve();
  await world.world.advance(10 * 60_000);
  const restarted = count();
  world.resetCalls();
  for (const name of names) await world.drop(name);
  await world.until("all are gone", () => names.every((name) => world.get(name) === undefined), 2 * 3_600_000);
  await world.world.advance(10 * 60_000);
  const deleted = count();
  // Measured on the reference with 40: 1,048, 528 and 363.
  assert.ok(created <= 1048 / 2 / 2, `${created} to create`);
  assert.ok(restarted <= 528 / 10 / 2, `${restarted} at a restart`);
  assert.ok(deleted <= 363 / 2, `${deleted} to delete`);
});

test("one that goes to another controller no longer points to the load balancer that it had; an address of that controller's stays", async (t) => {
  const world = await bed(t);
  world.serve();
  for (const name of ["first", "second"]) await world.ingress(name, { "*": ["Prefix / web:80"] });
  await settled(world, "first", "second");
  const path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses/second";
  for (const name of ["first", "second"]) await world.change(name, { "kubernetes.io/ingress.class": "nginx" });
  await world.say("PATCH", `${path}/status`, { status: { loadBalancer: { ingress: [{ hostname: "nginx.example.com" }] } } }, "merge");
  const isLeft = (name: string) => (world.get(name)?.metadata.finalizers ?? []).length === 0;
  await world.until("both are let go", () => isLeft("first") && isLeft("second"), 600_000);
  assert.deepEqual([world.hostname("first"), world.hostname("second")], ["", "nginx.example.com"]);
  const notes = world.cluster.objects("ingresses.networking.k8s.io").flatMap(({ metadata }) => Object.keys(metadata.annotations ?? {}));
  assert.deepEqual(new Set(notes), new Set(["kubernetes.io/ingress.class"]), "and nothing of ours is written on them");
  assert.equal(world.all("elbv2/load-balancers").length, 0);
});
