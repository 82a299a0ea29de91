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

/** The network of pods that a cluster gets that has none. */
export const defaultNetwork = { cni: "cilium", cilium: { mode: "VXLAN", masqueradeMode: "BPF" } };

/** What a cluster has is kept: its network cannot be exchanged under running pods. */
export function cniSecret({ existingCNI }: ArtifactsInput): object {
  const data = existingCNI ?? { cni: defaultNetwork.cni, cilium: JSON.stringify(defaultNetwork.cilium) };
  return secret("d8-cni-configuration", labels, encoded(data));
}

/** Who may read and write instance classes, and the module's own settings, in the words of the platform's access control. */
export const accessRoles: readonly object[] = [
  userRole("user", "User", ["get", "list", "watch"]),
  userRole("cluster-admin", "ClusterAdmin", ["create", "delete", "deletecollection", "patch", "update"]),
  moduleRole("view", "viewer", ["get", "list", "watch"]),
  moduleRole("edit", "manager", ["create", "update", "patch", "delete"]),
];

function userRole(name: string, level: string, verbs: readonly string[]): object {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: {
      name: `d8:user-authz:cloud-provider-aws:${name}`,
      labels,
      annotations: { "user-authz.deckhouse.io/access-level": level },
    },
    rules: [{ apiGroups: ["deckhouse.io"], resources: ["awsinstanceclasses"], verbs }],
  };
}

function moduleRole(name: string, as: string, verbs: readonly string[]): object {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: {
      name: `d8:manage:permission:module:cloud-provider-aws:${name}`,
      labels: {
        ...labels,
        "rbac.deckhouse.io/kind": "manage",
        "rbac.deckhouse.io/level": "module",
        "rbac.deckhouse.io/namespace": moduleNamespaceName,
        "rbac.deckhouse.io/aggregate-to-infrastructure-as": as,
      },
    },
    rules: [{ apiGroups: ["deckhouse.io"], resources: ["moduleconfigs"], resourceNames: ["cloud-provider-aws"], verbs }],
  };
}
