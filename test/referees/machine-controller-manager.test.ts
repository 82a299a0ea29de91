/**
 * A machine comes of it: the templates are rendered as a node manager renders them, and Gardener's machine controller makes, replaces
 * and removes machines of them on the simulated AWS.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";
import { machineClassName } from "../../src/discovery/artifacts/machine-class.ts";
import { exampleFile, exampleInput } from "../../src/discovery/artifacts/testing.ts";
import { nodes, pods } from "../../src/kube/builtin.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { type KubeObject, resource } from "../../src/kube/resource.ts";
import { realWorld, sleep } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { keyPairs } from "../../src/sandbox/cloud/ec2/key-pairs.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { bed, eventually } from "../bed/bed.ts";
import { renderTemplate } from "../bed/machine-templates.ts";
import { apply } from "../bed/manifests.ts";
import { strictPolicy } from "../bed/policies.ts";
import { installMachineDefinitions, machineNamespace, startMachineController } from "./machine-controller.ts";

const region = "us-east-1";
const zone = `${region}a`;
const image = "ami-0123456789abcdef0";
const patienceMs = 120_000;

interface Machine extends KubeObject {
  readonly spec?: { readonly providerID?: string };
  readonly status?: { readonly currentStatus?: { readonly phase?: string }; readonly lastOperation?: { readonly description?: string } };
}

const machineResource = <T extends KubeObject>(plural: string, kind: string) =>
  resource<T>({ group: "machine.sapcloud.io", version: "v1alpha1", plural, kind, namespaced: true });
const machines = machineResource<Machine>("machines", "Machine");
const deployments = machineResource<KubeObject>("machinedeployments", "MachineDeployment");
const classes = machineResource<KubeObject>("awsmachineclasses", "AWSMachineClass");
const inNamespace = { namespace: machineNamespace };

/** What stands in for kubelets: a Node for each machine that runs, and no pod that is to go. */
function kubelets(t: TestContext, kube: KubeClient, cloud: Cloud): void {
  const ended = new AbortController();
  t.after(() => ended.abort());
  const registered = new Set<string>();
  const look = async () => {
    cloud.account.time.settle();
    for (const { privateDnsName: name, state, tags } of cloud.account.ec2.instances.values()) {
      if (state !== "running" || tags.Name === undefined || registered.has(name)) continue;
      registered.add(name);
      await kube.create(nodes, { metadata: { name } });
      const conditions = [{ type: "Ready", status: "True" as const, reason: "KubeletReady" }];
      await kube.patch(nodes, { name, subresource: "status" }, { merge: { status: { conditions } } });
    }
    for (const { metadata } of (await kube.list(pods)).items) {
      const { name, namespace = "", deletionTimestamp } = metadata;
      if (deletionTimestamp) await kube.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
    }
  };
  const run = async () => {
    while (!ended.signal.aborted) {
      await look().catch(() => {});
      await sleep(realWorld().clock, 500, ended.signal).catch(() => {});
    }
  };
  void run();
}

test("machines are made from the class, replaced when its checksum changes, drained, and gone in the end", async (t) => {
  const lain = await bed(t);
  const { admin } = lain.cluster;
  const cloud = createCloud({ world: realWorld(), region, settings: { speed: 20 } });
  const { ec2 } = cloud.account;
  const network = standardNetwork(cloud, { clusterId: "machines" });
  keyPairs(ec2).put("key-1", { id: "key-1", name: "demo", type: "ed25519", fingerprint: "", publicKey: "", created: 0, tags: {} });
  const calls: string[] = [];
  // Its own policy, in the strict form: whatever carries another cluster's tag, or none, is out of its reach.
  cloud.controls.change({ policy: strictPolicy(cloud, network, exampleFile.clusterUUID, "machine-controller") });
  const served = await serve({
    ...cloud,
    handle: (request) => {
      calls.push(String(request.body ?? ""));
      return cloud.handle(request);
    },
  });
  t.after(() => served.close());

  const { clusterConfiguration, discoveryData, clusterUUID } = exampleFile;
  const input = exampleInput({
    clusterConfiguration: { ...clusterConfiguration, provider: { ...clusterConfiguration.provider, region } },
    discoveryData: {
      ...discoveryData,
      instances: { ...discoveryData.instances, ami: image, additionalSecurityGroups: [network.nodeGroupId] },
      zones: [zone],
      zoneToSubnetIdMap: { [zone]: network.publicSubnetIds[0] },
    },
  });
  const name = machineClassName("worker", clusterUUID, zone);
  const put = (object: object) => apply(admin, object);

  /** What the node manager makes for the group in this zone. */
  const publish = async (instanceClass: object, replicas: number) => {
    const group = { name: "worker", instanceClass, zone };
    const [made, checksum, credentials] = await Promise.all([
      renderTemplate(t, "machine-class.yaml", input, group),
      renderTemplate(t, "machine-class.checksum", input, group),
      renderTemplate(t, "config-for-machine-controller-manager.yaml", input, group),
    ]);
    const userData = Buffer.from("#cloud-config\n# token: <<BOOTSTRAP_TOKEN>>\n").toString("base64");
    const data = { userData, ...(parse(credentials) as object) };
    await put({ apiVersion: "v1", kind: "Secret", metadata: { name, ...inNamespace }, data });
    await put(parse(made) as object);
    const labels = { "instance-group": `worker-${zone}` };
    await put({
      apiVersion: "machine.sapcloud.io/v1alpha1",
      kind: "MachineDeployment",
      metadata: { name: `demo-${name}`, ...inNamespace, annotations: { zone }, labels: { "node-group": "worker" } },
      spec: {
        replicas,
        minReadySeconds: 1,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: { "checksum/machine-class": (parse(checksum) as { checksum: string }).checksum } },
          spec: { class: { kind: "AWSMachineClass", name }, drainTimeout: "60s", maxEvictRetries: 3 },
        },
      },
    });
  };
  const alive = () => ec2.instances.values().filter(({ state }) => state === "running" || state === "pending");
  const running = async (count: number, type: string): Promise<readonly Instance[]> => {
    await eventually(async () => {
      const { items } = await admin.list(machines, inNamespace);
      const phases = items.map(({ status }) => status?.currentStatus?.phase ?? status?.lastOperation?.description);
      assert.deepEqual(phases, Array(count).fill("Running"), items.map(({ status }) => status?.lastOperation?.description).join("; "));
      assert.deepEqual(
        alive().map((instance) => instance.type),
        Array(count).fill(type),
      );
    }, patienceMs);
    return alive();
  };

  await put({ apiVersion: "v1", kind: "Namespace", metadata: { name: machineNamespace } });
  await installMachineDefinitions(lain);
  kubelets(t, admin, cloud);
  const log = await startMachineController(t, lain, { aws: served.url, region });
  try {
    await publish({ instanceType: "m5.large", additionalTags: { team: "a" } }, 2);
    const first = await running(2, "m5.large");
    const names = (await admin.list(machines, inNamespace)).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(first.map(({ tags }) => tags.Name).toSorted(), names.toSorted());
    for (const { tags, subnetId, keyName, imageId, profileArn, userData, rootVolumeId, spot } of first) {
      const { Name: _, ...others } = tags;
      const marks = { [`kubernetes.io/cluster/${clusterUUID}`]: "1", [`kubernetes.io/role/${clusterUUID}`]: "1" };
      assert.deepEqual(others, { ...marks, env: "prod", team: "a" });
      assert.deepEqual([subnetId, keyName, imageId, spot], [network.publicSubnetIds[0], "demo", image, false]);
      assert.match(profileArn ?? "", /instance-profile\/demo-node$/);
      assert.match(Buffer.from(userData ?? "", "base64").toString(), /# token: [a-z0-9]{6}\.[a-z0-9]{16}/);
      const { spec } = ec2.volumes.get(rootVolumeId)!;
      assert.deepEqual([spec.sizeGiB, spec.type], [20, "gp2"]);
    }
    assert.equal(calls.filter((call) => call.includes("Action=RunInstances")).length, 2);

    // Another class replaces machines; nobody but the machine controller evicts pods here.
    const [old] = first as [Instance];
    const pod = {
      metadata: { name: "web", namespace: "default" },
      spec: { nodeName: old.privateDnsName, containers: [{ name: "web", image: "web" }] },
    };
    await admin.create(pods, pod);
    await publish({ instanceType: "m5.xlarge", additionalTags: { team: "a" } }, 2);
    const second = await running(2, "m5.xlarge");
    assert.ok(second.every(({ id }) => !first.some((before) => before.id === id)));
    await eventually(async () => {
      const { items } = await admin.list(pods, { namespace: "default" });
      assert.deepEqual(items, [], "the pod was evicted");
      assert.deepEqual(
        (await admin.list(nodes)).items.map((node) => node.metadata.name).toSorted(),
        second.map((each) => each.privateDnsName).toSorted(),
      );
    }, patienceMs);

    // Deployment first; the class only after it is gone.
    await admin.delete(deployments, { ...inNamespace, name: `demo-${name}` });
    await eventually(async () => {
      assert.deepEqual((await admin.list(deployments, inNamespace)).items, []);
      assert.deepEqual((await admin.list(machines, inNamespace)).items, []);
    }, patienceMs);
    await admin.delete(classes, { ...inNamespace, name });
    await eventually(async () => {
      cloud.account.time.settle();
      assert.deepEqual((await admin.list(classes, inNamespace)).items, []);
      assert.deepEqual(alive(), []);
      assert.deepEqual(ec2.volumes.values(), []);
    }, patienceMs);
    const terminations = calls.filter((call) => call.includes("Action=TerminateInstances"));
    assert.equal(terminations.filter((call) => call.includes("DryRun=true")).length, 4);
    assert.equal(terminations.length, 8);
  } catch (error) {
    t.diagnostic((await readFile(log, "utf8")).split("\n").slice(-60).join("\n"));
    throw error;
  }
});
