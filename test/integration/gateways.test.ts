/** Gateways on a real API server: definitions that come later, status, addresses, and an end that leaves nothing, under the shipped roles. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { parseOptions } from "../../src/commands/load-balancer-controller/flags.ts";
import { operate } from "../../src/commands/load-balancer-controller/operate.ts";
import { services } from "../../src/kube/builtin.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { type KubeObject, resource } from "../../src/kube/resource.ts";
import { gatewayClasses, gateways, listenerSets, routes } from "../../src/loadbalancers/gateway/api.ts";
import { flavours } from "../../src/loadbalancers/gateway/flavours.ts";
import { targetGroupBindings } from "../../src/loadbalancers/targets/binding.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { realWorld, type World } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { accountText, textDifferences } from "../bed/account-text.ts";
import { bed, eventually } from "../bed/bed.ts";
import { installDefinitions } from "../bed/definitions.ts";
import { configurationDefinitions, gatewayApiDefinitions } from "../bed/gateway-definitions.ts";
import { shippedRules } from "../bed/shipped-rules.ts";
import { placeFlags } from "../referees/balancer-flags.ts";

const namespace = "default";
const patienceMs = 120_000;
/** Its time runs so much faster than ours: it looks for definitions, and after what AWS takes time for, every half a minute. */
const haste = 10;

const definitions = resource<KubeObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
});

test("definitions that come later are noticed, a Gateway with a ListenerSet and a route is served and says so, and its end leaves nothing", async (t) => {
  const { cluster } = await bed(t);
  const { admin } = cluster;
  await installDefinitions(admin);
  const cloud = createCloud({ world: realWorld(), settings: { speed: 200 } });
  const network = standardNetwork(cloud, { clusterId: "test" });
  for (const { id } of launchNodes(cloud, network, 1)) cloud.account.ec2.instances.update(id, { state: "running" });
  const ports = [{ name: "http", port: 80, targetPort: 8080 }];
  await admin.create(services, { metadata: { name: "web", namespace }, spec: { type: "NodePort", selector: { app: "web" }, ports } });
  const before = accountText(cloud.controls.snapshot());
  const account = await cluster.account("in-charge", ...(await shippedRules("load-balancer-controller.yaml")));
  const logs = start(t, cloud, network, await account.kubeconfig());

  await eventually(() => assert.match(logs(), /waits for definitions that the API server does not serve/), patienceMs);
  for (const definition of [...gatewayApiDefinitions, ...configurationDefinitions]) await admin.create(definitions, definition);
  for (const kind of [gatewayClasses, gateways, listenerSets, routes.HTTPRoute])
    await eventually(async () => void (await admin.list(kind as never)));
  await make(admin);

  await eventually(async () => {
    const { status } = await admin.get(gateways, { namespace, name: "edge" });
    const [balancer] = Object.values(cloud.controls.snapshot()["elbv2/load-balancers"] ?? {}) as { dnsName: string }[];
    assert.ok(balancer, logs());
    assert.deepEqual(status?.addresses, [{ type: "Hostname", value: balancer.dnsName.toLowerCase() }]);
    assert.deepEqual(trueOf(status?.conditions), ["Accepted", "Programmed"]);
    assert.equal(status?.attachedListenerSets, 1);
    assert.deepEqual(
      status?.listeners?.map(({ name, attachedRoutes }) => [name, attachedRoutes]),
      [["http", 1]],
    );
    const set = await admin.get(listenerSets, { namespace, name: "more" });
    assert.deepEqual(trueOf(set.status?.conditions), ["Accepted", "Programmed"]);
    const route = await admin.get(routes.HTTPRoute, { namespace, name: "shop" });
    assert.deepEqual(
      route.status?.parents?.map(({ conditions }) => trueOf(conditions)),
      [
        ["Accepted", "ResolvedRefs"],
        ["Accepted", "ResolvedRefs"],
      ],
    );
    const listeners = Object.values(cloud.controls.snapshot()["elbv2/listeners"] ?? {}) as { port: number }[];
    assert.deepEqual(listeners.map(({ port }) => port).toSorted(), [80, 8080]);
  }, patienceMs);

  await admin.delete(gateways, { namespace, name: "edge" });
  await eventually(async () => {
    assert.deepEqual((await admin.list(gateways)).items, [], logs());
    assert.deepEqual((await admin.list(targetGroupBindings)).items, []);
    assert.deepEqual(textDifferences(accountText(cloud.controls.snapshot()), before), []);
  }, patienceMs);
});

async function make(admin: KubeClient): Promise<void> {
  await admin.create(gatewayClasses, { metadata: { name: "alb" }, spec: { controllerName: flavours.alb.controllerName } });
  await admin.create(gateways, {
    metadata: { name: "edge", namespace },
    spec: {
      gatewayClassName: "alb",
      allowedListeners: { namespaces: { from: "Same" } },
      listeners: [{ name: "http", protocol: "HTTP", port: 80 }],
    },
  });
  await admin.create(listenerSets, {
    metadata: { name: "more", namespace },
    spec: { parentRef: { name: "edge" }, listeners: [{ name: "more", protocol: "HTTP", port: 8080 }] },
  });
  await admin.create(routes.HTTPRoute, {
    metadata: { name: "shop", namespace },
    spec: {
      parentRefs: [{ name: "edge" }, { kind: "ListenerSet", name: "more" }],
      rules: [{ matches: [{ path: { type: "PathPrefix", value: "/" } }], backendRefs: [{ name: "web", port: 80 }] }],
    },
  });
}

const trueOf = (conditions: readonly { readonly type: string; readonly status: string }[] = []) =>
  conditions.flatMap(({ type, status }) => (status === "True" ? [type] : [])).toSorted();

/** Starts the program inside this process; gives what it logs. */
function start(t: TestContext, cloud: Cloud, { vpcId: vpc }: Network, kubeconfig: string): () => string {
  const world = hurried({ AWS_ACCESS_KEY_ID: "AKIAHURRIED", AWS_SECRET_ACCESS_KEY: "of-no-worth", AWS_EC2_METADATA_DISABLED: "true" });
  let text = "";
  const destination = {
    write(line: string) {
      text += line;
    },
    flush() {},
  };
  const logs = openLogs(world.clock, { format: "json", verbosity: 0, vmodule: "", colour: false, destination });
  const { values: options } = parseOptions([
    ...placeFlags({ clusterName: "test", region: cloud.account.region, vpc }),
    "--metrics-bind-addr=0",
    `--kubeconfig=${kubeconfig}`,
  ]);
  const stopping = new AbortController();
  const host = { world, log: logs.log, metrics: newRegistry() };
  const running = operate({ options, version: "v0.0.0-test", host, network: { aws: cloud.handle }, stop: stopping.signal });
  // It ends by what ends it.
  const ended = running.catch(() => {});
  t.after(async () => {
    stopping.abort(new Error("the test ends"));
    await ended;
  });
  return () => text;
}

function hurried(environment: World["environment"]): World {
  const world = realWorld();
  const { clock } = world;
  const began = clock.now();
  return {
    ...world,
    hostname: world.hostname,
    environment,
    clock: {
      now: () => began + (clock.now() - began) * haste,
      monotonic: () => clock.monotonic() * haste,
      after: (ms, callback) => clock.after(ms / haste, callback),
    },
  };
}
