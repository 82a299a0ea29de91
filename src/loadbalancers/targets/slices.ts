/** EndpointSlices, or in their place Endpoints, as much of them as targets follow from. */
import type { Informer } from "../../kube/informer.ts";
import { type Frozen, type KubeObject, resource, type Stored } from "../../kube/resource.ts";
import type { EndpointSlice } from "../../kube/types.ts";

interface Meta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Either of the two. */
export interface SliceState {
  readonly metadata: Meta;
  /** The Service's name; empty where it belongs to none. */
  readonly service: string;
  readonly parts: readonly SlicePart[];
}

/** Endpoints that have the same ports. */
export interface SlicePart {
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
  const { namespace = "", labels = {} } = metadata;
  const part = {
    addressType,
    ports: portsIn(ports),
    endpoints: (endpoints ?? []).flatMap(({ addresses, conditions, targetRef }) => {
      const address = addresses?.[0];
      const pod = podOf(targetRef, namespace);
      if (pod === undefined || address === undefined) return [];
      return [{ address, ready: conditions?.ready ?? true, terminating: conditions?.terminating ?? false, pod }];
    }),
  };
  return { metadata: metaOf(metadata), service: labels["kubernetes.io/service-name"] ?? "", parts: [part] };
}

interface EndpointAddress {
  readonly ip: string;
  readonly targetRef?: Ref;
}

export interface Endpoints extends KubeObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly EndpointAddress[];
    readonly notReadyAddresses?: readonly EndpointAddress[];
    readonly ports?: readonly { readonly name?: string; readonly port: number }[];
  }[];
}

/** What a Service had before EndpointSlices; of the same name. */
export const endpoints = resource<Endpoints>({ group: "", version: "v1", plural: "endpoints", kind: "Endpoints", namespaced: true });

/** They do not tell who is about to end: those are not ready. */
export function endpointsState({ metadata, subsets = [] }: Stored<Endpoints>): SliceState {
  const { namespace = "" } = metadata;
  const seen = (all: readonly EndpointAddress[], ready: boolean) =>
    all.flatMap(({ ip, targetRef }) => {
      const pod = podOf(targetRef, namespace);
      return pod === undefined ? [] : [{ address: ip, ready, terminating: false, pod }];
    });
  const parts = subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports }) => {
    const all = [...seen(addresses, true), ...seen(notReadyAddresses, false)];
    const families = Map.groupBy(all, ({ address }) => (address.includes(":") ? "IPv6" : "IPv4"));
    return [...families].map(([addressType, some]) => ({ addressType, ports: portsIn(ports), endpoints: some }));
  });
  return { metadata: metaOf(metadata), service: metadata.name, parts };
}

const metaOf = ({ name, namespace = "", uid, resourceVersion }: Stored<KubeObject>["metadata"]): Meta => ({
  name,
  namespace,
  uid,
  resourceVersion,
});

const portsIn = (ports: readonly { readonly name?: string; readonly port?: number }[] | undefined | null) =>
  (ports ?? []).map((port) => ({ name: port.name ?? "", port: port.port ?? 0 }));

interface Ref {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

const podOf = (ref: Ref | undefined, namespace: string) => (ref?.kind === "Pod" ? `${ref.namespace || namespace}/${ref.name}` : undefined);

/** Whether anything changed that targets follow from. */
export function sameEndpoints(a: SeenSlice, b: SeenSlice): boolean {
  const text = ({ service, parts }: SeenSlice) => JSON.stringify([service, parts]);
  return text(a) === text(b);
}
