/** How the controllers of a cluster were started, read from one of their pods: what a command would otherwise have to be told. */
import { basename, dirname } from "node:path";
import type { Container, Pod } from "kubernetes-types/core/v1.d.ts";
import type { Frozen } from "../kube/resource.ts";

/** What the controllers are given. */
export interface Installation {
  /** The pod it was read from, `namespace/name`. */
  readonly pod: string;
  readonly clusterName: string | undefined;
  readonly clusterCidr: string | undefined;
  /** AWS_REGION of the container. */
  readonly region: string | undefined;
  readonly cloudConfig: CloudConfigSource | undefined;
  /** The Lease that it leads by, `namespace/name`; undefined when it elects no leader. */
  readonly lease: string | undefined;
}

/** Where the file of `--cloud-config` comes from. */
export type CloudConfigSource =
  | { readonly kind: "config map"; readonly path: string; readonly namespace: string; readonly name: string; readonly key: string }
  /** A file of the node, a Secret, or something else that is not read from here. */
  | { readonly kind: "elsewhere"; readonly path: string };

/** Label selectors of the pods: the chart's, then those of the reference's manifests. */
export const controllerSelectors = [
  "app.kubernetes.io/part-of=fairlead,app.kubernetes.io/component=controller-manager",
  "k8s-app=aws-cloud-controller-manager",
];

/** What a pod tells; undefined when it runs no controller manager. */
export function installationOf({ metadata, spec }: Frozen<Pod>): Installation | undefined {
  const container = spec?.containers.find(({ command = [], args = [] }) => [...command, ...args].includes("--cloud-provider=aws"));
  if (container === undefined || metadata?.name === undefined || metadata.namespace === undefined) return undefined;
  const path = flagValue(container, "cloud-config");
  return {
    pod: `${metadata.namespace}/${metadata.name}`,
    clusterName: flagValue(container, "cluster-name"),
    clusterCidr: flagValue(container, "cluster-cidr"),
    region: container.env?.find(({ name }) => name === "AWS_REGION")?.value,
    cloudConfig: path === undefined ? undefined : cloudConfigSource(path, container, spec?.volumes ?? [], metadata.namespace),
    lease: leaseOf(container),
  };
}

function leaseOf(container: Frozen<Container>): string | undefined {
  if (flagValue(container, "leader-elect") === "false") return undefined;
  const part = (flag: string, usual: string) => flagValue(container, `leader-elect-resource-${flag}`) ?? usual;
  return `${part("namespace", "kube-system")}/${part("name", "cloud-controller-manager")}`;
}

/** The last value of a flag, written `--name=value` or as two words. */
function flagValue({ command = [], args = [] }: Frozen<Container>, name: string): string | undefined {
  const words = [...command, ...args];
  const given = words.flatMap((word, index) => {
    if (word === `--${name}`) return [words[index + 1]];
    return word.startsWith(`--${name}=`) ? [word.slice(name.length + 3)] : [];
  });
  return given.at(-1) || undefined;
}

function cloudConfigSource(
  path: string,
  container: Frozen<Container>,
  volumes: NonNullable<Frozen<Pod>["spec"]>["volumes"] & {},
  namespace: string,
): CloudConfigSource {
  const elsewhere = { kind: "elsewhere", path } as const;
  const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === path || mountPath.replace(/\/$/, "") === dirname(path));
  const configMap = volumes.find(({ name }) => name === mount?.name)?.configMap;
  if (mount === undefined || configMap?.name === undefined) return elsewhere;
  const file = mount.mountPath === path ? mount.subPath : basename(path);
  const key = configMap.items === undefined ? file : configMap.items.find((item) => item.path === file)?.key;
  return key === undefined ? elsewhere : { kind: "config map", path, namespace, name: configMap.name, key };
}
