/** Services with a load balancer class as commands look at them, with the settings that the load balancer controller was started with. */
import type { Stored } from "../kube/resource.ts";
import type { Service } from "../kube/types.ts";
import { clusterTag } from "../loadbalancers/controller-names.ts";
import { isSharedGroup } from "../loadbalancers/groups/backend-group.ts";
import { Inventory, reconcileAges } from "../loadbalancers/inventory.ts";
import type { SeenService } from "../loadbalancers/service/seen.ts";
import { handedOverTypes, typeAnnotation } from "../loadbalancers/service-claim.ts";
import { type ClassPreview, previewClassService } from "../loadbalancers/service-class/preview.ts";
import { classFinalizer, classServiceState, type ServiceState } from "../loadbalancers/service-class/seen.ts";
import type { Clock } from "../runtime/world.ts";
import type { Live } from "./live.ts";
import { controllerOptions } from "./live-ingress.ts";
import { classSettings } from "./load-balancer-controller/settings.ts";

/** Whether it may be a Service of the load balancer controller's, or was one: only then is anything asked for it. */
export function mayBeOfClass({ loadBalancerClass, view, metadata }: SeenService): boolean {
  const type = view.annotations[typeAnnotation];
  const isHandedOver = type !== undefined && (handedOverTypes as readonly string[]).includes(type);
  return loadBalancerClass !== undefined || isHandedOver || metadata.finalizers.includes(classFinalizer);
}

export interface LiveClassServices {
  readonly inventory: Inventory;
  /** As the controller sees it. */
  stateOf(service: SeenService): ServiceState;
  /** Undefined for a Service that the controller has nothing to do with. */
  preview(service: SeenService): Promise<ClassPreview | undefined>;
}

/** `written`: Services of a manifest, in the place of those of their name. */
export async function openClassServices(live: Live, clock: Clock, written: readonly Service[] = []): Promise<LiveClassServices> {
  const { cloud, self, ask } = live;
  const options = await controllerOptions(live);
  const settings = classSettings(options, self.vpc!);
  const owns = (tags: Readonly<Record<string, string>>) => tags[clusterTag] === settings.cluster;
  const inventory = new Inventory(cloud, clock, { vpc: self.vpc!, cluster: { id: settings.cluster, legacy: false }, owns });
  const given = options["backend-security-group"];
  const rawOf = (namespace: string, name: string): Service | undefined =>
    written.find(({ metadata }) => (metadata?.namespace ?? live.namespace) === namespace && metadata?.name === name) ??
    live.stored.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  const stateOf = (service: SeenService) => withAllocated(service, rawOf(service.view.namespace, service.view.name) ?? {});
  const parts = {
    inventory,
    settings,
    async backendGroup() {
      if (!settings.sharesBackendGroup) return undefined;
      if (given !== "") return given;
      const groups = await inventory.groups.listed(reconcileAges.absentMs, ask);
      return groups.find(({ tags }) => isSharedGroup(tags, settings.cluster))?.id ?? "<shared security group>";
    },
    service(namespace: string, name: string) {
      const found = live.all.find(({ view }) => view.namespace === namespace && view.name === name);
      return found && stateOf(found).view;
    },
  };
  return { inventory, stateOf, preview: (service) => previewClassService(stateOf(service), parts, ask) };
}

/** What is written, with what the API server has given it or would give it. */
function withAllocated({ metadata, view }: SeenService, raw: Service): ServiceState {
  const { name, namespace, uid, resourceVersion, finalizers, deletionTimestamp } = metadata;
  const own = { name, namespace, uid, resourceVersion, finalizers: [...finalizers], ...(deletionTimestamp && { deletionTimestamp }) };
  const state = classServiceState({ ...raw, metadata: { ...raw.metadata, ...own } } as Stored<Service>);
  const ports = state.view.ports.map((port, i) => ({ ...port, nodePort: view.ports[i]?.nodePort ?? port.nodePort }));
  return { ...state, view: { ...state.view, ports, healthCheckNodePort: view.healthCheckNodePort } };
}
