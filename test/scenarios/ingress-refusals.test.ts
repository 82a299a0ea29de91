/** What the API server refuses about one Ingress of a group, by a policy or a quota, keeps nobody else waiting. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";

async function bed(t: TestContext): Promise<IngressWorld> {
  const world = await ingressWorld();
  t.after(() => world.close());
  for (const name of ["web", "other"]) {
    await world.service(name);
    await world.pods(name, 1);
  }
  return world;
}

const shared = { "group.name": "g" };
const to = (host: string, service = "web") => ({ [`${host}.example.com`]: [`Prefix / ${service}:80`] });
const served = (world: IngressWorld, name: string) => world.until(`${name} has an address`, () => world.hostname(name) !== "", 300_000);
const rules = (world: IngressWorld) => JSON.stringify(world.all("elbv2/rules"));
const failures = (world: IngressWorld, name: string) => world.events(name).filter((event) => /Failed/.test(event));

/** Refuses requests whose path ends so and whose body has this in it. */
function refuse(world: IngressWorld, method: string, end: string, containing = "") {
  return world.cluster.faults.add({
    match: ({ method: given, url, body }) =>
      given === method &&
      url.pathname.endsWith(end) &&
      Buffer.from(body ?? "")
        .toString()
        .includes(containing),
    effect: { kind: "refuse", status: 403 },
  });
}

test("one that gets no finalizer gets nothing else, and the others are served", async (t) => {
  const world = await bed(t);
  const allow = refuse(world, "PATCH", "/ingresses/a", "finalizers");
  world.serve();
  await world.ingress("a", to("a"), shared);
  await world.ingress("b", to("b"), shared);
  await served(world, "b");
  assert.doesNotMatch(rules(world), /a\.example\.com/);
  assert.match(failures(world, "a").join("\n"), /FailedAddFinalizer/);
  assert.deepEqual(failures(world, "b"), []);
  await world.drop("b");
  await world.until(
    "what is left of b goes",
    () => world.get("b") === undefined && world.all("elbv2/load-balancers").length === 0,
    900_000,
  );
  allow();
  await world.until("a is served when it may be", () => world.hostname("a") !== "", 600_000);
});

test("an address that cannot be written into the status of one is written into those of others, and who leaves is let go", async (t) => {
  const world = await bed(t);
  const allow = refuse(world, "PATCH", "/ingresses/a/status");
  world.serve();
  for (const name of ["a", "b", "c"]) await world.ingress(name, to(name), shared);
  await served(world, "b");
  await served(world, "c");
  await world.drop("c");
  await world.until("c is let go", () => world.get("c") === undefined, 600_000);
  assert.match(failures(world, "a").join("\n"), /FailedUpdateStatus/);
  assert.deepEqual(failures(world, "b"), []);
  allow();
  await world.until("a shows it too", () => world.hostname("a") !== "", 600_000);
});

test("a binding that cannot be made is told to the Ingress that it is for, and the others are served", async (t) => {
  const world = await bed(t);
  refuse(world, "POST", "/targetgroupbindings", '"name":"other"');
  world.serve();
  await world.ingress("a", to("a", "other"), shared);
  await world.ingress("b", to("b"), shared);
  await served(world, "b");
  await world.until("its targets are registered", () => world.bindings().length === 1, 60_000);
  assert.match(failures(world, "a").join("\n"), /FailedDeployModel/);
  assert.deepEqual(failures(world, "b"), []);
});

test("an Ingress on which nothing can be written any more keeps nobody from being changed, or let go", async (t) => {
  const world = await bed(t);
  world.serve();
  for (const name of ["a", "b", "c"]) await world.ingress(name, to(name), shared);
  for (const name of ["a", "b", "c"]) await served(world, name);
  await world.world.advance(10 * 60_000);
  assert.match(JSON.stringify(world.get("a")), /checkpoint/);
  const allow = refuse(world, "PATCH", "/ingresses/a");
  await world.change("b", {}, to("changed"));
  await world.until("b is changed", () => rules(world).includes("changed.example.com"), 120_000);
  await world.drop("a");
  await world.drop("c");
  await world.until("c is let go", () => world.get("c") === undefined, 600_000);
  await world.until("a has no rule", () => !rules(world).includes("a.example.com"), 60_000);
  allow();
  await world.until("a is let go when it may be", () => world.get("a") === undefined, 600_000);
});

test("the load balancer of a former scheme goes, although another Ingress of the group gets no finalizer", async (t) => {
  const world = await bed(t);
  world.serve();
  for (const name of ["a", "b"]) await world.ingress(name, to(name), shared);
  for (const name of ["a", "b"]) await served(world, name);
  refuse(world, "PATCH", "/ingresses/c", "finalizers");
  await world.ingress("c", to("c"), shared);
  for (const name of ["a", "b"]) await world.change(name, { scheme: "internet-facing" });
  const schemes = () => world.all<{ scheme: string }>("elbv2/load-balancers").map(({ scheme }) => scheme);
  await world.until("the old one is gone", () => schemes().join() === "internet-facing", 3_600_000);
});

/** What cannot be cleared away, by what happens to the Ingress. */
const stuck: Readonly<
  Record<string, { readonly prevent: (world: IngressWorld) => void; readonly end: (world: IngressWorld) => Promise<void> }>
> = {
  "the load balancer of a former scheme": {
    prevent: (world) => world.aws.controls.deny("elasticloadbalancing:DeleteLoadBalancer"),
    end: (world) => world.change("a", { scheme: "internet-facing" }),
  },
  "a binding": {
    prevent: (world) =>
      world.cluster.faults.add({
        match: ({ method, url }) => method === "DELETE" && url.pathname.includes("/targetgroupbindings/"),
        effect: { kind: "refuse", status: 403 },
      }),
    end: (world) => world.drop("a"),
  },
  "its address": {
    prevent: (world) => refuse(world, "PATCH", "/ingresses/a/status"),
    end: (world) => world.change("a", { "kubernetes.io/ingress.class": "another" }),
  },
};

for (const [what, { prevent, end }] of Object.entries(stuck)) {
  test(`what cannot be cleared away is told to its author: ${what}`, async (t) => {
    const world = await bed(t);
    world.serve();
    await world.ingress("a", to("a"));
    await served(world, "a");
    await world.world.advance(300_000);
    assert.deepEqual(failures(world, "a"), []);
    prevent(world);
    await end(world);
    await world.until("it is told", () => failures(world, "a").length > 0, 1_200_000);
  });
}

test("one that is served, and has lost its finalizer for good, keeps what it has, and the others go on", async (t) => {
  const world = await bed(t);
  world.serve();
  for (const name of ["a", "b"]) await world.ingress(name, to(name), shared);
  for (const name of ["a", "b"]) await served(world, name);
  const path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses/a";
  const allow = refuse(world, "PATCH", "/ingresses/a", "resourceVersion");
  await world.say("PATCH", path, { metadata: { finalizers: null } }, "merge");
  await world.change("b", {}, to("changed"));
  await world.until("b is changed", () => rules(world).includes("changed.example.com"), 120_000);
  assert.match(rules(world), /a\.example\.com/);
  assert.match(failures(world, "a").join("\n"), /FailedAddFinalizer/);
  assert.deepEqual(failures(world, "b"), []);
  allow();
  await world.until("a has it again", () => world.get("a")?.metadata.finalizers?.length === 1, 600_000);
});
