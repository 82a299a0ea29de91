/** `fairlead plan` and `fairlead explain` for Gateways. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { stringify } from "yaml";
import { explainService } from "../../src/commands/explain.ts";
import { plan } from "../../src/commands/plan.ts";
import { command } from "../bed/command.ts";
import { type GatewayWorld, gatewayWorld } from "../bed/gateway-world.ts";

async function bed(t: TestContext): Promise<GatewayWorld> {
  const world = await gatewayWorld();
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
const api = "gateway.networking.k8s.io/v1";
const ruleKind = "ListenerRuleConfiguration";
const targets = { kind: "TargetGroupConfiguration", apiVersion: "gateway.k8s.aws/v1" };

const objects = [
  {
    apiVersion: api,
    kind: "Gateway",
    metadata: { name: "edge", namespace: "default" },
    spec: { gatewayClassName: "alb", listeners: [{ name: "http", protocol: "HTTP", port: 80 }] },
  },
  {
    apiVersion: api,
    kind: "HTTPRoute",
    metadata: { name: "shop", namespace: "default" },
    spec: {
      parentRefs: [{ name: "edge" }],
      rules: [{ matches: [{ path: { type: "PathPrefix", value: "/" } }], backendRefs: [{ name: "web", port: 80 }] }],
    },
  },
  {
    ...targets,
    metadata: { name: "web", namespace: "default" },
    spec: { targetReference: { name: "web" }, defaultConfiguration: { targetType: "ip" } },
  },
] as const;

test("a ListenerRuleConfiguration of a manifest has the status that its controller would give it", async (t) => {
  const world = await bed(t);
  const authenticateOIDCConfig = {
    authorizationEndpoint: "https://login.example.com/authorize",
    issuer: "https://login.example.com",
    tokenEndpoint: "https://login.example.com/token",
    userInfoEndpoint: "https://login.example.com/user",
    secret: { name: "login" },
  };
  const actions = {
    answer: { type: "fixed-response", fixedResponseConfig: { statusCode: 200, contentType: "text/plain", messageBody: "hello" } },
    login: { type: "authenticate-oidc", authenticateOIDCConfig },
  };
  const filter = (name: string) => ({ type: "ExtensionRef", extensionRef: { group: "gateway.k8s.aws", kind: ruleKind, name } });
  const written = [
    objects[0],
    ...Object.entries(actions).map(([name, action]) => ({
      apiVersion: "gateway.k8s.aws/v1",
      kind: ruleKind,
      metadata: { name, namespace: "default" },
      spec: { actions: [action] },
    })),
    {
      ...objects[1],
      spec: {
        parentRefs: [{ name: "edge" }],
        rules: [
          { matches: [{ path: { type: "Exact", value: "/hello" } }], filters: [filter("answer")] },
          { matches: [{ path: { type: "PathPrefix", value: "/" } }], filters: [filter("login")], backendRefs: [{ name: "web", port: 80 }] },
        ],
      },
    },
    objects[2],
  ];
  await world.world.files.write("/shop.yaml", written.map((object) => stringify(object)).join("---\n"), 0o600);
  const { status, out } = await command(world, plan, "-f", "/shop.yaml", ...settings);
  assert.equal(status, 1);
  assert.match(out, /\+ create rule 1 of HTTP:80 of load balancer k8s-default-edge-<hash>: path \/hello/);
  const told = out.split("\n").filter((line) => line.includes("  ! "));
  assert.equal(told.length, 1, out);
  assert.match(told[0]!, /ListenerRuleConfiguration \[default\/login\] is not accepted\. Reason: {2}secret \[default\/login\] not found/);
});

test("the plan of a manifest is what then happens, afterwards nothing is left to do, and a deletion is planned too", async (t) => {
  const world = await bed(t);
  await world.world.files.write("/shop.yaml", objects.map((object) => stringify(object)).join("---\n"), 0o600);
  world.resetCalls();
  const { status, out, err } = await command(world, plan, "-f", "/shop.yaml", "-o", "json", ...settings);
  assert.equal(status, 2, err);
  assert.deepEqual(world.mutations(), {}, "nothing is done");
  const [{ gateway, steps }] = JSON.parse(out) as [{ gateway: string; steps: { action: string }[] }];
  assert.equal(gateway, "default/edge");
  const planned = steps.map(({ action }) => action.split(":")[1] ?? "").toSorted();

  world.serve();
  for (const { kind, metadata, spec } of objects) await world.add(`${kind.toLowerCase()}s`, metadata.name, spec);
  await world.programmed("edge");
  // The group that all load balancers share is made once for the cluster; the bindings fill the target groups.
  const { CreateSecurityGroup = 0, RegisterTargets: _, AuthorizeSecurityGroupIngress: _rules, ...rest } = world.mutations();
  const done = Object.entries({ ...rest, CreateSecurityGroup: CreateSecurityGroup - 1 }).flatMap(([action, count]) =>
    Array(count).fill(action),
  );
  const ofTargets = (action: string) => action !== "AuthorizeSecurityGroupIngress";
  assert.deepEqual(done.toSorted(), planned.filter(ofTargets));

  const again = await command(world, plan, "gateway/edge", ...settings);
  assert.deepEqual([again.status, again.out], [0, "Gateway default/edge: nothing to do\n"], again.err);
  const everything = await command(world, plan, "-A", ...settings);
  assert.match(everything.out, /Gateway default\/edge: nothing to do/);

  await world.route("bad", { "/bad": ["none:80"] });
  const faulty = await command(world, plan, "gateway/edge", ...settings);
  assert.equal(faulty.status, 1);
  assert.match(faulty.out, /! HTTPRoute default\/bad: BackendNotFound: Service \(default:none\) not found/);
});

test("explain tells routes, rules, subnets, targets and what is wrong", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.gateway("edge", ["HTTP:80", "TCP:81"]);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  const { status, out, err } = await command(world, explainService, "gateway/edge", ...settings);
  assert.equal(status, 0, err);
  for (const expected of [
    /Gateway default\/edge/,
    /as gateway.k8s.aws\/alb, by class alb/,
    /HTTPRoute default\/shop on port 80, for every name/,
    /HTTP:80 rule 1/,
    /listener tcp-81: Unsupported protocol TCP/,
    /published address /,
    /taken {3}subnet-/,
    /Fix what is wrong with these/,
  ])
    assert.match(out, expected);
  const unknown = await command(world, explainService, "gateway/none", ...settings);
  assert.match(unknown.err, /there is no Gateway default\/none/);
});
