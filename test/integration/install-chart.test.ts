/** The chart: it is well formed, says what the values say, and the API server takes all of it. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseAllDocuments, stringify } from "yaml";
import { helm } from "../../deploy/build/helm.ts";
import { run } from "../../deploy/build/run.ts";
import { renderManifests, template } from "../../deploy/chart/render.ts";
import { parseOptions } from "../../src/commands/controller-manager/flags.ts";
import { validateOptions } from "../../src/commands/controller-manager/validate.ts";
import { parseDoctorFlags } from "../../src/commands/doctor.ts";
import { flagsOf, type Mode } from "../../src/commands/ebs-csi-driver/flags.ts";
import { type DriverValues, validate as validateDriver } from "../../src/commands/ebs-csi-driver/validate.ts";
import { clusterPrograms } from "../../src/commands/host/cluster-programs.ts";
import { processFlags } from "../../src/commands/host/flags.ts";
import { nodePrograms } from "../../src/commands/host/node-programs.ts";
import { check as checkHost, settle } from "../../src/commands/host/settle.ts";
import { parseOptions as parseHandlerOptions } from "../../src/commands/node-termination-handler/options.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import { parseFlags } from "../../src/runtime/flags.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { bed, type TestCluster } from "../bed/bed.ts";
import { apply } from "../bed/manifests.ts";

const chart = fileURLToPath(new URL("../../deploy/chart", import.meta.url));

const volumesOn = { enabled: true, image: { repository: "registry.example.org/ebs-csi-driver" } };

const queueURL = "https://sqs.us-east-1.amazonaws.com/111122223333/interruptions";

/** What installers of different clusters would write. */
const valueSets: Readonly<Record<string, object>> = {
  "no values": {},
  "a managed control plane, with a role for the service account": {
    controllerManager: {
      kind: "Deployment",
      replicas: 3,
      hostNetwork: false,
      nodeSelector: { "node-role.kubernetes.io/control-plane": null },
    },
    serviceAccount: { annotations: { "eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/fairlead" } },
  },
  "everything on": {
    controllerManager: {
      controllers: { routes: true, tagging: true },
      clusterCIDR: "10.200.0.0/16,fd00::/48",
      clusterName: "prod",
      tags: { team: "platform", "cost center": "a, b" },
      cloudConfig: "[Global]\nKubernetesClusterID = prod\n; a comment: with a colon\n",
      region: "eu-central-1",
      useServiceAccountCredentials: true,
      leaderMigration: true,
      doctor: { enabled: true, required: true },
      metrics: {
        readers: [{ name: "prometheus-k8s", namespace: "monitoring" }],
        serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
        prometheusRule: { enabled: true, runbookURL: "https://docs.example.org/runbooks/" },
      },
    },
    credentialProvider: {
      enabled: true,
      serviceAccountTokens: true,
      image: { repository: "registry.example.org/credential-provider" },
    },
    loadBalancerController: {
      enabled: true,
      clusterName: "prod",
      vpcId: "vpc-0123456789abcdef0",
      extraArgs: { "sync-period": "1h" },
      webhooks: {
        enabled: true,
        serviceMutator: true,
        targetControl: true,
        failurePolicy: "Fail",
        podExpressions: [{ key: "gates", operator: "Exists" }],
      },
    },
  },
  "one process for everything": {
    mode: "cluster",
    cluster: { extraArgs: { profiling: false } },
    controllerManager: {
      kind: "Deployment",
      controllers: { routes: true, tagging: true },
      clusterCIDR: "10.200.0.0/16",
      clusterName: "prod",
      tags: { team: "platform", "cost center": "a, b" },
      cloudConfig: "[Global]\nKubernetesClusterID = prod\n",
      leaderMigration: true,
      extraArgs: { "concurrent-service-syncs": 5, "feature-gates": ["AllAlpha=false", "AllBeta=false"] },
    },
  },
  "interruptions from a queue, with everything that can be said of them": {
    nodeTerminationHandler: {
      enabled: true,
      queueURL,
      options: {
        eventPolicies: { rebalance: "cordon", maintenance: "ignore" },
        webhookHeaders: { "Content-type": "application/json", "X-Team": "a" },
        emitKubernetesEvents: true,
        kubernetesEventsExtraAnnotations: "team=a",
        heartbeatInterval: 30,
        heartbeatUntil: 172800,
      },
      webhookURLSecretName: "hook",
      webhookTemplateConfigMapName: "hook",
      webhookTemplateConfigMapKey: "body",
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }],
      priorityClassName: "own",
      podLabels: { team: "a" },
      podAnnotations: { note: "b" },
    },
  },
  "interruptions on every node, off its network": {
    nodeTerminationHandler: { enabled: true, useHostNetwork: false, options: { procUptimeFile: "/proc/uptime" } },
  },
  "one process, which also reads the queue of interruptions": {
    mode: "cluster",
    controllerManager: { useServiceAccountCredentials: true },
    nodeTerminationHandler: { enabled: true, queueURL, options: { taintNode: true, eventPolicies: "rebalance=cordon" } },
  },
  "one process per cluster, and one per node": {
    mode: "cluster",
    nodeTerminationHandler: { enabled: true, options: { enableRebalanceMonitoring: true, emitKubernetesEvents: true } },
  },
  "volumes, with everything that can be said of them": {
    ebsCsiDriver: {
      ...volumesOn,
      snapshots: "always",
      controller: {
        clusterId: "prod",
        region: "eu-central-1",
        extraTags: { team: "{{ .PVCNamespace }}", "cost center": "a b" },
        extraArgs: { "modify-volume-request-handler-timeout": "5s" },
        serviceAccount: { annotations: { "eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/volumes" } },
      },
      node: { metadataSources: ["kubernetes"], reservedVolumeAttachments: 2, metricsPort: 3302, hostNetwork: true },
      sidecars: { provisioner: { extraArgs: ["--strict-topology"] }, attacher: { digest: `sha256:${"0".repeat(64)}` } },
      storageClass: { enabled: true, default: true, parameters: { type: "gp3", encrypted: "true" } },
    },
  },
  "volumes without sidecars": {
    ebsCsiDriver: {
      ...volumesOn,
      controller: { builtInRoles: true, clusterId: "prod", metadataLabeler: true, volumeLabels: true, volumeLabelsWebhook: true },
      node: { builtInRegistration: true, metricsPort: 3302 },
    },
  },
  "what a node manager needs of the provider": {
    artifacts: {
      enabled: true,
      settings: { storageClass: { exclude: ["sc\\d+"] }, snapshots: true },
      spotNodes: false,
      waitForMasters: true,
      dryRun: true,
      replicas: 2,
      priorityClassName: "cluster-low",
    },
  },
  "one process, which also does what a platform needs": {
    mode: "cluster",
    controllerManager: { kind: "Deployment", useServiceAccountCredentials: true, doctor: { enabled: true } },
    artifacts: { enabled: true, hostAddresses: false, rootDiskMigration: true },
    cloudDataDiscoverer: { enabled: true, clusterUUID: "6a1f0a55", discoveryPeriod: "2h", catalogDefinition: true },
  },
  "the offer of the account for a platform": {
    cloudDataDiscoverer: {
      enabled: true,
      region: "eu-central-1",
      clusterUUID: "6a1f0a55",
      catalogDefinition: true,
      credentialsSecretName: "keys",
      metrics: { readers: [{ name: "prometheus", namespace: "d8-monitoring" }, { user: "d8-monitoring:scraper" }], prometheusRule: true },
      nodeSelector: { "node-role.kubernetes.io/control-plane": "" },
      priorityClassName: "cluster-low",
    },
  },
  "a dry run beside another controller manager": {
    fullnameOverride: "fairlead-trial",
    controllerManager: { dryRun: true, securePort: 10268, controllers: { loadBalancers: false }, metrics: { service: false } },
    image: { repository: "registry.example.org/fairlead", digest: `sha256:${"0".repeat(64)}` },
    imagePullSecrets: [{ name: "pull" }],
  },
  "awkward values": {
    controllerManager: {
      extraArgs: { "cluster-name": "a: b # c", "feature-gates": ["AllAlpha=false", "AllBeta=false"], "kube-api-qps": 50, profiling: false },
      env: [{ name: "HTTPS_PROXY", value: "http://user:'quoted\"#@proxy:3128" }],
      tolerations: [],
      podAnnotations: { note: 'yes: "really" # no comment' },
      affinity: { nodeAffinity: {} },
    },
  },
};

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

interface Rendered extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly containers: readonly Container[];
        readonly initContainers?: readonly Container[];
        readonly topologySpreadConstraints?: readonly { readonly topologyKey: string }[];
        readonly tolerations?: readonly { readonly key?: string; readonly operator?: string; readonly effect?: string }[];
      };
    };
  };
  readonly rules?: readonly {
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly data?: Readonly<Record<string, string>>;
  readonly subjects?: readonly { readonly name: string }[];
}

/** What has no default. */
const given = { image: { repository: "registry.example.org/fairlead" } };

async function rendered(cluster: TestCluster, values: object): Promise<{ readonly file: string; readonly objects: readonly Rendered[] }> {
  const valuesFile = join(cluster.real.folder, "values.yaml");
  await writeFile(valuesFile, stringify({ ...given, ...values }));
  const text = await template([`--values=${valuesFile}`]);
  await run(await helm(), ["lint", "--strict", "--namespace=kube-system", `--values=${valuesFile}`, chart]);
  const file = join(cluster.real.folder, "rendered.yaml");
  await writeFile(file, text);
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Rendered);
  return { file, objects: objects.filter((object) => object !== null) };
}

function named(objects: readonly Rendered[], kind: string, name = "fairlead-controller-manager"): Rendered {
  const found = objects.find((object) => object.kind === kind && object.metadata?.name === name);
  assert.ok(found, `${kind} ${name} in ${objects.map((object) => `${object.kind} ${object.metadata?.name}`).join(", ")}`);
  return found;
}

const argsOf = (object: Rendered) => object.spec?.template?.spec?.containers[0]?.args ?? [];

/** As much of the Prometheus operator as an API server needs to take its objects. */
const monitoring = ["ServiceMonitor", "PrometheusRule"].map((kind) => {
  const [singular, plural] = [kind.toLowerCase(), `${kind.toLowerCase()}s`];
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.monitoring.coreos.com`,
      annotations: { "api-approved.kubernetes.io": "unapproved, for a test" },
    },
    spec: {
      group: "monitoring.coreos.com",
      scope: "Namespaced",
      names: { kind, singular, plural, listKind: `${kind}List` },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
});

for (const [what, values] of Object.entries(valueSets)) {
  test(`with ${what} the chart passes lint and the API server takes every object`, async (t) => {
    const { cluster } = await bed(t);
    for (const definition of monitoring) await apply(cluster.admin, definition);
    const admin = join(cluster.real.folder, "admin.kubeconfig");
    const kubectl = (...args: string[]) => run("kubectl", [`--kubeconfig=${admin}`, ...args]);
    await kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", "--all");
    const { file, objects } = await rendered(cluster, values);
    // Those of a platform are there before the chart is.
    for (const name of new Set(objects.flatMap(({ metadata }) => metadata?.namespace ?? [])))
      await apply(cluster.admin, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    const answer = await kubectl(
      "apply",
      "--server-side",
      "--dry-run=server",
      "--validate=strict",
      "--force-conflicts",
      `--filename=${file}`,
    );
    assert.equal(answer.trim().split("\n").length, objects.length, answer);
    for (const line of answer.trim().split("\n")) assert.match(line, /serverside-applied \(server dry run\)$/);
  });
}

for (const [what, values] of Object.entries(valueSets)) {
  test(`with ${what} the program takes the command line`, async (t) => {
    const { cluster } = await bed(t);
    const { objects } = await rendered(cluster, values);
    const manager = objects.find(
      ({ kind, metadata }) => /^(DaemonSet|Deployment)$/.test(kind ?? "") && /(controller-manager|cluster)$/.test(metadata?.name ?? ""),
    );
    const [command, ...args] = argsOf(manager!);
    if (command === "cluster") return assert.deepEqual(checkHost(await settledHost(objects, args)), []);
    assert.equal(command, "controller-manager");
    const { values: options, warnings } = parseOptions(args);
    validateOptions(options);
    assert.deepEqual(warnings, []);
  });
}

/** What `fairlead cluster` makes of the file and the command line that it is given. */
async function settledHost(objects: readonly Rendered[], argv: readonly string[]) {
  const { data = {} } = named(objects, "ConfigMap", "fairlead-cluster");
  const files = { ...realWorld().files, read: async (path: string) => Buffer.from(data[path.replace("/etc/fairlead/", "")]!) };
  const flags = processFlags("fairlead-cluster");
  return settle(parseFlags(flags, argv), flags, clusterPrograms, files);
}

test("in one process every program is given what it would be given alone", async (t) => {
  const { cluster } = await bed(t);
  const values = valueSets["one process for everything"]!;
  const { objects } = await rendered(cluster, values);
  const { programs } = await settledHost(objects, argsOf(named(objects, "Deployment", "fairlead-cluster")).slice(1));
  const { objects: separate } = await rendered(cluster, { ...values, mode: "separate" });
  const alone = parseOptions(argsOf(named(separate, "Deployment")).slice(1)).values;
  assert.deepEqual(
    programs.map(({ options }) => options),
    [{ ...alone, profiling: false, "cloud-config": "/etc/fairlead/cloud.conf" }],
  );
  const [names] = objects
    .filter(({ kind }) => kind === "Role")
    .map(({ rules = [] }) => rules.flatMap(({ resourceNames = [] }) => resourceNames));
  assert.deepEqual(names?.slice(-2), ["fairlead-cluster", "fairlead-cluster-dry-run"]);
});

test("in one process the termination handler reads the queue; without one it is on every node, in a process of its own", async (t) => {
  const { cluster } = await bed(t);
  const { objects } = await rendered(cluster, valueSets["one process, which also reads the queue of interruptions"]!);
  const { programs } = await settledHost(objects, argsOf(named(objects, "DaemonSet", "fairlead-cluster")).slice(1));
  const [, handler] = programs;
  assert.deepEqual(
    [handler?.name, handler?.options["queue-url"], handler?.options["taint-node"]],
    ["node-termination-handler", queueURL, true],
  );
  assert.ok(!objects.some(({ kind, metadata }) => kind === "Deployment" && metadata?.name?.includes("termination")));

  const { objects: perNode } = await rendered(cluster, valueSets["one process per cluster, and one per node"]!);
  const [command, ...args] = argsOf(named(perNode, "DaemonSet", "fairlead-node"));
  assert.equal(command, "node");
  const { data = {} } = named(perNode, "ConfigMap", "fairlead-node");
  const files = { ...realWorld().files, read: async () => Buffer.from(data["node.yaml"]!) };
  const flags = processFlags(undefined);
  const settled = await settle(parseFlags(flags, args), flags, nodePrograms, files);
  assert.deepEqual(checkHost(settled), []);
  assert.equal(settled.programs[0]?.options["enable-rebalance-monitoring"], true);
});

test("in one process the platform's programs are sections of its file, with roles for it, and no workload of their own", async (t) => {
  const { cluster } = await bed(t);
  const { objects } = await rendered(cluster, valueSets["one process, which also does what a platform needs"]!);
  const deployment = named(objects, "Deployment", "fairlead-cluster");
  const settled = await settledHost(objects, argsOf(deployment).slice(1));
  assert.deepEqual(checkHost(settled), []);
  const [, discoverer, artifacts] = settled.programs;
  assert.deepEqual([discoverer?.name, discoverer?.options["discovery-period"]], ["cloud-data-discoverer", 7_200_000]);
  const { settings, "host-addresses": addresses, "root-disk-migration": migrates } = artifacts!.options;
  assert.deepEqual([artifacts?.name, settings, addresses, migrates], ["artifacts", "kube-system/fairlead-artifacts", false, true]);
  assert.ok(named(objects, "ConfigMap", "fairlead-artifacts").data?.["settings.yaml"]);
  const workloads = objects.filter(({ kind = "" }) => ["Deployment", "DaemonSet", "PodDisruptionBudget"].includes(kind));
  assert.deepEqual(new Set(workloads.map(({ metadata }) => metadata?.name)), new Set(["fairlead-cluster"]));
  for (const [name, account] of [
    ["fairlead-artifacts", "fairlead-artifacts"],
    ["fairlead-cloud-data-discoverer", "cloud-data-discoverer"],
  ] as const) {
    const subjects = named(objects, "ClusterRoleBinding", name).subjects?.map((subject) => subject.name);
    assert.deepEqual(subjects, ["fairlead-controller-manager", account]);
  }
  const spec = deployment.spec?.template?.spec;
  assert.ok(spec?.containers[0]?.env?.some(({ name, value }) => name === "CLUSTER_UUID" && value === "6a1f0a55"));
  assert.ok(spec?.initContainers?.[0]?.args.some((arg) => /^--features=.*,discovery$/.test(arg)));
});

test("the termination handler takes its variables, maps among them, and finds the body of its webhook", async (t) => {
  const { cluster } = await bed(t);
  const { objects } = await rendered(cluster, valueSets["interruptions from a queue, with everything that can be said of them"]!);
  const [container] = named(objects, "Deployment", "fairlead-node-termination-handler").spec?.template?.spec?.containers ?? [];
  const environment = Object.fromEntries((container?.env ?? []).map(({ name, value = "given" }) => [name, value]));
  const { options, warnings } = parseHandlerOptions([], environment);
  assert.deepEqual(warnings, []);
  assert.deepEqual(options["event-policies"], { rebalance: "cordon", maintenance: "ignore" });
  assert.deepEqual(JSON.parse(options["webhook-headers"]), { "Content-type": "application/json", "X-Team": "a" });
  assert.equal(options["webhook-template-file"], "/config/body");
  assert.deepEqual([options["heartbeat-interval"], options["heartbeat-until"]], [30, 172_800]);
  assert.equal(options["kubernetes-events-extra-annotations"], "team=a");
});

const volumes = valueSets["volumes, with everything that can be said of them"]!;

for (const [mode, kind] of [
  ["controller", "Deployment"],
  ["node", "DaemonSet"],
] as const) {
  test(`the driver takes the command line of its ${mode}`, async (t) => {
    const { cluster } = await bed(t);
    const { objects } = await rendered(cluster, volumes);
    const [given, ...args] = argsOf(named(objects, kind, `fairlead-ebs-csi-${mode}`));
    assert.equal(given, mode);
    const { values, warnings } = parseFlags(flagsOf(mode as Mode), args);
    validateDriver(values as DriverValues);
    assert.deepEqual(warnings, []);
    if (mode === "controller") assert.deepEqual(values["extra-tags"], { team: "{{ .PVCNamespace }}", "cost center": "a b" });
    else assert.equal(values["reserved-volume-attachments"], 2);
  });
}

test("without sidecars controller, labeller and node are one container each with one role, and their command lines are taken", async (t) => {
  const { cluster } = await bed(t);
  const { objects } = await rendered(cluster, valueSets["volumes without sidecars"]!);
  const controller = named(objects, "Deployment", "fairlead-ebs-csi-controller");
  assert.deepEqual(
    controller.spec?.template?.spec?.containers.map(({ name }) => name),
    ["ebs-plugin", "metadata-labeler"],
  );
  const { values, warnings } = parseFlags(flagsOf("controller"), argsOf(controller).slice(1));
  validateDriver(values as DriverValues);
  assert.deepEqual([values["built-in-roles"], warnings], [true, []]);
  const node = named(objects, "DaemonSet", "fairlead-ebs-csi-node");
  assert.deepEqual(
    node.spec?.template?.spec?.containers.map(({ name }) => name),
    ["ebs-plugin"],
  );
  const onNode = parseFlags(flagsOf("node"), argsOf(node).slice(1)).values;
  validateDriver(onNode as DriverValues);
  assert.equal(onNode["kubelet-registration-path"], "/var/lib/kubelet/plugins/ebs.csi.aws.com/csi.sock");
  const roles = objects.filter(({ kind, metadata }) => kind === "ClusterRole" && metadata?.name?.includes("ebs"));
  assert.deepEqual(
    roles.map(({ metadata }) => metadata?.name),
    ["fairlead-ebs-csi-controller", "fairlead-ebs-csi-controller:labeler", "fairlead-ebs-csi-node", "fairlead-ebs-csi-controller-webhooks"],
  );
});

test("the driver has the sidecars that it needs, each with a role: the one for snapshots only where snapshots are", async (t) => {
  const { cluster } = await bed(t);
  const containers = (objects: readonly Rendered[], kind: string, name: string) =>
    named(objects, kind, name).spec?.template?.spec?.containers ?? [];
  const roles = (objects: readonly Rendered[]) =>
    objects.filter(({ kind, metadata }) => kind === "ClusterRole" && metadata?.name?.includes("ebs")).map(({ metadata }) => metadata?.name);
  const { objects } = await rendered(cluster, volumes);
  assert.deepEqual(
    containers(objects, "Deployment", "fairlead-ebs-csi-controller").map(({ image }) => image.split("/").at(-1)),
    [
      "ebs-csi-driver:v0.1.0",
      "csi-provisioner:v6.3.0",
      `csi-attacher@sha256:${"0".repeat(64)}`,
      "csi-resizer:v2.2.1",
      "csi-snapshotter:v8.6.0",
      "livenessprobe:v2.19.0",
    ],
  );
  assert.deepEqual(
    containers(objects, "DaemonSet", "fairlead-ebs-csi-node").map(({ name }) => name),
    ["ebs-plugin", "node-driver-registrar", "liveness-probe"],
  );
  assert.equal(containers(objects, "Deployment", "fairlead-ebs-csi-controller")[1]?.args.at(-1), "--strict-topology");
  const some = ["provisioner", "attacher", "resizer"].map((role) => `fairlead-ebs-csi-controller:${role}`);
  assert.deepEqual(roles(objects), [...some, "fairlead-ebs-csi-controller:snapshotter", "fairlead-ebs-csi-node"]);
  const few = { ebsCsiDriver: volumesOn };
  assert.deepEqual(roles((await rendered(cluster, few)).objects), [...some, "fairlead-ebs-csi-node"]);
});

test("it runs on nodes that wait for what only it does: initialisation, and routes", async (t) => {
  const { cluster } = await bed(t);
  for (const [kind, values] of [
    ["DaemonSet", valueSets["everything on"]!],
    ["Deployment", valueSets["a managed control plane, with a role for the service account"]!],
  ] as const) {
    const { objects } = await rendered(cluster, values);
    const tolerations = named(objects, kind).spec?.template?.spec?.tolerations ?? [];
    for (const key of ["node.cloudprovider.kubernetes.io/uninitialized", "node.kubernetes.io/network-unavailable"]) {
      assert.ok(
        tolerations.some((toleration) => toleration.key === key && toleration.operator === "Exists" && toleration.effect === "NoSchedule"),
        `${kind}: ${key}`,
      );
    }
  }
});

test("the doctor takes the command line of its init container", async (t) => {
  const { cluster } = await bed(t);
  const { objects } = await rendered(cluster, valueSets["everything on"]!);
  const [command, ...args] = named(objects, "DaemonSet").spec?.template?.spec?.initContainers?.[0]?.args ?? [];
  assert.equal(command, "doctor");
  const options = parseDoctorFlags(args);
  assert.deepEqual(options.features, ["nodes", "load-balancers", "routes", "tagging"]);
  assert.equal(options["exit-zero"], false);
});

test("values reach the command line as they are, whatever characters they hold", async (t) => {
  const { cluster } = await bed(t);
  const { objects } = await rendered(cluster, valueSets["awkward values"]!);
  const args = argsOf(named(objects, "DaemonSet"));
  assert.ok(args.includes("--cluster-name=a: b # c"));
  assert.deepEqual(
    args.filter((arg) => arg.startsWith("--feature-gates")),
    ["--feature-gates=AllAlpha=false", "--feature-gates=AllBeta=false"],
  );
  assert.ok(args.includes("--kube-api-qps=50") && args.includes("--profiling=false"));
});

test("each controller that is on has a role, bound to the one who runs it; one that is off has none", async (t) => {
  const { cluster } = await bed(t);
  const roles = (objects: readonly Rendered[]) =>
    objects.filter(({ kind }) => kind === "ClusterRole").map(({ metadata }) => metadata?.name?.split(":")[1]);
  const { objects: few } = await rendered(cluster, {});
  assert.deepEqual(roles(few).sort(), ["cloud-node-controller", "cloud-node-lifecycle-controller", "service-lb-controller", undefined]);
  assert.deepEqual(
    named(few, "ClusterRoleBinding", "fairlead-controller-manager:cloud-node-controller").subjects?.map(({ name }) => name),
    ["fairlead-controller-manager"],
  );
  const { objects: all } = await rendered(cluster, valueSets["everything on"]!);
  assert.equal(roles(all).filter((name) => name !== undefined).length, 5);
  assert.deepEqual(
    named(all, "ClusterRoleBinding", "fairlead-controller-manager:tagging").subjects?.map(({ name }) => name),
    ["tagging-controller"],
  );
});

test("no role allows a wildcard, or anything about nodes/proxy, or Secrets but one by its name; those of the load balancer controller and the resizer alone are about pods", async (t) => {
  const { cluster } = await bed(t);
  const { objects } = await rendered(cluster, { ...volumes, ...valueSets["everything on"]! });
  for (const { metadata, rules = [] } of objects) {
    // As the project of the sidecar has it: whether a pod uses the volume.
    if (metadata?.name === "fairlead-ebs-csi-controller:resizer") continue;
    // Its rules are compared with what it asks for in test/scenarios/binding-permissions.test.ts.
    const forbidden =
      metadata?.name === "fairlead-load-balancer-controller" ? /^(secrets|nodes\/proxy)/ : /^(secrets|pods|nodes\/proxy|configmaps)/;
    for (const { resources = [], resourceNames, verbs } of rules) {
      assert.ok(![...resources, ...verbs].includes("*"), `${metadata?.name}`);
      // Where the webhooks keep their certificate.
      if (resourceNames?.join() === "fairlead-load-balancer-controller-webhooks") continue;
      assert.ok(!resources.some((resource) => forbidden.test(resource)), `${metadata?.name}`);
    }
  }
});

for (const [what, values, complaint] of [
  ["a key that does not exist", { controllerManager: { replica: 3 } }, /replica/],
  ["routes without the pod network", { controllerManager: { controllers: { routes: true } } }, /clusterCIDR/],
  ["tagging without tags", { controllerManager: { controllers: { tagging: true } } }, /tags/],
  ["a kind of workload that there is not", { controllerManager: { kind: "StatefulSet" } }, /kind/],
  ["a load balancer controller without the cluster's name", { loadBalancerController: { enabled: true } }, /clusterName/],
  ["a node limit of both kinds", { ebsCsiDriver: { node: { reservedVolumeAttachments: 1, volumeAttachLimit: 5 } } }, /ebsCsiDriver.*node/],
  ["built-in roles without the cluster's id", { ebsCsiDriver: { controller: { builtInRoles: true } } }, /clusterId/],
  ["labels of volumes without roles", { ebsCsiDriver: { ...volumesOn, controller: { volumeLabels: true } } }, /volumeLabels needs/],
  [
    "a webhook without what it is for",
    { ebsCsiDriver: { ...volumesOn, controller: { volumeLabelsWebhook: true } } },
    /volumeLabelsWebhook needs/,
  ],
  ["probes without their port", { ebsCsiDriver: { node: { builtInRegistration: true } } }, /metricsPort/],
  [
    "a tag that the flag cannot hold",
    { ebsCsiDriver: { ...volumesOn, controller: { extraTags: { a: "b,c" } } } },
    /extraTags\.a: "b,c" cannot/,
  ],
  [
    "artifacts in one process with nobody else",
    { mode: "cluster", controllerManager: { enabled: false }, artifacts: { enabled: true } },
    /artifacts with mode cluster needs controllerManager\.enabled/,
  ],
  [
    "a discoverer in one process with keys of its own",
    { mode: "cluster", cloudDataDiscoverer: { enabled: true, credentialsSecretName: "keys" } },
    /credentialsSecretName with mode cluster: give the pod/,
  ],
  ["a digest that is none", { image: { digest: "latest" } }, /digest/],
] as const) {
  test(`the schema refuses ${what}, by name`, async (t) => {
    const { cluster } = await bed(t);
    await assert.rejects(rendered(cluster, values), complaint);
  });
}

const withImage = "--set=image.repository=registry.example.org/fairlead";
const documentsIn = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Rendered);

test("without an image of your own it is not rendered, and says what to do", async () => {
  await assert.rejects(template([]), /image\.repository is required: push the image to a registry of yours/);
  await assert.rejects(template([withImage, "--set=credentialProvider.enabled=true"]), /credentialProvider\.image\.repository is required/);
});

test("fullnameOverride is at the beginning of every name, so that two releases do not meet", async () => {
  const everything = [
    "controllerManager.kind=Deployment",
    "controllerManager.cloudConfig=a",
    "controllerManager.useServiceAccountCredentials=true",
    "controllerManager.metrics.readers[0].name=a",
    "controllerManager.metrics.readers[0].namespace=a",
    "controllerManager.metrics.serviceMonitor.enabled=true",
    "controllerManager.metrics.prometheusRule.enabled=true",
    "credentialProvider.enabled=true",
    "credentialProvider.image.repository=registry.example.org/credential-provider",
    "fullnameOverride=shop",
  ].map((value) => `--set=${value}`);
  const objects = documentsIn(await template([withImage, ...everything]));
  assert.ok(objects.length > 20);
  for (const { kind, metadata } of objects) assert.match(metadata?.name ?? "", /^shop-/, `${kind}`);
  assert.doesNotMatch(JSON.stringify(objects), /"(name|app\.kubernetes\.io\/name)":"fairlead-/);
});

test("replicas of a Deployment are spread over zones and nodes; of a DaemonSet there is nothing to spread", async () => {
  const spread = (objects: readonly Rendered[]) =>
    objects.flatMap(({ spec }) => spec?.template?.spec?.topologySpreadConstraints ?? []).map(({ topologyKey }) => topologyKey);
  const deployment = documentsIn(await template([withImage, "--set=controllerManager.kind=Deployment"]));
  assert.deepEqual(spread(deployment), ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
  assert.deepEqual(spread(documentsIn(await template([withImage]))), []);
});

test("the notes name the Lease that is really used, and say that a dry run is one", async (t) => {
  const { cluster } = await bed(t);
  await run("kubectl", [
    `--kubeconfig=${join(cluster.real.folder, "admin.kubeconfig")}`,
    "delete",
    "-f",
    join(chart, "../manifests/rbac.yaml"),
  ]);
  const kubeconfig = `--kubeconfig=${join(cluster.real.folder, "admin.kubeconfig")}`;
  const notes = async (...flags: string[]) => {
    const args = ["install", "fairlead", chart, kubeconfig, "--dry-run=client", "--namespace=kube-system", withImage, ...flags];
    const text = await run(await helm(), args);
    return text.slice(text.indexOf("NOTES:"));
  };
  assert.match(await notes(), /get lease cloud-controller-manager\n\nIf something does not work, `fairlead doctor` says why\./);
  const trial = await notes("--set=controllerManager.dryRun=true");
  assert.match(trial, /get lease cloud-controller-manager-dry-run\n\nThis is a dry run/);
  assert.doesNotMatch(trial, /doctor/);
});

test("the alerts lead to where the runbooks are served", async () => {
  const rule = "--set=controllerManager.metrics.prometheusRule.enabled=true";
  const url = "--set=controllerManager.metrics.prometheusRule.runbookURL=https://docs.example.org/runbooks/";
  assert.match(await template([withImage, rule]), /runbook_url: docs\/runbooks\/FairleadDenied\.md/);
  assert.match(await template([withImage, rule, url]), /runbook_url: https:\/\/docs\.example\.org\/runbooks\/FairleadDenied\.md/);
});

test("the alert about the Lease is about the one that is held, also in a dry run and under another name", async () => {
  const rule = "--set=controllerManager.metrics.prometheusRule.enabled=true";
  const named = "--set=controllerManager.extraArgs.leader-elect-resource-name=mine";
  const held = /absent\(leader_election_master_status\{name="([\w-]+)"\}/;
  const leaseIn = async (...flags: string[]) => held.exec(await template([withImage, rule, ...flags]))?.[1];
  assert.equal(await leaseIn(), "cloud-controller-manager");
  assert.equal(await leaseIn("--set=controllerManager.dryRun=true"), "cloud-controller-manager-dry-run");
  assert.equal(await leaseIn(named), "mine");
});

test('the plain manifests are what the chart renders; run "npm run docs" when they are not', async () => {
  for (const [name, text] of Object.entries(await renderManifests())) {
    assert.equal(await readFile(new URL(`../../deploy/manifests/${name}`, import.meta.url), "utf8"), text, name);
  }
});
