/**
 * How the control plane's components are started, where they are seen as pods: kubeadm, kops and their kin run them so.
 * Those of a managed control plane, and of one that is run by systemd, cannot be seen from outside.
 */
import { pods } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Finding, ok, problem, some } from "./finding.ts";
import { type Picture, valueIn } from "./picture.ts";

const components = ["kube-apiserver", "kube-controller-manager"] as const;

export interface ControlPlanePod {
  readonly name: string;
  readonly component: (typeof components)[number];
  /** By name, without dashes. */
  readonly flags: Readonly<Record<string, string>>;
}

/** kubeadm labels them with `component`, kops with `k8s-app`. */
export async function askControlPlane(kube: KubeClient, signal: AbortSignal): Promise<readonly ControlPlanePod[]> {
  const selectors = ["component", "k8s-app"].map((label) => `${label} in (${components.join(",")})`);
  const lists = await Promise.all(selectors.map((labelSelector) => kube.list(pods, { namespace: "kube-system", labelSelector, signal })));
  const found = lists
    .flatMap(({ items }) => items)
    .map(({ metadata, spec }) => {
      const { component, "k8s-app": app } = metadata.labels ?? {};
      const words = (spec?.containers ?? []).flatMap(({ command = [], args = [] }) => [...command, ...args]);
      return { name: metadata.name, component: (component ?? app) as ControlPlanePod["component"], flags: flagsIn(words) };
    });
  return [...new Map(found.map((pod) => [pod.name, pod])).values()];
}

/** `--name=value` and `--name value`; of a flag that is there twice the last counts. Also within a shell's command line, as kops has it. */
export function flagsIn(words: readonly string[]): Readonly<Record<string, string>> {
  const all = words.flatMap((word) => word.split(/\s+/));
  return Object.fromEntries(
    all.flatMap((word, index) => {
      const [, name, value] = /^--([\w-]+)(?:=(.*))?$/.exec(word) ?? [];
      const next = all[index + 1];
      return name === undefined ? [] : [[name, value ?? (next?.startsWith("-") === false ? next : "")]];
    }),
  );
}

/** What it must not be started with: the loops of a provider of its own, and the plugin that asks one. */
const wrong: readonly {
  readonly component: ControlPlanePod["component"];
  readonly what: string;
  readonly remedy: string;
  holds(flags: ControlPlanePod["flags"]): boolean;
}[] = [
  {
    component: "kube-controller-manager",
    what: "with a cloud provider of its own: both would manage load balancers and routes",
    remedy: "# set --cloud-provider=external on kube-controller-manager, or remove the flag: docs/migrate.md",
    holds: hasProvider,
  },
  {
    component: "kube-apiserver",
    what: "with a cloud provider of its own",
    remedy: "# remove --cloud-provider from the arguments of kube-apiserver: from 1.33 on it does not start with it",
    holds: hasProvider,
  },
  {
    component: "kube-apiserver",
    what: "with the admission plugin PersistentVolumeLabel, which refuses PersistentVolumes that it cannot ask a provider about",
    remedy:
      "# add --disable-admission-plugins=PersistentVolumeLabel to the arguments of kube-apiserver, and use --volume-labels of the EBS CSI driver",
    holds: (flags) => (flags["enable-admission-plugins"] ?? "").split(",").includes("PersistentVolumeLabel"),
  },
];

function hasProvider({ "cloud-provider": provider = "" }: ControlPlanePod["flags"]): boolean {
  return provider !== "" && provider !== "external";
}

export function checkControlPlane({ controlPlane }: Picture): readonly Finding[] {
  const seen = (controlPlane && valueIn(controlPlane)) ?? [];
  if (seen.length === 0) return [];
  const findings = wrong.flatMap(({ component, what, remedy, holds }) => {
    const names = seen.filter((pod) => pod.component === component && holds(pod.flags)).map(({ name }) => name);
    return names.length > 0 ? [problem("control plane", `${some(names)} run ${what}`, remedy)] : [];
  });
  return findings.length > 0 ? findings : [ok("control plane", `${seen.length} components run without a cloud provider of their own`)];
}
