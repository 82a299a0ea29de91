/** The Dockerfile, built by buildah, and its images, started by runc. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { buildImages, imageTargets } from "../../deploy/image/builder.ts";
import manifest from "../../package.json" with { type: "json" };
import { nodes } from "../../src/kube/builtin.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { bed } from "../bed/bed.ts";
import { type ImageStore, imageStore, whyNoContainers } from "../bed/containers.ts";

let store: ImageStore | undefined;
let reason: string | undefined;
before(async () => {
  reason = await whyNoContainers();
  if (reason !== undefined) return;
  store = await imageStore();
  await buildImages(store, Object.fromEntries(imageTargets.map((target) => [target, target])));
});
after(() => store?.remove());

/** The test, where the programs for it could be had. */
function withImages(name: string, body: (images: ImageStore, t: TestContext) => Promise<void>): void {
  test(name, async (t) => (store === undefined ? t.skip(reason) : await body(store, t)));
}

withImages("the image starts in a container: as nobody, without capabilities, on a read-only root", async (images) => {
  assert.match(await images.inContainer("fairlead", { args: ["version"] }), new RegExp(`^fairlead v${manifest.version}\n`));
});

withImages("in its container the command is called by its name", async (images) => {
  assert.match(await images.inContainer("fairlead", { command: ["fairlead"], args: ["version"] }), /^fairlead v/);
});

withImages("the image for other installers is the controller manager", async (images) => {
  assert.match(await images.inContainer("cloud-controller-manager", { args: ["--help"] }), /--cloud-provider/);
});

withImages("the image of the credential provider has an executable that runs in it", async (images) => {
  assert.match(
    await images.inContainer("credential-provider", { command: ["/app/ecr-credential-provider"], args: ["config"] }),
    /CredentialProviderConfig/,
  );
});

withImages("the image of the EBS CSI driver has every tool that the node service runs, with its libraries", async (images) => {
  assert.match(await images.inContainer("ebs-csi-driver", { args: ["--version"] }), /driverVersion/);
  const tools = ["blkid", "fsck", "lsblk", "mount", "umount", "blockdev", "mkfs.xfs", "nvme", "xfs_growfs"];
  for (const tool of tools) {
    const ended = await images.inContainer("ebs-csi-driver", { command: [tool, tool.includes("xfs") ? "-V" : "--version"] });
    assert.match(ended, /util-linux|xfsprogs|version/, tool);
  }
  for (const tool of ["mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "fsck.ext4", "resize2fs"]) {
    await assert.rejects(images.inContainer("ebs-csi-driver", { command: [tool] }), /usage: /i, tool);
  }
  assert.match(await images.inContainer("ebs-csi-driver", { command: ["fsck.xfs", "-a", "/dev/null"] }), /XFS file system/);
});

withImages("in the controllers' pod the doctor finds what they find: their role, their access, their cluster", async (images, t) => {
  const { cluster } = await bed(t);
  const cloud = createCloud({ world: realWorld() });
  const network = standardNetwork(cloud, { clusterId: "shop" });
  const [instance] = launchNodes(cloud, network, 1).map(({ id }) => cloud.account.ec2.instances.update(id, { state: "running" }));
  const { privateDnsName: name, zone, id } = instance!;
  await cluster.admin.create(nodes, { metadata: { name }, spec: { providerID: `aws:///${zone}/${id}` } });
  const [aws, metadata] = await Promise.all([serve(cloud), serveTransport(cloud.imds(id))]);
  t.after(() => Promise.all([aws.close(), metadata.close()]));
  const { token } = await cluster.fairlead();
  const account = join(images.folder, "account");
  await mkdir(account, { recursive: true });
  await writeFile(join(account, "token"), token);
  await writeFile(join(account, "namespace"), "kube-system");
  await writeFile(join(account, "ca.crt"), cluster.real.ca);
  const server = new URL(cluster.real.apiserver.url);
  const printed = await images.inContainer("fairlead", {
    command: ["fairlead", "doctor", "--features=nodes,load-balancers"],
    environment: {
      KUBERNETES_SERVICE_HOST: server.hostname,
      KUBERNETES_SERVICE_PORT: server.port,
      AWS_ENDPOINT_URL: aws.url,
      AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url,
    },
    mounts: { "/var/run/secrets/kubernetes.io/serviceaccount": account },
  });
  assert.match(printed, /^permissions +ok +all \d+ actions are allowed to role shop-node$/m);
  assert.match(printed, /^access +ok +kube-system\/fairlead-controller-manager may do all/m);
  assert.match(printed, /^cluster id +ok +shop in vpc-/m);
});
