/** The application kind against the simulated account: what stands after a pass needs no other, wherever a process ends. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Applied, apply } from "../../aws/apply.ts";
import { Clouds } from "../../aws/cloud.ts";
import { describeLoadBalancers, removeTags } from "../../aws/elbv2-actions.ts";
import type { Step } from "../../aws/plan.ts";
import { noSettings } from "../../aws/settings.ts";
import { eventual } from "../../aws/testing/eventual.ts";
import { openGate } from "../../runtime/gate.ts";
import { silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { Secret } from "../../runtime/secret.ts";
import { type CloudOptions, createCloud } from "../../sandbox/cloud/cloud.ts";
import { standardNetwork } from "../../sandbox/cloud/network.ts";
import { Shapes } from "../../sandbox/cloud/protocol/shapes.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { Inventory } from "../inventory.ts";
import type { ApplicationLoadBalancer } from "../model.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import type { Action, ListenerRule } from "../routing.ts";
import { partTag } from "./account.fixture.ts";
import { application } from "./kind.ts";
import { applicationModel, listener, rule, targetGroup } from "./model.fixture.ts";
import type { SeenApplication } from "./plan.ts";

const region = "us-east-1";
const shapes = new Shapes();
const ask = { cause: "test", signal: new AbortController().signal, urgency: "user" } as const;
/** Certificates that the account has: `certificate(1)` … */
const certificate = (n: number) => `arn:aws:acm:${region}:123456789012:certificate/${n}`;

const owner = {
  key: "shop",
  hasMarks: (tags) => tags.stack === "shop",
  marks: { partOf: (tags) => tags[partTag], securityGroupPart: "group", isForeign: (key) => key === "theirs" },
} as Pick<LoadBalancerOwner, "key" | "hasMarks" | "marks"> as LoadBalancerOwner;

async function applicationBed(settings: CloudOptions["settings"] = {}) {
  const world = virtualWorld(1, { environment: { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "of-no-worth" } });
  const aws = createCloud({ world, seed: 1, region, shapes, settings: { certificates: ["*"], ...settings } });
  const network = standardNetwork(aws, { clusterId: "test" });
  const host = { world, log: silentLog, metrics: newRegistry() };
  const clouds = new Clouds({ host, transport: aws.handle, gate: openGate(), settings: { ...noSettings, region }, version: "test" });
  const cloud = clouds.in(region);
  await cloud.preload(describeLoadBalancers);
  const vpc = network.vpcId;
  const remembersNothing = () => new Inventory(cloud, world.clock, { vpc, cluster: { id: "test", legacy: false } });
  const observe = async (model: ApplicationLoadBalancer, inventory: Inventory): Promise<SeenApplication> => {
    const { attributes, listeners, capacity } = model;
    const [found] = await application.findMarked(owner, inventory, 0, ask);
    const options = {
      owner,
      tags: true,
      targetGroupAttributes: true,
      attributesKey: "",
      attributesAgeMs: 0,
      managed: {
        attributes: Object.keys(attributes).length > 0,
        listenerAttributes: listeners.map(({ port }) => port),
        capacity: capacity !== undefined,
      },
    };
    return application.withoutStrangers(await application.observe(found, options, inventory, ask), model, owner, inventory, ask);
  };
  /** Unless told otherwise, that of a process that has just started. */
  const look = (model: ApplicationLoadBalancer, inventory = remembersNothing()): Promise<readonly Step[]> =>
    eventual(
      world,
      observe(model, inventory).then((seen) => application.plan(model, seen, vpc, { subnets: [], routeTables: [], zoneTypes: {} })),
    );
  return {
    cloud,
    world,
    remembersNothing,
    /** A model whose load balancer has room in this account. */
    model: (given: Partial<ApplicationLoadBalancer> = {}): ApplicationLoadBalancer =>
      applicationModel({
        subnets: network.publicSubnetIds.map((subnet) => ({ subnet })),
        securityGroups: { kind: "wanted", groups: [{ kind: "given", id: network.nodeGroupId }] },
        ...given,
      }),
    look,
    /** One pass: plans, and carries out the plan, or only its first steps. */
    async pass(model: ApplicationLoadBalancer, first = Number.POSITIVE_INFINITY): Promise<{ calls: string[]; applied: Applied }> {
      const calls: string[] = [];
      const steps = (await look(model)).slice(0, first);
      const applied = await eventual(world, apply(steps, cloud, { ...ask, onStep: ({ action }) => void calls.push(action.name) }));
      return { calls, applied };
    },
  };
}

const https = (...certificates: number[]) => ({ port: 443, protocol: "HTTPS", certificates: certificates.map(certificate) }) as const;

const logIn: Action = {
  kind: "authenticate-oidc",
  issuer: "https://idp.example.com",
  authorizationEndpoint: "https://idp.example.com/auth",
  tokenEndpoint: "https://idp.example.com/token",
  userInfoEndpoint: "https://idp.example.com/user",
  clientId: new Secret("shop"),
  clientSecret: new Secret("correct-horse"),
  secretChanged: false,
  scope: "openid",
  sessionCookie: "AWSELBAuthSessionCookie",
  sessionSeconds: 604_800,
  onUnauthenticated: "authenticate",
};
const withLogIn = (priority: number, path: string, group: string): ListenerRule =>
  rule(priority, path, group, { actions: [logIn, { kind: "forward", to: [{ group }] }] });

const { healthCheck } = targetGroup("web");
const grpc = targetGroup("web", {
  name: "web-grpc",
  protocolVersion: "GRPC",
  healthCheck: { ...healthCheck, path: "/AWS.ALB/healthcheck", matcher: { kind: "grpc", codes: "12" } },
});

const unnamed = { "routing.http.response.server.enabled": "false" };

/** Each follows on the one before it. */
const histories: Readonly<Record<string, readonly Partial<ApplicationLoadBalancer>[]>> = {
  "rules that change places, come and go": [
    {},
    { listeners: [listener({ rules: [rule(1, "/*", "web"), rule(2, "/api", "api"), rule(3, "/new", "api")] })] },
    { listeners: [listener({ rules: [rule(1, "/first", "web"), rule(2, "/*", "web"), rule(3, "/api", "api")] })] },
    { listeners: [listener({ rules: [rule(5, "/api", "api")] })] },
    { listeners: [listener({ rules: [] })], targetGroups: [] },
  ],
  "HTTP to HTTPS and back on one port": [
    { listeners: [listener({ port: 443 })] },
    { listeners: [listener({ ...https(1, 2, 3), rules: [rule(1, "/api", "api")] })] },
    { listeners: [listener({ ...https(2, 4), attributes: unnamed, rules: [rule(1, "/api", "api")] })] },
    { listeners: [listener({ port: 443, attributes: unnamed, rules: [rule(1, "/api", "api")] })] },
  ],
  "log-in that comes and goes with HTTPS": [
    { listeners: [listener({ port: 443, rules: [rule(1, "/api", "api"), rule(2, "/*", "web")] })] },
    { listeners: [listener({ ...https(1), rules: [withLogIn(1, "/api", "api"), rule(2, "/*", "web")] })] },
    { listeners: [listener({ port: 443, rules: [rule(1, "/api", "api"), rule(2, "/*", "web")] })] },
  ],
  "a default action whose group goes": [
    { listeners: [listener({ defaultActions: [{ kind: "forward", to: [{ group: "web" }] }], rules: [rule(1, "/api", "api")] })] },
    { listeners: [listener({ rules: [rule(1, "/api", "api")] })], targetGroups: [targetGroup("api")] },
    { listeners: [listener({ port: 81 })], targetGroups: [] },
  ],
  "groups of another protocol": [
    {},
    {
      targetGroups: [targetGroup("api"), grpc],
      listeners: [listener({ ...https(1), rules: [rule(1, "/api", "api"), rule(2, "/*", "web-grpc")] })],
    },
    {},
  ],
  "tags, attributes and weights": [
    {
      attributes: { "idle_timeout.timeout_seconds": "61" },
      listeners: [
        listener({
          attributes: unnamed,
          rules: [
            rule(1, "/api", "api", {
              actions: [
                {
                  kind: "forward",
                  to: [
                    { group: "api", weight: 1 },
                    { group: "web", weight: 9 },
                  ],
                  stickiness: { enabled: true, seconds: 60 },
                },
              ],
            }),
            rule(2, "/old", "web", { actions: [{ kind: "redirect", protocol: "HTTPS", port: "443", status: "HTTP_301" }] }),
            rule(3, "/x", "web", {
              conditions: [
                { field: "host-header", match: "wildcard", values: ["a.example.com", "*.b.example.com"] },
                { field: "http-header", header: "x-team", match: "wildcard", values: ["1"] },
                { field: "query-string", values: [{ key: "a", value: "b" }] },
              ],
              transforms: [{ kind: "url-rewrite", rewrites: [{ regex: "^/x", replace: "/" }] }],
            }),
          ],
        }),
      ],
      targetGroups: [targetGroup("api", { attributes: { "slow_start.duration_seconds": "30" } }), targetGroup("web")],
    },
    {
      tags: { stack: "shop", part: "LoadBalancer", team: "a" },
      listeners: [
        listener({ rules: [rule(3, "/x", "web"), rule(4, "/api", "api", { tags: { stack: "shop", part: "80:4", team: "a" } })] }),
      ],
    },
  ],
};

for (const [what, models] of Object.entries(histories)) {
  test(`${what}: one pass each, and then nothing`, async () => {
    const bed = await applicationBed();
    for (const [i, given] of models.entries()) {
      const model = bed.model(given);
      assert.equal((await bed.pass(model)).applied.kind, "done", `${i}`);
      assert.deepEqual(
        (await bed.look(model)).map(({ what: step }) => step),
        [],
        `${i}`,
      );
    }
  });

  test(`${what}: a process that ends after every single step gets there too`, async () => {
    const bed = await applicationBed();
    for (const [i, given] of models.entries()) {
      const model = bed.model(given);
      let passes = 0;
      while ((await bed.pass(model, 1)).calls.length > 0) assert.ok(++passes < 60, `${i}: no end`);
    }
  });
}

const many = (count: number, of: string) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`${of}${i}`, ""]));
const marks = { stack: "shop", part: "LoadBalancer" };

/** Quotas that are met: what comes has room only when what goes has gone. */
const tight: Readonly<
  Record<string, readonly [quota: object, before: Partial<ApplicationLoadBalancer>, after: Partial<ApplicationLoadBalancer>]>
> = {
  rules: [
    { rulesPerApplicationLoadBalancer: 4 },
    { listeners: [80, 81].map((port) => listener({ port, rules: [rule(1, "/api", "api"), rule(2, "/*", "web")] })) },
    { listeners: [80, 81].map((port) => listener({ port, rules: [rule(1, "/api", "api"), rule(3, "/new", "web")] })) },
  ],
  certificates: [{ certificatesPerLoadBalancer: 2 }, { listeners: [listener(https(1, 2, 3))] }, { listeners: [listener(https(1, 4, 5))] }],
  "target groups": [
    { targetGroupsPerApplicationLoadBalancer: 2 },
    {},
    {
      targetGroups: [targetGroup("api"), targetGroup("shop")],
      listeners: [listener({ rules: [rule(1, "/api", "api"), rule(3, "/shop", "shop")] })],
    },
  ],
  tags: [{}, { tags: { ...marks, ...many(40, "old") } }, { tags: { ...marks, ...many(40, "new") } }],
};

for (const [what, [quotas, before, after]] of Object.entries(tight)) {
  test(`where the quota of ${what} is met, what goes makes room for what comes`, async () => {
    const bed = await applicationBed({ quotas } as Parameters<typeof applicationBed>[0]);
    for (const model of [bed.model(before), bed.model(after)]) {
      assert.equal((await bed.pass(model)).applied.kind, "done");
      assert.deepEqual(await bed.look(model), []);
    }
  });
}

test("a target group whose marks were taken off a moment ago is not deleted", async () => {
  const bed = await applicationBed();
  await bed.pass(bed.model());
  const inventory = bed.remembersNothing();
  assert.deepEqual(await bed.look(bed.model(), inventory), []);
  const groups = await eventual(bed.world, bed.cloud.loadBalancers.targetGroups(ask));
  const web = groups.find(({ TargetGroupName }) => TargetGroupName === "web")!.TargetGroupArn!;
  await eventual(bed.world, bed.cloud.call(removeTags, { ResourceArns: [web], TagKeys: ["stack"] }, ask));
  const without = bed.model({ targetGroups: [targetGroup("api")], listeners: [listener({ rules: [rule(1, "/api", "api")] })] });
  const steps = (await bed.look(without, inventory)).map(({ what }) => what);
  assert.deepEqual(steps, ["delete rule 2 of HTTP:80 of load balancer k8s-shop"]);
  // Also while something is kept for somebody who cannot be understood.
  const careful = await bed.look({ ...without, keepsUnclaimed: { prefixes: ["else"] } }, inventory);
  assert.deepEqual(
    careful.filter(({ effect }) => effect === "delete").map(({ what }) => what),
    steps,
  );
});

test("on a listener kept for somebody who cannot be understood, the rules of those who have moved on go", async () => {
  const bed = await applicationBed();
  await bed.pass(bed.model({ listeners: [listener({ rules: [rule(1, "/api", "api"), rule(2, "/*", "web")] })] }));
  const moved = bed.model({
    targetGroups: [targetGroup("api")],
    listeners: [listener({ port: 81, rules: [rule(1, "/api", "api")] })],
    keepsUnclaimed: { prefixes: ["shop/web-web"] },
  });
  const deletions = async () => (await bed.look(moved)).flatMap(({ effect, what }) => (effect === "delete" ? [what] : []));
  assert.deepEqual(await deletions(), ["delete rule 1 of HTTP:80 of load balancer k8s-shop"]);
  assert.equal((await bed.pass(moved)).applied.kind, "done");
  assert.deepEqual(await bed.look(moved), []);
});
