/** The programs beside the controller manager that the suite for real accounts tests, each under the roles that we ship. */
import type { TestContext } from "node:test";
import { leases, nodes } from "../../src/kube/builtin.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { isApiError } from "../../src/kube/errors.ts";
import { ingressClassParamsDefinition } from "../../src/loadbalancers/ingress/crd.ts";
import { targetGroupBindingDefinition } from "../../src/loadbalancers/targets/crd.ts";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { createQueue } from "../../src/sandbox/cloud/sqs/queues.ts";
import { snapshotDefinitions, standInForSnapshotController } from "../../src/sandbox/snapshot-controller.ts";
import { standInForVolumeControllers } from "../../src/sandbox/volume-controllers.ts";
import { csiNodes, volumeSnapshots } from "../../src/volumes/storage-resources.ts";
import { endpointFlag, placeFlags } from "../referees/balancer-flags.ts";
import type { Bed } from "./bed.ts";
import { awsCredentials } from "./controller-manager.ts";
import { E2eKubelets } from "./e2e-kubelets.ts";
import { eventually } from "./eventually.ts";
import { apply } from "./manifests.ts";
import { shippedRules } from "./shipped-rules.ts";

const driver = "ebs.csi.aws.com";
const zoneLabel = `topology.${driver}/zone`;

export interface ProgramsPlace {
  readonly cloud: Cloud;
  readonly url: string;
  readonly vpc: string;
  readonly machines: readonly Instance[];
}

/** Starts all of them, with what Kubernetes itself would do for them. */
export async function startPrograms(t: TestContext, bed: Bed, place: ProgramsPlace): Promise<E2eKubelets> {
  const { admin } = bed.cluster;
  const { cloud, url, vpc } = place;
  await installObjects(t, admin, place);
  const region = cloud.account.region;
  const environment = { ...awsCredentials, AWS_REGION: region, AWS_ENDPOINT_URL: url };
  const start = async (program: string, manifest: string, ...flags: readonly string[]) => {
    const account = await bed.cluster.account(`e2e-${program}`, ...(await shippedRules(manifest)));
    return await bed.fairlead([program, ...flags, `--kubeconfig=${await account.kubeconfig()}`], { environment });
  };
  const { QueueUrl } = createQueue(cloud.account.sqs, { QueueName: "interruptions" });
  await Promise.all([
    start(
      "load-balancer-controller",
      "load-balancer-controller.yaml",
      ...placeFlags({ clusterName: "test", region, vpc }),
      "--metrics-bind-addr=0",
      endpointFlag(url),
    ),
    start("ebs-csi-driver", "ebs-csi-driver-built-in.yaml", "controller", "--built-in-roles", "--k8s-tag-cluster-id=test"),
    start(
      "node-termination-handler",
      "node-termination-handler-queue.yaml",
      "--node-name=handler",
      "--enable-sqs-termination-draining",
      `--queue-url=${QueueUrl}`,
      `--aws-endpoint=${url}`,
      "--check-tag-before-draining=false",
    ),
  ]);
  const over = new AbortController();
  const kubelets = new E2eKubelets(admin, cloud);
  const complain = (message: string, error: unknown) => t.diagnostic(`${message}: ${error}`);
  const standIns = [standInForVolumeControllers, standInForSnapshotController].map((standIn) =>
    standIn({ kube: admin, lookEveryMs: 200, complain }, over.signal),
  );
  t.after(async () => {
    over.abort();
    await Promise.all(standIns);
    await kubelets.stop();
  });
  return kubelets;
}

async function installObjects(t: TestContext, admin: KubeClient, { machines }: ProgramsPlace): Promise<void> {
  // Those of a driver that was killed at the end of the test before.
  for (const { metadata } of (await admin.list(leases)).items)
    await admin.delete(leases, { namespace: metadata.namespace!, name: metadata.name });
  for (const definition of [targetGroupBindingDefinition, ingressClassParamsDefinition, ...snapshotDefinitions])
    await apply(admin, definition);
  await eventually(async () => void (await admin.list(volumeSnapshots)));
  await apply(admin, {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "alb" },
    ...{ spec: { controller: "ingress.k8s.aws/alb" } },
  });
  await apply(admin, {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: driver },
    ...{ spec: { attachRequired: true } },
  });
  // As the node service of the driver registers itself.
  for (const { id, privateDnsName: name, zone } of machines) {
    await admin.patch(nodes, { name }, { merge: { metadata: { labels: { [zoneLabel]: zone } } } });
    const drivers = [{ name: driver, nodeID: id, topologyKeys: [zoneLabel], allocatable: { count: 25 } }];
    await admin.create(csiNodes, { metadata: { name }, spec: { drivers } });
    t.after(() =>
      admin.delete(csiNodes, { name }).catch((error: unknown) => {
        if (!isApiError(error, "not-found")) throw error;
      }),
    );
  }
}
