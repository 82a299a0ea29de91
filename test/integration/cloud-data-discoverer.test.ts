/** The discoverer and its proxy as processes on a real API server, under the roles of the chart; and what the chart makes of its values. */
import assert from "node:assert/strict";
import { request } from "node:https";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { template } from "../../deploy/chart/render.ts";
import { catalogDefinition } from "../../src/discovery/catalog-definition.ts";
import { catalogs } from "../../src/discovery/objects.ts";
import { configMaps, secrets } from "../../src/kube/builtin.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { PolicyRule } from "../../src/kube/types.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { bed, eventually, type TestProcess } from "../bed/bed.ts";
import { apply } from "../bed/manifests.ts";

const credentials = { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "of-no-worth", AWS_REGION: "us-east-1" };
const base = ["image.repository=registry.invalid/fairlead", "cloudDataDiscoverer.enabled=true", "cloudDataDiscoverer.region=us-east-1"];

interface Rendered extends KubeObject {
  readonly rules?: readonly PolicyRule[];
  readonly spec?: {
    readonly template?: {
      readonly spec: {
        readonly dnsPolicy: string;
        readonly tolerations: readonly object[];
        readonly containers: readonly {
          readonly name: string;
          readonly args: readonly string[];
          readonly env: readonly { readonly name: string; readonly value?: string }[];
          readonly resources: { readonly requests: Readonly<Record<string, string>> };
        }[];
      };
    };
  };
}

async function chart(...set: readonly string[]): Promise<readonly Rendered[]> {
  const text = await template(
    ["--show-only=templates/cloud-data-discoverer.yaml"],
    [...base, ...set].map((value) => `--set=${value}`),
  );
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Rendered | null)
    .filter((object) => object !== null);
}

const podOf = (objects: readonly Rendered[]) => objects.find(({ kind }) => kind === "Deployment")!.spec!.template!.spec;

test("two containers, the discoverer first; VPA, DNS and tolerations as the platform has them", async () => {
  const objects = await chart();
  const pod = podOf(objects);
  assert.deepEqual(
    pod.containers.map(({ name }) => name),
    ["cloud-data-discoverer", "kube-rbac-proxy"],
  );
  assert.deepEqual(pod.containers[0]!.args, ["cloud-data-discoverer", "--discovery-period=1h", "--listen-address=127.0.0.1:8081"]);
  assert.equal(pod.containers[0]!.env.find(({ name }) => name === "AWS_REGION")?.value, "us-east-1");
  assert.equal(pod.dnsPolicy, "ClusterFirstWithHostNet");
  assert.equal(podOf(await chart("cloudDataDiscoverer.bootstrapping=true")).dnsPolicy, "Default");
  assert.ok(!objects.some(({ kind }) => kind === "VerticalPodAutoscaler"));
  assert.deepEqual(Object.keys(pod.containers[0]!.resources.requests).sort(), ["cpu", "ephemeral-storage", "memory"]);
  const scaled = await chart("cloudDataDiscoverer.verticalPodAutoscaler=true");
  assert.ok(scaled.some(({ kind }) => kind === "VerticalPodAutoscaler"));
  assert.deepEqual(Object.keys(podOf(scaled).containers[0]!.resources.requests), ["ephemeral-storage"]);
  const exists = { operator: "Exists" };
  const untouched = { ...exists, effect: "NoSchedule" };
  assert.deepEqual(pod.tolerations, [
    { key: "node-role.kubernetes.io/master" },
    { key: "node-role.kubernetes.io/control-plane" },
    { key: "node.deckhouse.io/etcd-arbiter" },
    { key: "dedicated.deckhouse.io", ...exists },
    { key: "dedicated", ...exists },
    { key: "DeletionCandidateOfClusterAutoscaler" },
    { key: "ToBeDeletedByClusterAutoscaler" },
    ...["lost-quorum", "force-io-error", "ignore-fail-over"].map((name) => ({ key: `drbd.linbit.com/${name}` })),
    { key: "node.deckhouse.io/bashible-uninitialized", ...untouched },
    { key: "node.deckhouse.io/uninitialized", ...untouched },
    { key: "ToBeDeletedTaint", ...exists },
    { key: "node.deckhouse.io/csi-not-bootstrapped", ...untouched },
    ...["not-ready", "out-of-disk", "memory-pressure", "disk-pressure", "pid-pressure", "unreachable", "network-unavailable"].map(
      (name) => ({
        key: `node.kubernetes.io/${name}`,
      }),
    ),
  ]);
});

test("under the chart's roles it publishes everything, the proxy lets in who may, and both end rightly", async (t) => {
  const { cluster, fairlead } = await bed(t);
  await apply(cluster.admin, catalogDefinition);
  await eventually(async () => void (await cluster.admin.list(catalogs)));
  const cloud = createCloud({ world: realWorld() });
  standardNetwork(cloud, { clusterId: "test" });
  cloud.controls.deny("ec2:DescribeInstanceTopology");
  const served = await serve(cloud);
  t.after(() => served.close());
  const objects = await chart("cloudDataDiscoverer.clusterUUID=test");
  const rules = objects.filter(({ kind }) => kind === "ClusterRole" || kind === "Role").flatMap(({ rules: of = [] }) => of);
  const account = await cluster.account("discoverer", ...rules);
  const kubeconfig = await account.kubeconfig();
  const environment = { ...credentials, CLUSTER_UUID: "test", AWS_ENDPOINT_URL: served.url };
  const discoverer = await fairlead(["cloud-data-discoverer", `--kubeconfig=${kubeconfig}`, "--listen-address=127.0.0.1:0"], {
    environment,
  });
  await discoverer.says(/"Finish discovery"/);
  const inKubeSystem = (name: string) => ({ namespace: "kube-system", name });
  const { data } = await cluster.admin.get(configMaps, inKubeSystem("d8-cloud-provider-conditions"));
  assert.match(data?.conditions ?? "", /DescribeInstanceTopology is not allowed/);
  assert.ok(((await cluster.admin.get(catalogs, { name: "for-cluster-autoscaler" })).instanceTypes ?? []).length > 30);
  const secret = await cluster.admin.get(secrets, inKubeSystem("d8-cloud-provider-discovery-data"));
  assert.match(Buffer.from(secret.data?.["discovery-data.json"] ?? "", "base64").toString(), /"kind":"AWSCloudProviderDiscoveryData"/);
  assert.doesNotMatch(await discoverer.logs(), /forbidden/i);

  const proxied = {
    excludePaths: ["/healthz"],
    upstreams: [
      {
        upstream: `http://127.0.0.1:${await portOf(discoverer, "serving")}/`,
        path: "/",
        authorization: {
          resourceAttributes: { namespace: "ns", apiGroup: "apps", resource: "deployments", subresource: "prometheus-metrics", name: "d" },
        },
      },
    ],
  };
  const proxy = await fairlead(
    ["metrics-proxy", `--kubeconfig=${kubeconfig}`, "--secure-listen-address=127.0.0.1:0", "--livez-path=/livez"],
    {
      environment: { KUBE_RBAC_PROXY_CONFIG: JSON.stringify(proxied) },
    },
  );
  await proxy.says(/serving securely/);
  const port = await portOf(proxy, "serving securely");
  const scraper = await cluster.account("scraper", { apiGroups: ["apps"], resources: ["deployments/prometheus-metrics"], verbs: ["get"] });
  const stranger = await cluster.account("stranger");
  assert.deepEqual(await ask(port, "/healthz"), [200, "ok"]);
  assert.deepEqual(await ask(port, "/livez"), [200, "OK"]);
  assert.equal((await ask(port, "/metrics"))[0], 401);
  assert.equal((await ask(port, "/metrics", stranger.token))[0], 403);
  const [status, body] = await ask(port, "/metrics", scraper.token);
  assert.equal(status, 200);
  assert.match(body, /cloud_data_discovery_cloud_conditions_error\{.*message="DescribeInstanceTopology is not allowed"\} 1/);
  const taken = `--listen-address=127.0.0.1:${await portOf(discoverer, "serving")}`;
  const second = await fairlead(["cloud-data-discoverer", `--kubeconfig=${kubeconfig}`, taken], { environment });
  assert.equal((await second.exit()).code, 1);
  assert.match(await second.logs(), /address already in use/);
  for (const process of [proxy, discoverer]) {
    process.signal("SIGTERM");
    assert.equal((await process.exit()).code, 0);
  }
});

test("what keeps it from running ends it with status 1 and one line that says what", async (t) => {
  const { fairlead } = await bed(t);
  const refusals: readonly (readonly [readonly string[], Record<string, string>, RegExp])[] = [
    [[], {}, /AWS_REGION not found/],
    [["--discover-period=1h"], credentials, /unknown flag: --discover-period/],
    [["--discovery-period=0"], credentials, /greater than zero|missing unit/],
    [["--kubeconfig=/nowhere"], credentials, /nowhere/],
  ];
  for (const [flags, environment, text] of refusals) {
    const process = await fairlead(["cloud-data-discoverer", ...flags], { environment });
    assert.equal((await process.exit()).code, 1, flags.join(" "));
    assert.match(await process.logs(), text);
  }
});

/** The port that the log tells of. */
async function portOf(process: TestProcess, message: string): Promise<number> {
  const lines = (await process.logs()).split("\n").filter((line) => line.startsWith("{"));
  const said = lines.map((line) => JSON.parse(line) as { msg: string; port: number }).find(({ msg }) => msg === message);
  assert.ok(said, `${process.name} has not said ${message}`);
  return said.port;
}

function ask(port: number, path: string, token?: string): Promise<readonly [number, string]> {
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const asked = request({ host: "127.0.0.1", port, path, headers, rejectUnauthorized: false }, (answer) => {
      let body = "";
      answer.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      answer.on("end", () => resolve([answer.statusCode ?? 0, body]));
    });
    asked.on("error", reject);
    asked.end();
  });
}
