/**
 * Renders the plain manifests from the chart into `deploy/manifests/`.
 *
 *     node deploy/chart/render.ts
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { helm } from "../build/helm.ts";
import { run } from "../build/run.ts";

interface Manifest {
  readonly about: string;
  readonly templates: readonly string[];
  /** Flags of `helm template`. */
  readonly set: readonly string[];
}

/** A name that cannot be registered, so that nobody runs what is not theirs: kustomize's `images` puts yours in its place. */
const images = [
  "image.repository=registry.invalid/fairlead",
  "credentialProvider.image.repository=registry.invalid/credential-provider",
  "ebsCsiDriver.image.repository=registry.invalid/ebs-csi-driver",
];
const every = ["controllerManager.controllers.routes=true", "controllerManager.controllers.tagging=true"];

const manifests: Readonly<Record<string, Manifest>> = {
  "rbac.yaml": {
    about: "What `fairlead controller-manager` may do with all its controllers, and nothing else. The tests run under exactly these roles.",
    templates: ["rbac.yaml"],
    set: [...every, "controllerManager.clusterCIDR=10.0.0.0/8", "controllerManager.tags.any=any"],
  },
  "controller-manager.yaml": {
    about: "The controller manager on every control-plane node, as the chart has it without values.",
    templates: ["controller-manager.yaml", "metrics.yaml"],
    set: [],
  },
  "cluster.yaml": {
    about: "In place of rbac.yaml and controller-manager.yaml: `fairlead cluster`, one process for all programs, and its roles.",
    templates: ["rbac.yaml", "controller-manager.yaml", "metrics.yaml"],
    set: ["mode=cluster"],
  },
  "service-account-credentials.yaml": {
    about: "Only with --use-service-account-credentials, beside rbac.yaml.",
    templates: ["service-account-credentials.yaml"],
    set: ["controllerManager.useServiceAccountCredentials=true"],
  },
  "load-balancer-controller.yaml": {
    about:
      "The load balancer controller with its roles, an IngressClass and the definitions of TargetGroupBinding, IngressClassParams and the configurations of Gateways. Put your cluster's name in place of my-cluster.",
    templates: [
      "targetgroupbindings.yaml",
      "ingressclassparams.yaml",
      "loadbalancerconfigurations.yaml",
      "targetgroupconfigurations.yaml",
      "listenerruleconfigurations.yaml",
      "load-balancer-controller.yaml",
    ],
    set: ["loadBalancerController.enabled=true", "loadBalancerController.clusterName=my-cluster"],
  },
  "load-balancer-webhooks.yaml": {
    about:
      "Optional, beside load-balancer-controller.yaml: its webhooks. Start it with --webhook-secret=fairlead-load-balancer-controller-webhooks and --webhook-configuration=fairlead-load-balancer-controller.",
    templates: ["load-balancer-webhooks.yaml"],
    set: [
      "loadBalancerController.enabled=true",
      "loadBalancerController.clusterName=my-cluster",
      "loadBalancerController.webhooks.enabled=true",
    ],
  },
  "node-termination-handler.yaml": {
    about: "The termination handler on every node, from the metadata service, with its roles.",
    templates: ["node-termination-handler.yaml"],
    set: ["nodeTerminationHandler.enabled=true"],
  },
  "node-termination-handler-queue.yaml": {
    about: "In its place: the termination handler for all nodes from a queue. Put the URL of yours in place of the one here.",
    templates: ["node-termination-handler.yaml"],
    set: [
      "nodeTerminationHandler.enabled=true",
      "nodeTerminationHandler.queueURL=https://sqs.us-east-1.amazonaws.com/111122223333/interruptions",
    ],
  },
  "ebs-csi-driver.yaml": {
    about: "The EBS CSI driver with the standard sidecars: its controller, its DaemonSet, their roles, and the CSIDriver object.",
    templates: ["ebs-csi-driver.yaml", "ebs-csi-roles.yaml", "ebs-csi-controller.yaml", "ebs-csi-node.yaml"],
    set: ["ebsCsiDriver.enabled=true", "ebsCsiDriver.snapshots=always"],
  },
  "ebs-csi-driver-built-in.yaml": {
    about: "In its place: the same without sidecars of the controller. Put your cluster's id in place of my-cluster.",
    templates: ["ebs-csi-driver.yaml", "ebs-csi-roles.yaml", "ebs-csi-controller.yaml", "ebs-csi-node.yaml"],
    set: ["ebsCsiDriver.enabled=true", "ebsCsiDriver.controller.builtInRoles=true", "ebsCsiDriver.controller.clusterId=my-cluster"],
  },
  "ebs-csi-webhooks.yaml": {
    about:
      "Optional, beside ebs-csi-driver-built-in.yaml: the webhook of volume labels. Start the controller with --volume-labels, --webhook-secret=fairlead-ebs-csi-controller-webhooks and --webhook-configuration=fairlead-ebs-csi-controller.",
    templates: ["ebs-csi-webhooks.yaml"],
    set: [
      "ebsCsiDriver.enabled=true",
      "ebsCsiDriver.controller.builtInRoles=true",
      "ebsCsiDriver.controller.clusterId=my-cluster",
      "ebsCsiDriver.controller.volumeLabels=true",
      "ebsCsiDriver.controller.volumeLabelsWebhook=true",
    ],
  },
  "cloud-data-discoverer.yaml": {
    about:
      "The cloud data discoverer with its roles and the proxy of its metrics. Put your region and the UUID of your cluster in place of these.",
    templates: ["cloud-data-discoverer.yaml"],
    set: [
      "cloudDataDiscoverer.enabled=true",
      "cloudDataDiscoverer.region=us-east-1",
      "cloudDataDiscoverer.clusterUUID=00000000-0000-0000-0000-000000000000",
    ],
  },
  "artifacts.yaml": {
    about: "What keeps the objects that a node manager such as Deckhouse's needs of the provider, with its roles and its settings.",
    templates: ["artifacts.yaml"],
    set: ["artifacts.enabled=true"],
  },
  "credential-provider.yaml": {
    about: "Puts the ECR credential provider on every node. Kubelet is never restarted.",
    templates: ["credential-provider.yaml"],
    set: ["credentialProvider.enabled=true"],
  },
};

/** Every manifest by its name. */
export async function renderManifests(): Promise<Readonly<Record<string, string>>> {
  const rendered = Object.entries(manifests).map(async ([name, { about, templates, set }]) => {
    const text = await template(
      templates.map((file) => `--show-only=templates/${file}`),
      [...images, ...set].map((value) => `--set=${value}`),
    );
    return [name, `# ${about}\n# Rendered from deploy/chart: change it there and run \`npm run docs\`.\n${withoutHelm(text)}`];
  });
  return Object.fromEntries(await Promise.all(rendered));
}

/** What `helm template` prints for a release named fairlead in kube-system. */
export async function template(...flags: readonly (readonly string[])[]): Promise<string> {
  return await run(await helm(), ["template", "fairlead", import.meta.dirname, "--namespace=kube-system", ...flags.flat()]);
}

/** These objects are nobody's release. */
function withoutHelm(text: string): string {
  return text.replace(/^# Source: .*\n/gm, "").replace(/^ +(app\.kubernetes\.io\/managed-by: Helm|helm\.sh\/chart: .*)\n/gm, "");
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(await renderManifests()))
    await writeFile(join(import.meta.dirname, "../manifests", name), text);
}
