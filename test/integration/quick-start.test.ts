/**
 * The quick start, command by command as it stands on the page, from a release's own artifacts and nothing else of this
 * repository: from the packed command to a Service with an address, on a real API server and the simulated AWS. The chart's
 * pod runs in a container of the image, with nothing but what kubelet gives.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
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
import { type ImageStore, imageStore, type RunningContainer, whyNoContainers } from "../bed/containers.ts";
import { installPackage } from "../bed/package.ts";
import { usualPolicy } from "../bed/policies.ts";

const { version } = manifest;
const root = fileURLToPath(new URL("../../", import.meta.url));
const uninitialized = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };
const controlPlane = { "node-role.kubernetes.io/control-plane": "" };

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
  const release = join(cluster.real.folder, "release");
  await makeRelease({ version, folder: release, parts: ["npm", "chart", "manifests", "iam", "host-image"] });
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
      const archive = join(release, `host-image/fairlead-${version}-linux-${hostArchitecture()}.oci.tar`);
      const id = (await images.buildah("pull", `oci-archive:${archive}`)).trim().split("\n").at(-1)!;
      await images.buildah("tag", id, / -t (\S+)/.exec(script)![1]!);
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
