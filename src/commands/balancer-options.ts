/** How the load balancer controller of a cluster was started, as commands find it. */
import { pods } from "../kube/builtin.ts";
import type { Live } from "./live.ts";
import { type Options, parseOptions } from "./load-balancer-controller/flags.ts";

const controllerSelectors = [
  "app.kubernetes.io/part-of=fairlead,app.kubernetes.io/component=load-balancer-controller",
  "app.kubernetes.io/name=aws-load-balancer-controller",
];

/** Those of one that is told nothing. */
export const usualOptions = (clusterName: string): Options => parseOptions([`--cluster-name=${clusterName}`]).values;

/** The flags of a load balancer controller that runs in the cluster; else their defaults. */
export async function controllerOptions({ kube, ask, clusterName }: Pick<Live, "kube" | "ask" | "clusterName">): Promise<Options> {
  for (const labelSelector of controllerSelectors) {
    const { items } = await kube.list(pods, { labelSelector, signal: ask.signal });
    for (const { spec } of items) {
      const words = spec?.containers.flatMap(({ command = [], args = [] }) => [...command, ...args]) ?? [];
      const flags = words.filter((word) => word.startsWith("--") && word.includes("="));
      if (flags.length === 0) continue;
      try {
        return parseOptions([`--cluster-name=${clusterName}`, ...flags]).values;
      } catch {
        // A container of something else: the next one may tell.
      }
    }
  }
  return usualOptions(clusterName);
}
