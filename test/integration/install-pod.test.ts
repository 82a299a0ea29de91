/** What the chart installs, run as kubelet would run it: the entry point of the image with the arguments of the pod. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parse, parseAllDocuments, stringify } from "yaml";
import { template } from "../../deploy/chart/render.ts";
import { assemble } from "../../deploy/image/assemble.ts";
import { controllerTable } from "../../src/commands/controller-manager/controller-table.ts";
import { actionMetrics } from "../../src/interruptions/action-metrics.ts";
import { nodes, services } from "../../src/kube/builtin.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { DaemonSet } from "../../src/kube/types.ts";
import { bodyText, socketTransport } from "../../src/runtime/http.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { freePort } from "../../src/sandbox/cluster/real/free-port.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { type Bed, bed, eventually } from "../bed/bed.ts";
import { apply } from "../bed/manifests.ts";
import { startProcess } from "../bed/process.ts";
import { metricsIn, metricsOf, metricsPage, metricsPagePath } from "./metrics-page.ts";

const uninitialized = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };

/** An account with a tagged cluster of three instances, reachable over sockets as an instance reaches AWS. */
async function account(t: TestContext) {
  const cloud = createCloud({ world: realWorld(), settings: { speed: 100 } });
  const network = standardNetwork(cloud, { clusterId: "shop" });
  const instances = launchNodes(cloud, network, 3).map(({ id }) => cloud.account.ec2.instances.update(id, { state: "running" }));
  const [aws, metadata] = await Promise.all([serve(cloud), serveTransport(cloud.imds(instances[0]!.id))]);
  t.after(() => Promise.all([aws.close(), metadata.close()]));
  return { cloud, instances, aws: aws.url, metadata: metadata.url };
}

/** Installs the chart and starts the container of its pod. */
async function install(
  t: TestContext,
  { cluster }: Bed,
  { aws, metadata }: { readonly aws: string; readonly metadata: string },
  more: object = {},
) {
  const { folder, supervision } = cluster.real;
  const kubeconfig = await (await cluster.fairlead()).kubeconfig();
  const port = await freePort(realWorld());
  const values = {
    image: { repository: "registry.example.org/fairlead" },
    controllerManager: {
      securePort: port,
      // Instead of the token that kubelet would mount.
      extraArgs: { kubeconfig, "authentication-kubeconfig": kubeconfig, "authorization-kubeconfig": kubeconfig },
      env: [
        { name: "AWS_ENDPOINT_URL", value: aws },
        { name: "AWS_EC2_METADATA_SERVICE_ENDPOINT", value: metadata },
      ],
      metrics: { readers: [{ name: "prometheus", namespace: "default" }] },
      ...more,
    },
  };
  await writeFile(join(folder, "values.yaml"), stringify(values));
  const objects = parseAllDocuments(await template([`--values=${join(folder, "values.yaml")}`])).map((each) => each.toJS() as KubeObject);
  for (const object of objects) await apply(cluster.admin, object);
  const workload = objects.find(({ kind }) => kind === "DaemonSet") as DaemonSet;
  const container = workload.spec!.template.spec!.containers[0]!;
  await assemble(join(folder, "image"), { architecture: process.arch === "arm64" ? "arm64" : "amd64" });
  const [, ...words] = (await entryPoint()).map((word) => (word.startsWith("/") ? join(folder, "image", word) : word));
  const [first, ...rest] = words;
  const pod = await startProcess(supervision, folder, `pod-${port}`, first!, [...rest, ...(container.args ?? [])], {
    environment: Object.fromEntries((container.env ?? []).map(({ name, value = "" }) => [name, value])),
  });
  t.after(async () => {
    pod.signal("SIGTERM");
    await pod.exit();
  });
  const ask = async (path: string, token?: string) => {
    const transport = socketTransport({ tls: { insecure: true }, connectTimeoutMs: 1_000 });
    try {
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
      const answer = await transport.send({ method: "GET", url: new URL(path, `https://127.0.0.1:${port}`), headers });
      return { status: answer.status, text: await bodyText(answer) };
    } finally {
      await transport.close();
    }
  };
  return { pod, container, ask };
}

async function entryPoint(): Promise<readonly string[]> {
  const dockerfile = await readFile(new URL("../../deploy/image/Dockerfile", import.meta.url), "utf8");
  return JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!) as string[];
}

/** As a kubelet with --cloud-provider=external does. */
function register({ cluster }: Bed, instance: Instance) {
  return cluster.admin.create(nodes, { metadata: { name: instance.privateDnsName }, spec: { taints: [uninitialized] } });
}

test("installed without values but where AWS is, it finds its cluster by tag, initialises nodes and answers its probes", async (t) => {
  const here = await bed(t);
  const { cluster } = here;
  const place = await account(t);
  for (const instance of place.instances) await register(here, instance);
  const { pod, container, ask } = await install(t, here, place);

  await pod.says(/"cluster":"shop".*found the cluster in AWS/, 30_000);
  await eventually(async () => {
    const { items } = await cluster.admin.list(nodes);
    for (const { spec } of items) assert.deepEqual(spec?.taints?.filter(({ key }) => key === uninitialized.key) ?? [], []);
    assert.deepEqual(items.map(({ spec }) => spec?.providerID?.split("/").at(-1)).sort(), place.instances.map(({ id }) => id).sort());
  }, 30_000);
  for (const probe of [container.livenessProbe, container.readinessProbe]) {
    const path = probe?.httpGet?.path ?? "";
    await eventually(async () => assert.equal((await ask(path)).status, 200, path));
  }
  assert.doesNotMatch(await pod.logs(), /forbidden/i, "the shipped roles allow everything it does");
  pod.signal("SIGTERM");
  assert.equal((await pod.exit()).code, 0);
});

test("it makes a load balancer for a Service, and takes it away with the Service", async (t) => {
  // A build that does not carry the controller has nothing to show here.
  if (controllerTable["service-lb-controller"] === undefined) return;
  const here = await bed(t);
  const { cluster } = here;
  const place = await account(t);
  for (const instance of place.instances) await register(here, instance);
  const { pod } = await install(t, here, place);
  const target = { namespace: "default", name: "web" };
  await cluster.admin.create(services, { metadata: target, spec: { type: "LoadBalancer", ports: [{ port: 80, targetPort: 8080 }] } });
  await eventually(async () => {
    const { status } = await cluster.admin.get(services, target);
    assert.match(status?.loadBalancer?.ingress?.[0]?.hostname ?? "", /\.elb\./);
  }, 60_000);
  await cluster.admin.delete(services, target);
  await eventually(async () => {
    const { items } = await cluster.admin.list(services, { namespace: "default" });
    assert.ok(!items.some(({ metadata }) => metadata.name === "web"));
  }, 60_000);
  assert.doesNotMatch(await pod.logs(), /forbidden/i, "the shipped roles allow everything it does");
});

test("with service accounts of their own the controllers work too, the tagging controller among them", async (t) => {
  const here = await bed(t);
  const { cluster } = here;
  const place = await account(t);
  for (const instance of place.instances) await register(here, instance);
  const own = { useServiceAccountCredentials: true, controllers: { tagging: true }, tags: { team: "a" } };
  const { pod } = await install(t, here, place, own);
  await eventually(async () => {
    const tagged = place.instances.map(({ id }) => place.cloud.account.ec2.instances.get(id)?.tags.team);
    assert.deepEqual(tagged, ["a", "a", "a"]);
    const patched = (await cluster.writes()).filter(
      ({ resource, verb, agent }) => resource === "nodes" && verb === "patch" && agent.startsWith("fairlead"),
    );
    const writers = new Set(patched.map(({ user }) => user.split(":").at(-1)));
    assert.ok(writers.has("node-controller") && writers.has("tagging-controller"), [...writers].join(", "));
  }, 40_000);
  // That the namespace of the accounts exists is tried and not needed: kube-system is always there.
  const refused = (await pod.logs())
    .split("\n")
    .filter((line) => /forbidden/i.test(line) && !line.includes("create namespaces/kube-system"));
  assert.deepEqual(refused, [], "the shipped roles allow everything it does");
});

test("every metric that the alerts and the dashboard ask for is served, to those who may read it", async (t) => {
  const here = await bed(t);
  const place = await account(t);
  await register(here, place.instances[1]!);
  const everything = { controllers: { routes: true, tagging: true }, clusterCIDR: "10.200.0.0/16", tags: { team: "a" } };
  const { pod, ask } = await install(t, here, place, everything);
  await pod.says(/acquired the leader lease/, 30_000);
  const prometheus = await here.cluster.account("prometheus", { nonResourceURLs: ["/metrics"], verbs: ["get"] });
  assert.equal((await ask("/metrics")).status, 403);
  await eventually(async () => {
    const { status, text } = await ask("/metrics", prometheus.token);
    assert.equal(status, 200);
    const served = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name)).union(ofTerminationHandler);
    const missing = (await wantedMetrics()).filter((name) => !served.has(name.replace(/_(bucket|sum|count)$/, "")) && !served.has(name));
    assert.deepEqual(missing, []);
    await checkPage(metricsIn(text));
  }, 30_000);
});

/** What the termination handler serves, which this pod does not run. */
const ofTerminationHandler = (() => {
  const registry = newRegistry();
  actionMetrics(registry);
  return new Set(registry.getMetricsAsArray().map(({ name }) => name));
})();

/** What is served must be on the page, in the same words. With FAIRLEAD_WRITE_DOCS it is put there. */
async function checkPage(metrics: ReturnType<typeof metricsIn>): Promise<void> {
  if (process.env.FAIRLEAD_WRITE_DOCS) await writeFile(metricsPagePath, metricsPage(metrics));
  const explained = new Map(metricsOf(await readFile(metricsPagePath, "utf8")).map((metric) => [metric.name, metric]));
  for (const metric of metrics) assert.deepEqual(explained.get(metric.name), metric, "docs/reference/metrics.md is not current");
}

async function wantedMetrics(): Promise<readonly string[]> {
  const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");
  const alerts = parse(await read("deploy/chart/alerts.yaml")) as { groups: { rules: { expr: string }[] }[] };
  const expressions = alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
  const dashboard = await read("docs/grafana-dashboard.json").catch(() => "{}");
  const panels = (JSON.parse(dashboard) as { panels?: { targets?: { expr: string }[] }[] }).panels ?? [];
  expressions.push(...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)));
  const names = expressions.map((expression) => expression.replaceAll(/\b(by|on) \([^)]*\)/g, ""));
  return [...new Set(names.flatMap((expression) => expression.match(/\b(?:[a-z]+_){2,}[a-z]+\b(?=[{[)]| [=<>])/g) ?? []))];
}
