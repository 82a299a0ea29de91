/** Controller managers whose machine has got another address are started anew: they have bound the old one. A key is a pod. */
import { pods as podResource } from "../../../kube/builtin.ts";
import type { KubeClient } from "../../../kube/client.ts";
import { isApiError } from "../../../kube/errors.ts";
import type { Frozen } from "../../../kube/resource.ts";
import { watchSource } from "../../../kube/watch-source.ts";
import { type Controller, done } from "../../../runtime/controller.ts";
import type { Host } from "../../../runtime/host.ts";
import type { Pods, PodView } from "./informers.ts";

export const initialAddressAnnotation = "node.deckhouse.io/initial-host-ip";

/** What is to be done about a pod: its address remembered, the pod deleted, or nothing. */
export function hostAddressStep({ metadata, hostIP }: Frozen<PodView>): "remember" | "delete" | "nothing" {
  const initial = metadata.annotations?.[initialAddressAnnotation];
  if (hostIP === "" || metadata.deletionTimestamp !== undefined) return "nothing";
  if (initial === undefined) return "remember";
  return initial === hostIP ? "nothing" : "delete";
}

export function hostAddressWatch({
  host,
  kube,
  pods,
}: {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly pods: Pods;
}): Controller {
  return {
    name: "host-addresses",
    concurrency: 1,
    sources: [
      watchSource(pods, (_, after) =>
        after !== undefined && hostAddressStep(after) !== "nothing" ? [`${after.metadata.namespace}/${after.metadata.name}`] : [],
      ),
    ],
    async reconcile(key, signal) {
      const pod = pods.get(key);
      if (pod === undefined) return done;
      const { name, namespace = "", uid } = pod.metadata;
      const step = hostAddressStep(pod);
      try {
        if (step === "remember") {
          const merge = { metadata: { annotations: { [initialAddressAnnotation]: pod.hostIP } } };
          await kube.patch(podResource, { namespace, name }, { merge, uid }, { signal });
        } else if (step === "delete") {
          await kube.delete(podResource, { namespace, name }, { uid, signal });
          host.log.info("deleted a controller manager whose machine has another address", { pod: key, address: pod.hostIP });
        }
      } catch (error) {
        if (!isApiError(error, "not-found")) throw error;
      }
      return done;
    },
  };
}
