/** The informers of the binding controller, of one namespace or of all. */
import { endpointSlices, pods } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { informer } from "../../kube/informer.ts";
import { servicesIn } from "../service-state.ts";
import { type Bindings, bindingState, type SeenBinding, targetGroupBindings } from "./binding.ts";
import { type Pods, podState, type SeenPod } from "./pods.ts";
import { endpoints, endpointsState, type SeenSlice, type Slices, sliceState } from "./slices.ts";

export type BindingInformers = ReturnType<typeof bindingInformers>;

const sliceIndexes = {
  service: ({ metadata, service }: SeenSlice) => (service === "" ? [] : [`${metadata.namespace}/${service}`]),
  pod: ({ parts }: SeenSlice) => parts.flatMap(({ endpoints: all }) => all.map(({ pod }) => pod)),
};

/** An empty namespace stands for all. To be called once per process: every call gives keys of its own. */
export function bindingInformers(namespace: string, quicVariable: string, readsEndpoints = false) {
  const scope = namespace === "" ? {} : { namespace };
  return {
    bindings: {
      name: "targetgroupbindings",
      make: (client: KubeClient): Bindings =>
        informer({
          client,
          of: targetGroupBindings,
          ...scope,
          project: bindingState,
          indexes: {
            service: ({ metadata, spec }: SeenBinding) => [`${metadata.namespace}/${spec.serviceRef.name}`],
            group: ({ spec }: SeenBinding) => (spec.targetGroupARN ? [spec.targetGroupARN] : []),
          },
        }),
    },
    services: servicesIn(namespace),
    slices: {
      name: readsEndpoints ? "endpoints" : "endpointslices",
      make: (client: KubeClient): Slices => {
        const common = { client, ...scope, indexes: sliceIndexes };
        return readsEndpoints
          ? informer({ ...common, of: endpoints, project: endpointsState })
          : informer({ ...common, of: endpointSlices, project: sliceState });
      },
    },
    pods: {
      name: "pods",
      make: (client: KubeClient): Pods =>
        informer({
          client,
          of: pods,
          ...scope,
          project: (pod) => podState(pod, quicVariable),
          indexes: {
            ip: ({ ip }: SeenPod) => (ip === "" ? [] : [ip]),
            gate: ({ metadata, gates }: SeenPod) => gates.map((gate) => `${metadata.namespace}/${gate}`),
          },
        }),
    },
  };
}
