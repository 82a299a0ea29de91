/**
 * What is installed from a release's own artifacts, with nothing else of this repository. The quick start, command by command as
 * it stands on the page: from the packed command to a Service with an address, on a real API server and the simulated AWS. The
 * chart's pods run in containers of the images, with nothing but what kubelet gives.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { hostArchitecture } from "../../deploy/build/architecture.ts";
import { helm } from "../../deploy/build/helm.ts";
import { makeRelease } from "../../deploy/release/release.ts";
import manifest from "../../package.json" with { type: "json" };
import { nodes } from "../../src/kube/builtin.ts";
import type { DaemonSet } from "../../src/kube/types.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { bed, type TestCluster } from "../bed/bed.ts";
import { type ImageStore, imageStore, privilegedCapabilities, type RunningContainer, whyNoContainers } from "../bed/containers.ts";
import { csiClient } from "../bed/csi-client.ts";
import { eventually } from "../bed/eventually.ts";
import { LoopDisks, whyNoLoopDisks } from "../bed/loop-disks.ts";
import { installPackage } from "../bed/package.ts";
import { usualPolicy } from "../bed/policies.ts";
import { mountCapability } from "../bed/volume-world.ts";

const { version } = manifest;
const root = fileURLToPath(new URL("../../", import.meta.url));
const uninitialized = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };
const controlPlane = { "node-role.kubernetes.io/control-plane": "" };

let release: Promise<string> | undefined;
/** Made once for the tests of this file. */
function madeRelease(): Promise<string> {
  release ??= mkdtemp(join(tmpdir(), "fairlead-release-")).then(async (place) => {
    const folder = join(place, "release");
    await makeRelease({ version, folder, parts: ["npm", "chart", "manifests", "iam", "host-image"] });
    return folder;
  });
  return release;
}
// Before any test's clock starts: images take minutes.
before(async () => {
  if ((await whyNoContainers()) === undefined) await madeRelease();
});
after(async () => release && rm(dirname(await release), { recursive: true, force: true }));

/** Gives an image of the release a name. */
async function pulled(images: ImageStore, from: string, target: string, name: string): Promise<void> {
  const archive = join(from, `host-image/${target}-${version}-linux-${hostArchitecture()}.oci.tar`);
  const id = (await images.buildah("pull", `oci-archive:${archive}`)).trim().split("\n").at(-1)!;
  await images.buildah("tag", id, name);
}

/** A cluster as kubeadm leaves it, in an account that allows its nodes nothing yet. */
async function freshCluster(t: TestContext, cluster: TestCluster) {
  const cloud = createCloud({ world: realWorld(), settings: { speed: 100 } });
  const network = standardNetwork(cloud, { clusterId: "shop" });
  const instances = launchNodes(cloud, network, 3).map(({ id }) => cloud.account.ec2.instances.update(id, { state: "running" }));
  const people = { effect: "allow", actions: ["*"], principals: ["arn:aws:iam::*:user/*"] } as const;
  cloud.controls.change({ policy: [people] });
  for (const [index, { privateDnsName: name }] of instances.entries()) {
    await cluster.admin.create(nodes, { metadata: { name, labels: index === 0 ? controlPlane : {} }, spec: { taints: [uninitialized] } });
  }
  const [aws, metadata] = await Promise.all([serve(cloud), serveTransport(cloud.imds(instances[0]!.id))]);
  t.after(() => Promise.all([aws.close(), metadata.close()]));
  const permit = (features: readonly string[]) =>
    cloud.controls.change({ policy: [people, ...usualPolicy(cloud, network, "shop", ...features)] });
  return { cloud, aws: aws.url, metadata: metadata.url, permit };
}

/** What kubelet does with the DaemonSet's pod on the control-plane node. */
async function runPod(cluster: TestCluster, images: ImageStore, machine: Readonly<Record<string, string>>): Promise<RunningContainer> {
  const path = "/apis/apps/v1/namespaces/kube-system/daemonsets/fairlead-controller-manager";
  const { spec } = JSON.parse(await cluster.admin.raw(path, {})) as DaemonSet;
  const pod = spec!.template.spec!;
  assert.deepEqual(pod.nodeSelector, controlPlane);
  assert.ok(pod.tolerations?.some(({ key }) => key === uninitialized.key));
  const account = join(images.folder, "account");
  await mkdir(account, { recursive: true });
  await writeFile(join(account, "token"), (await cluster.fairlead()).token);
  await writeFile(join(account, "namespace"), "kube-system");
  await writeFile(join(account, "ca.crt"), cluster.real.ca);
  const { hostname, port } = new URL(cluster.real.apiserver.url);
  const { image = "", args = [] } = pod.containers[0]!;
  return await images.start(image, {
    args,
    environment: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, ...machine },
    mounts: { "/var/run/secrets/kubernetes.io/serviceaccount": account },
  });
}

test("whoever follows the quick start has a Service with an address, with nothing that is not on the page", {
  timeout: 480_000,
}, async (t) => {
  const reason = await whyNoContainers();
  if (reason !== undefined) return t.skip(reason);
  const { cluster } = await bed(t);
  const { cloud, aws, metadata, permit } = await freshCluster(t, cluster);
  const images = await imageStore();
  const release = await madeRelease();
  const installed = await installPackage(join(release, `npm/fairlead-${version}.tgz`));
  let pod: RunningContainer | undefined;
  t.after(async () => {
    await pod?.stop();
    await Promise.all([images.remove(), installed.remove()]);
  });
  const clone = join(cluster.real.folder, "clone");
  await mkdir(join(clone, "bin"), { recursive: true });
  await mkdir(join(clone, "deploy/chart"), { recursive: true });
  const shell = promisify(execFile);
  await shell("tar", ["-xzf", join(release, `chart/fairlead-${version}.tgz`), "--strip-components=1", "-C", join(clone, "deploy/chart")]);
  for (const part of ["manifests", "iam"]) await cp(join(release, part), join(clone, "deploy", part), { recursive: true });
  await symlink(await helm(), join(clone, "bin/helm"));
  const env = {
    PATH: [join(clone, "bin"), installed.path].join(":"),
    HOME: clone,
    KUBECONFIG: join(cluster.real.folder, "admin.kubeconfig"),
    AWS_ENDPOINT_URL: aws,
    AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
    AWS_SECRET_ACCESS_KEY: "of-no-worth",
  };
  /** What needs a registry or an account is done as its commands say, by other means. */
  const done: Readonly<Record<string, (script: string) => Promise<void>>> = {
    "npm ci": async () => {},
    "for feature": async (script) => permit(/for feature in ([\w -]+);/.exec(script)![1]!.split(" ")),
    "digest()": async (script) => {
      await pulled(images, release, "fairlead", / -t (\S+)/.exec(script)![1]!);
    },
  };
  const page = await readFile(join(root, "docs/quick-start.md"), "utf8");
  await shell("kubectl", ["delete", "-f", join(root, "deploy/manifests/rbac.yaml")], { env });
  for (const [, language, script = ""] of page.matchAll(/^```(sh|sh account)\n(.*?)^```$/gms)) {
    if (language === "sh account") {
      const [, otherwise] = Object.entries(done).find(([beginning]) => script.startsWith(beginning)) ?? [];
      assert.ok(otherwise, `nobody does this here: ${script}`);
      await otherwise(script);
      continue;
    }
    for (const line of script.replaceAll("\\\n", " ").trim().split("\n")) {
      const { stdout } = await shell("sh", ["-euc", line], { cwd: clone, env, maxBuffer: 1e8 }).catch((error: unknown) => {
        throw new Error(`${line}\n${(error as { stderr?: string }).stderr}\n${pod?.output().slice(-4_000)}`, { cause: error });
      });
      t.diagnostic(`${line}: ${stdout.trim().split("\n").at(-1)}`);
      if (line.startsWith("fairlead doctor"))
        assert.match(stdout, /\n\d+ warnings?\n$/, "a fresh cluster has no problem but that nothing is installed");
      if (line.startsWith("helm upgrade")) {
        pod = await runPod(cluster, images, { AWS_ENDPOINT_URL: aws, AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata });
      }
      if (line.startsWith("kubectl get service")) assert.match(stdout, /web +LoadBalancer .*\.elb\.amazonaws\.com/);
      if (line.startsWith("fairlead explain")) assert.match(stdout, /What to do next\n {2}(Nothing|Wait|Targets)/);
    }
  }
  assert.ok(
    cloud.controls.journal.entries().some(({ action }) => action.endsWith("DeleteLoadBalancer")),
    "it went with its Service",
  );
  assert.equal(await pod?.stop(), 0);
  pod = undefined;
});

const volumeId = "vol-0123456789abcdef0";
const mib = 2 ** 20;

/** The container of the driver on a node, as the chart's archive renders it. */
async function nodePlugin(chart: string, kubeletDir: string) {
  const values = { enabled: true, "image.repository": "registry.example.org/ebs-csi-driver", "node.kubeletDir": kubeletDir };
  const set = Object.entries(values).map(([key, value]) => `--set=ebsCsiDriver.${key}=${value}`);
  const template = [
    "template",
    "fairlead",
    chart,
    "--namespace=kube-system",
    "--set=image.repository=registry.example.org/fairlead",
    ...set,
  ];
  const { stdout } = await promisify(execFile)(await helm(), template, { maxBuffer: 1e8 });
  const objects = parseAllDocuments(stdout).map((document) => document.toJS() as DaemonSet | null);
  const { spec } = objects.find((object) => object?.kind === "DaemonSet" && object.metadata?.name === "fairlead-ebs-csi-node")!;
  const { containers, volumes = [] } = spec!.template.spec!;
  const { image = "", args = [], volumeMounts = [] } = containers.find(({ name }) => name === "ebs-plugin")!;
  const pathOf = (name: string) => volumes.find((volume) => volume.name === name)!.hostPath!.path;
  return { image, args, mounts: Object.fromEntries(volumeMounts.map(({ name, mountPath }) => [mountPath, pathOf(name)])) };
}

test("the driver's pod on a node runs from the release: a disk gets a file system of either kind, is mounted, grown and unmounted", {
  timeout: 480_000,
}, async (t) => {
  const reason = (await whyNoContainers()) ?? whyNoLoopDisks();
  if (reason !== undefined) return t.skip(reason);
  const images = await imageStore();
  const disks = new LoopDisks();
  const kubelet = join(disks.folder, "kubelet");
  const socket = join(kubelet, "plugins/ebs.csi.aws.com/csi.sock");
  await mkdir(dirname(socket), { recursive: true });
  const cloud = createCloud({ world: realWorld() });
  const [node] = launchNodes(cloud, standardNetwork(cloud, { clusterId: "shop" }), 1);
  const metadata = await serveTransport(cloud.imds(node!.id));
  const plugin = await nodePlugin(join(await madeRelease(), `chart/fairlead-${version}.tgz`), kubelet);
  await pulled(images, await madeRelease(), "ebs-csi-driver", plugin.image);
  const pod = await images.start(plugin.image, {
    ...plugin,
    privileged: true,
    environment: { CSI_NODE_NAME: node!.privateDnsName, AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url },
  });
  t.after(async () => {
    await pod.stop();
    disks.close();
    await Promise.all([images.remove(), metadata.close()]);
  });
  await eventually(() => assert.match(pod.output(), /serves CSI/), 60_000);
  const call = csiClient(t, socket);
  assert.equal((await call<{ nodeId: string }>("Node", "NodeGetInfo")).nodeId, node!.id);
  for (const [fsType, bytes] of Object.entries({ ext4: 64 * mib, xfs: 400 * mib })) {
    const device = "/dev/xvdab";
    disks.attach(`${volumeId}-${fsType}`, device, bytes);
    const stagingTargetPath = join(kubelet, `plugins/kubernetes.io/csi/ebs.csi.aws.com/${fsType}`);
    const volumeCapability = { ...mountCapability, mount: { fsType } };
    const request = { volumeId, stagingTargetPath, volumeCapability, publishContext: { devicePath: device } };
    const size = async () => {
      const { usage } = await call<{ usage: { unit: string; total: string }[] }>("Node", "NodeGetVolumeStats", {
        volumeId,
        volumePath: stagingTargetPath,
      });
      return Number(usage.find(({ unit }) => unit === "BYTES")!.total);
    };
    await call("Node", "NodeStageVolume", request);
    const before = await size();
    await call("Node", "NodeUnstageVolume", { volumeId, stagingTargetPath });
    await call("Node", "NodeStageVolume", request);
    // Only in a kernel that lets this process: ext4 asks for more than xfs.
    const grows = fsType === "xfs" || privilegedCapabilities.includes("CAP_SYS_RESOURCE");
    if (!grows) t.diagnostic(`${fsType} is not grown: this process lacks CAP_SYS_RESOURCE`);
    if (grows) disks.grow(`${volumeId}-${fsType}`, 2 * bytes);
    await call("Node", "NodeExpandVolume", { volumeId, volumePath: stagingTargetPath, stagingTargetPath, volumeCapability });
    const after = await size();
    assert.ok(
      before > 0.5 * bytes && (!grows || after > before + 0.5 * bytes),
      `${fsType}: ${before}, then ${after} of ${2 * bytes} bytes`,
    );
    await call("Node", "NodeUnstageVolume", { volumeId, stagingTargetPath });
    disks.detach(`${volumeId}-${fsType}`);
  }
  assert.doesNotMatch(pod.output(), /fsck could not check/);
});
