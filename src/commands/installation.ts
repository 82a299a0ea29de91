/** How the controllers of a cluster were started, read from one of their pods: what a command would otherwise have to be told. */
import { basename, dirname } from "node:path";
import type { Frozen } from "../kube/resource.ts";
import type { Container, Pod } from "../kube/types.ts";
import type { FlagTable } from "../runtime/flags.ts";
import { flagTable } from "./controller-manager/flags.ts";
import { clusterPrograms } from "./host/cluster-programs.ts";
import { argvOfSection, type Entries, processSection, readSections } from "./host/config-file.ts";
import { processFlags } from "./host/flags.ts";

/** What the controllers are given. */
export interface Installation {
  /** The pod it was read from, `namespace/name`. */
  readonly pod: string;
  readonly clusterName: string | undefined;
  readonly clusterCidr: string | undefined;
  /** AWS_REGION of the container. */
  readonly region: string | undefined;
  readonly cloudConfig: FileSource | undefined;
  /** The Lease that it leads by, `namespace/name`; undefined when it elects no leader. */
  readonly lease: string | undefined;
  /** Of `fairlead cluster`: the Lease of the process itself, which it holds besides that one. */
  readonly hostLease?: string;
  /** Of `fairlead cluster`: the path of its file, where that could not be read. */
  readonly unreadConfig?: string;
}

/** Where a file comes from that a flag names. */
export type FileSource =
  | { readonly kind: "config map"; readonly path: string; readonly namespace: string; readonly name: string; readonly key: string }
  /** A file of the node, a Secret, or something else that is not read from here. */
  | { readonly kind: "elsewhere"; readonly path: string };

/** Label selectors of the pods: the chart's, then those of the reference's manifests. */
export const controllerSelectors = [
  "app.kubernetes.io/part-of=fairlead,app.kubernetes.io/component=controller-manager",
  "app.kubernetes.io/part-of=fairlead,app.kubernetes.io/component=cluster",
  "k8s-app=aws-cloud-controller-manager",
];

/** Where the file of a pod of `fairlead cluster` comes from; undefined for every other pod. */
export function hostConfigOf({ metadata, spec }: Frozen<Pod>): FileSource | undefined {
  const container = spec?.containers.find(isHost);
  const path = container && flagValue(container, "config");
  return path === undefined ? undefined : fileSource(path, container!, spec?.volumes ?? [], metadata?.namespace ?? "");
}

/** What a pod tells; undefined when it runs no controller manager. `hostConfig`: the file of a pod of `fairlead cluster`. */
export function installationOf({ metadata, spec }: Frozen<Pod>, hostConfig?: string): Installation | undefined {
  const found = spec?.containers.find((each) => isHost(each) || wordsOf(each).includes("--cloud-provider=aws"));
  if (found === undefined || metadata?.name === undefined || metadata.namespace === undefined) return undefined;
  const container = isHost(found) ? asManager(found, hostConfig) : found;
  if (container === undefined) return undefined;
  const path = flagValue(container, "cloud-config");
  return {
    pod: `${metadata.namespace}/${metadata.name}`,
    clusterName: flagValue(container, "cluster-name"),
    clusterCidr: flagValue(container, "cluster-cidr"),
    region: container.env?.find(({ name }) => name === "AWS_REGION")?.value,
    cloudConfig: path === undefined ? undefined : fileSource(path, container, spec?.volumes ?? [], metadata.namespace),
    lease: leaseOf(container, "cloud-controller-manager"),
    ...(isHost(found) && hostLeaseOf(found, container)),
  };
}

function wordsOf({ command = [], args = [] }: Frozen<Container>): readonly string[] {
  return [...command, ...args];
}

function isHost(container: Frozen<Container>): boolean {
  return wordsOf(container).includes("cluster") && flagValue(container, "config") !== undefined;
}

/**
 * The container of `fairlead cluster` as that of the controller manager in it, with the command line that this would have;
 * undefined when it hosts none. Its own lease is not the one that others compete for.
 */
function asManager(container: Frozen<Container>, hostConfig: string | undefined): Frozen<Container> | undefined {
  const withoutLease = (words: readonly string[]) => words.filter((word) => !word.startsWith("--leader-elect-resource-"));
  const own = withoutLease(wordsOf(container));
  if (hostConfig === undefined) return { ...container, args: own };
  try {
    const programs = Object.keys(clusterPrograms);
    const sections = readSections("", hostConfig, programs);
    const section = sections.get("controller-manager");
    if (section === undefined) return undefined;
    const argv = (entries: Entries, flags: FlagTable) =>
      argvOfSection(entries, { file: "", section: "", flags, misplaced: () => undefined }).argv;
    const process = withoutLease(argv(sections.get(processSection) ?? {}, processFlags("fairlead-cluster")));
    return { ...container, command: [], args: [...process, ...own, ...argv(section, flagTable)] };
  } catch {
    // A file that the process itself refuses: what its command line says is all there is.
    return { ...container, args: own };
  }
}

function hostLeaseOf(host: Frozen<Container>, manager: Frozen<Container>): Pick<Installation, "hostLease"> {
  const own = leaseOf(host, "fairlead-cluster");
  // Whether leases are used at all may be said in the file, which the manager's command line includes.
  return own === undefined || leaseOf(manager, "") === undefined ? {} : { hostLease: own };
}

function leaseOf(container: Frozen<Container>, usualName: string): string | undefined {
  if (flagValue(container, "leader-elect") === "false") return undefined;
  const part = (flag: string, usual: string) => flagValue(container, `leader-elect-resource-${flag}`) ?? usual;
  return `${part("namespace", "kube-system")}/${part("name", usualName)}`;
}

/** The last value of a flag, written `--name=value` or as two words. */
function flagValue(container: Frozen<Container>, name: string): string | undefined {
  const words = wordsOf(container);
  const given = words.flatMap((word, index) => {
    if (word === `--${name}`) return [words[index + 1]];
    return word.startsWith(`--${name}=`) ? [word.slice(name.length + 3)] : [];
  });
  return expanded(given.at(-1) ?? "", container) || undefined;
}

/** The text with `$(NAME)` in it, as Kubernetes puts it in place; undefined where a variable has a value that the pod does not show. */
function expanded(text: string, { env = [], envFrom = [] }: Frozen<Container>): string | undefined {
  let isKnown = true;
  const full = text.replaceAll(/\$\$|\$\(([^)]+)\)/g, (written, name?: string) => {
    if (name === undefined) return "$";
    const variable = env.findLast((each) => each.name === name);
    if (variable === undefined ? envFrom.length > 0 : variable.valueFrom !== undefined) isKnown = false;
    return variable === undefined ? written : (variable.value ?? "");
  });
  return isKnown ? full : undefined;
}

function fileSource(
  path: string,
  container: Frozen<Container>,
  volumes: NonNullable<Frozen<Pod>["spec"]>["volumes"] & {},
  namespace: string,
): FileSource {
  const elsewhere = { kind: "elsewhere", path } as const;
  const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === path || mountPath.replace(/\/$/, "") === dirname(path));
  const configMap = volumes.find(({ name }) => name === mount?.name)?.configMap;
  if (mount === undefined || configMap?.name === undefined) return elsewhere;
  const file = mount.mountPath === path ? mount.subPath : basename(path);
  const key = configMap.items === undefined ? file : configMap.items.find((item) => item.path === file)?.key;
  return key === undefined ? elsewhere : { kind: "config map", path, namespace, name: configMap.name, key };
}
