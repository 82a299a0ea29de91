/** The webhook of volume labels on a real API server, under the roles and the configuration that the chart ships. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { secrets } from "../../src/kube/builtin.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { ClusterRole } from "../../src/kube/types.ts";
import { type ConfiguredWebhook, mutatingWebhookConfigurations } from "../../src/loadbalancers/admission/configurations.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { persistentVolumes } from "../../src/volumes/storage-resources.ts";
import { bed, eventually } from "../bed/bed.ts";
import { freePort } from "../bed/free-port.ts";

interface Shipped extends KubeObject {
  readonly rules?: ClusterRole["rules"];
  readonly webhooks?: readonly (ConfiguredWebhook & { readonly clientConfig: { readonly service: { readonly path: string } } })[];
}

async function shipped(): Promise<readonly Shipped[]> {
  const files = ["ebs-csi-driver-built-in.yaml", "ebs-csi-webhooks.yaml"].map((file) =>
    readFile(join(import.meta.dirname, "../../deploy/manifests", file), "utf8"),
  );
  return (await Promise.all(files)).flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Shipped));
}

const labels = (zone: string) => ({ "topology.kubernetes.io/region": "us-east-1", "topology.kubernetes.io/zone": zone });

test("a PersistentVolume is made with the zone of its disk, and one that nobody can answer for is made all the same", async (t) => {
  const { cluster, fairlead } = await bed(t);
  const { admin } = cluster;
  const aws = createCloud({ world: realWorld() });
  const [node] = launchNodes(aws, standardNetwork(aws, { clusterId: "test" }), 1, "m5.large");
  const disk = [...aws.account.ec2.volumes.values()].find(({ attachments }) => attachments[0]?.instanceId === node!.id)!;
  const served = await serve(aws);
  t.after(() => served.close());

  const objects = await shipped();
  const port = await freePort();
  const { metadata, webhooks = [] } = objects.find(({ kind }) => kind === "MutatingWebhookConfiguration")!;
  const name = metadata!.name!;
  await admin.create(secrets, { metadata: { name: `${name}-webhooks`, namespace: "default" } });
  const here = webhooks.map((each) => ({ ...each, clientConfig: { url: `https://127.0.0.1:${port}${each.clientConfig.service.path}` } }));
  await admin.create<KubeObject>(mutatingWebhookConfigurations, { metadata: { name }, webhooks: here } as KubeObject);
  // Those of the controller; the leases are in another namespace here.
  const rules = objects
    .filter(({ kind, metadata: of }) => (kind === "ClusterRole" || kind === "Role") && of?.name?.startsWith(name))
    .flatMap(({ rules: own = [] }) => own);
  const controller = await fairlead(
    [
      "ebs-csi-driver",
      "controller",
      "--built-in-roles",
      "--volume-labels",
      "--k8s-tag-cluster-id=test",
      `--kubeconfig=${await (await cluster.account("volumes", ...rules)).kubeconfig()}`,
      "--leader-election-namespace=default",
      `--webhook-bind-port=${port}`,
      `--webhook-secret=${name}-webhooks`,
      `--webhook-configuration=${name}`,
    ],
    {
      environment: {
        AWS_REGION: aws.account.region,
        AWS_EC2_ENDPOINT: served.url,
        AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
        AWS_SECRET_ACCESS_KEY: "secret",
      },
    },
  );
  const make = (called: string, volumeID: string) =>
    admin.create(persistentVolumes, {
      metadata: { name: called },
      spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "8Gi" }, awsElasticBlockStore: { volumeID } },
    });
  let tries = 0;
  await eventually(async () => {
    // Not the reconcile, which comes later: the object is answered as it was made.
    const made = await make(`old-${++tries}`, `aws://${disk.zone}/${disk.id}`);
    assert.deepEqual(made.metadata.labels, labels(disk.zone), await controller.logs());
    assert.ok(made.spec?.nodeAffinity?.required?.nodeSelectorTerms?.length === 1);
  }, 120_000);

  assert.equal((await make("lost", "vol-0123456789abcdef0")).metadata.labels, undefined);
  controller.signal("SIGKILL");
  await controller.exit();
  assert.equal((await make("unanswered", disk.id)).metadata.labels, undefined, "it fails open");
});
