/** What the page shows of objects in Kubernetes: one projection for each kind, so that a cache keeps no more than is shown. */
import { claimedInstance, nodeView } from "../identity/node-view.ts";
import { nodes, services } from "../kube/builtin.ts";
import type { KubeObject, Resource, Stored } from "../kube/resource.ts";
import type { Ingress, Node, PersistentVolume, PersistentVolumeClaim, Service } from "../kube/types.ts";
import { type ApiGateway, gateways } from "../loadbalancers/gateway/api.ts";
import { ingresses } from "../loadbalancers/ingress/seen.ts";
import { type TargetGroupBinding, targetGroupBindings } from "../loadbalancers/targets/binding.ts";
import { claims, persistentVolumes } from "../volumes/storage-resources.ts";
import type { Entry, Kind, State, Thing } from "./graph.ts";

/** A kind of object that is followed, and how one of it is shown; undefined for one that is of no interest here. */
export interface Shown<T extends KubeObject> {
  readonly of: Resource<T>;
  entry(object: Stored<T>): Entry | undefined;
}

interface Look {
  readonly state: State;
  readonly text: string;
  readonly facts?: Thing["facts"];
  readonly to?: readonly string[];
}

function entryOf(kind: Kind, { metadata }: Stored<KubeObject>, { state, text, facts = {}, to = [] }: Look): Entry {
  const { namespace, name, uid, deletionTimestamp } = metadata;
  const path = namespace === undefined ? name : `${namespace}/${name}`;
  const going = deletionTimestamp !== undefined;
  return {
    thing: {
      id: `${kind}/${path}`,
      kind,
      name: path,
      state: going ? "working" : state,
      text: going ? "being deleted" : text,
      facts: Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== "")),
    },
    to,
    uid,
  };
}

type Published = { readonly hostname?: string; readonly ip?: string };

/** Others give addresses by number. */
const addressesOf = (ingress: readonly Published[] = []) => ingress.flatMap(({ hostname, ip }) => hostname || ip || []);

/** With an address it serves; without one it is being made, or cannot be. */
function published(hostnames: readonly string[]): Pick<Look, "state" | "text" | "to"> {
  const [first] = hostnames;
  return first === undefined ? { state: "working", text: "no address yet" } : { state: "good", text: first, to: hostnames };
}

const service: Shown<Service> = {
  of: services,
  entry(object) {
    const { type, ports = [], loadBalancerClass = "" } = object.spec ?? {};
    if (type !== "LoadBalancer") return undefined;
    const hostnames = addressesOf(object.status?.loadBalancer?.ingress);
    return entryOf("service", object, {
      ...published(hostnames),
      facts: {
        class: loadBalancerClass,
        ports: ports.map(({ port, protocol = "TCP" }) => `${port}/${protocol}`).join(", "),
        address: hostnames.join(", "),
      },
    });
  },
};

const ingress: Shown<Ingress> = {
  of: ingresses,
  entry(object) {
    const { rules = [], ingressClassName = "" } = object.spec ?? {};
    const hostnames = addressesOf(object.status?.loadBalancer?.ingress);
    return entryOf("ingress", object, {
      ...published(hostnames),
      facts: {
        class: ingressClassName,
        hosts: [...new Set(rules.map(({ host = "*" }) => host))].join(", "),
        group: object.metadata.annotations?.["alb.ingress.kubernetes.io/group.name"] ?? "",
        address: hostnames.join(", "),
      },
    });
  },
};

const gateway: Shown<ApiGateway> = {
  of: gateways,
  entry(object) {
    const addresses = (object.status?.addresses ?? []).flatMap(({ value }) => value ?? []);
    const refused = object.status?.conditions?.find(({ type, status }) => type === "Programmed" && status === "False");
    return entryOf("gateway", object, {
      ...published(addresses),
      ...(refused && { state: "bad", text: refused.message ?? "not programmed" }),
      facts: {
        class: object.spec?.gatewayClassName ?? "",
        address: addresses.join(", "),
      },
    });
  },
};

const binding: Shown<TargetGroupBinding> = {
  of: targetGroupBindings,
  entry(object) {
    const { targetGroupARN = "", serviceRef } = object.spec ?? {};
    const service = serviceRef ? `${serviceRef.name}:${serviceRef.port}` : "";
    return entryOf("binding", object, { state: "good", text: `pods of ${service}`, facts: { service: service }, to: [targetGroupARN] });
  },
};

const node: Shown<Node> = {
  of: nodes,
  entry(object) {
    const view = nodeView(object);
    const ready = view.conditions.find(({ type }) => type === "Ready")?.status ?? "Unknown";
    const uninitialised = view.taints.some(({ key }) => key === "node.cloudprovider.kubernetes.io/uninitialized");
    const [state, text]: [State, string] =
      ready !== "True"
        ? ["bad", ready === "False" ? "not ready" : "its kubelet is silent"]
        : uninitialised
          ? ["working", "being initialised"]
          : view.unschedulable
            ? ["working", "takes no new pods"]
            : ["good", "ready"];
    const { labels } = view.metadata;
    return entryOf("node", object, {
      state,
      text,
      facts: {
        zone: labels["topology.kubernetes.io/zone"] ?? "",
        type: labels["node.kubernetes.io/instance-type"] ?? "",
        addresses: view.addresses.map(({ address }) => address).join(", "),
        pods: view.podCidrs.join(", "),
        taints: view.taints.map(({ key }) => key).join(", "),
      },
      to: [claimedInstance(view) ?? ""],
    });
  },
};

const claim: Shown<PersistentVolumeClaim> = {
  of: claims,
  entry(object) {
    const { volumeName = "", storageClassName = "" } = object.spec ?? {};
    const phase = object.status?.phase ?? "Pending";
    return entryOf("claim", object, {
      state: phase === "Bound" ? "good" : phase === "Lost" ? "bad" : "working",
      text:
        phase === "Bound" ? (object.status?.capacity?.storage ?? "bound") : phase === "Lost" ? "its volume is gone" : "waits for a volume",
      facts: { class: storageClassName },
      to: volumeName === "" ? [] : [`persistent-volume/${volumeName}`],
    });
  },
};

const persistentVolume: Shown<PersistentVolume> = {
  of: persistentVolumes,
  entry(object) {
    const handle = object.spec?.csi?.volumeHandle ?? object.spec?.awsElasticBlockStore?.volumeID?.split("/").at(-1);
    if (handle === undefined) return undefined;
    const phase = object.status?.phase ?? "Pending";
    return entryOf("persistent-volume", object, {
      state: phase === "Failed" ? "bad" : phase === "Released" ? "idle" : "good",
      text: phase === "Failed" ? (object.status?.message ?? "failed") : phase.toLowerCase(),
      facts: { volume: handle },
      to: [handle],
    });
  },
};

/** Every kind that is shown, whatever its type. */
export const shown: readonly Shown<KubeObject>[] = [service, ingress, gateway, binding, node, claim, persistentVolume] as never;
