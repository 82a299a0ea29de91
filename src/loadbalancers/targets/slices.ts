/** EndpointSlices, as much of them as targets follow from. */
import type { Informer } from "../../kube/informer.ts";
import type { Frozen, Stored } from "../../kube/resource.ts";
import type { EndpointSlice } from "../../kube/types.ts";

interface Meta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface SliceState {
  readonly metadata: Meta;
  /** The Service's name; empty where the slice belongs to none. */
  readonly service: string;
  readonly addressType: string;
  readonly ports: readonly { readonly name: string; readonly port: number }[];
  readonly endpoints: readonly SliceEndpoint[];
}

export interface SliceEndpoint {
  readonly address: string;
  readonly ready: boolean;
  readonly terminating: boolean;
  /** `namespace/name`. */
  readonly pod: string;
}

export type SeenSlice = Frozen<SliceState>;
/** `service`: by `namespace/name` of the Service. `pod`: by those of its pods. */
export type Slices = Informer<SliceState, "service" | "pod">;

/** Only endpoints that are pods with an address are kept. */
export function sliceState({ metadata, addressType, ports, endpoints }: Stored<EndpointSlice>): SliceState {
  const { name, namespace = "", uid, resourceVersion, labels = {} } = metadata;
  return {
    metadata: { name, namespace, uid, resourceVersion },
    service: labels["kubernetes.io/service-name"] ?? "",
    addressType,
    ports: (ports ?? []).map((port) => ({ name: port.name ?? "", port: port.port ?? 0 })),
    endpoints: (endpoints ?? []).flatMap(({ addresses, conditions, targetRef }) => {
      const address = addresses?.[0];
      if (targetRef?.kind !== "Pod" || address === undefined) return [];
      const pod = `${targetRef.namespace || namespace}/${targetRef.name}`;
      return [{ address, ready: conditions?.ready ?? true, terminating: conditions?.terminating ?? false, pod }];
    }),
  };
}

/** Whether anything changed that targets follow from. */
export function sameEndpoints(a: SeenSlice, b: SeenSlice): boolean {
  const text = ({ service, addressType, ports, endpoints }: SeenSlice) => JSON.stringify([service, addressType, ports, endpoints]);
  return text(a) === text(b);
}
