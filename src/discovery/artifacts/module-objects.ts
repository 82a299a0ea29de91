/** What the provider's module keeps for its own workloads, and for the network of pods. */
import type { ArtifactsInput } from "./input.ts";
import { encoded, secret } from "./registration.ts";

/** Where the module's own workloads are. */
export const moduleNamespaceName = "d8-cloud-provider-aws";
const labels = { heritage: "deckhouse", module: "cloud-provider-aws" };

export const moduleNamespace = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    name: moduleNamespaceName,
    labels: {
      ...labels,
      "prometheus.deckhouse.io/rules-watcher-enabled": "true",
      "extended-monitoring.deckhouse.io/enabled": "",
      "security.deckhouse.io/pod-policy": "restricted",
    },
  },
};

/** Keys and cloud config of the controller manager; others take their keys from it too. */
export function controllerManagerSecret(input: ArtifactsInput): object {
  const { providerAccessKeyId, providerSecretAccessKey } = input.clusterConfiguration.provider;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "cloud-controller-manager", namespace: moduleNamespaceName, labels },
    type: "Opaque",
    data: encoded({
      "aws-access-key-id": providerAccessKeyId,
      "aws-secret-access-key": providerSecretAccessKey,
      "cloud-config": cloudConfig(input),
    }),
  };
}

function cloudConfig({ clusterUUID, clusterConfiguration, discoveryData }: ArtifactsInput): string {
  const allowed = clusterConfiguration.publicNetworkAllowList;
  const values = {
    KubernetesClusterID: clusterUUID,
    ElbSecurityGroup: discoveryData.loadBalancerSecurityGroup,
    ...(allowed !== undefined && { PublicNetworkAllowList: allowed.join(",") }),
  };
  return `[Global]\n${Object.entries(values)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
    .join("")}`;
}

/** What a cluster has is kept: its network cannot be exchanged under running pods. */
export function cniSecret({ existingCNI }: ArtifactsInput): object {
  const data = existingCNI ?? { cni: "cilium", cilium: JSON.stringify({ mode: "VXLAN", masqueradeMode: "BPF" }) };
  return secret("d8-cni-configuration", labels, encoded(data));
}
