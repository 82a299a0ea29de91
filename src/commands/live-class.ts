/** Services with a load balancer class as commands look at them, with the settings that the load balancer controller was started with. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import type { Stored } from "../kube/resource.ts";
import type { Service } from "../kube/types.ts";
import { clusterTag } from "../loadbalancers/controller-names.ts";
import { isSharedGroup } from "../loadbalancers/groups/backend-group.ts";
import { type ClusterScope, Inventory, reconcileAges } from "../loadbalancers/inventory.ts";
import type { Tags } from "../loadbalancers/model.ts";
import type { SeenService } from "../loadbalancers/service/seen.ts";
import { handedOverTypes, typeAnnotation } from "../loadbalancers/service-claim.ts";
import { type ClassPreview, previewClassService } from "../loadbalancers/service-class/preview.ts";
import { classFinalizer, classServiceState, type ServiceState } from "../loadbalancers/service-class/seen.ts";
import type { ClassSettings } from "../loadbalancers/service-class/settings.ts";
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
  readonly settings: ClassSettings;
  /** As the controller sees it. */
  stateOf(service: SeenService): ServiceState;
  /** Undefined for a Service that the controller has nothing to do with. */
  preview(service: SeenService): Promise<ClassPreview | undefined>;
}

/** What is looked at as if it were so already. */
export interface Supposed {
  /** Services of a manifest, in the place of those of their name. */
  readonly services?: readonly Service[];
  /** Tags of load balancers and target groups, by ARN. */
  readonly tags?: ReadonlyMap<string, Tags>;
}

export async function openClassServices(live: Live, clock: Clock, supposed: Supposed = {}): Promise<LiveClassServices> {
  const { cloud, self, ask } = live;
  const options = await controllerOptions(live);
  const settings = classSettings(options, self.vpc!);
  const owns = (tags: Readonly<Record<string, string>>) => tags[clusterTag] === settings.cluster;
  const { services: written = [], tags = new Map() } = supposed;
  const inventory = new SupposedInventory(cloud, clock, { vpc: self.vpc!, cluster: { id: settings.cluster, legacy: false }, owns }, tags);
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
  return { inventory, settings, stateOf, preview: (service) => previewClassService(stateOf(service), parts, ask) };
}

/** An account some of whose tags are other than they are. */
class SupposedInventory extends Inventory {
  readonly #supposed: ReadonlyMap<string, Tags>;

  constructor(cloud: Cloud, clock: Clock, scope: ClusterScope, supposed: ReadonlyMap<string, Tags>) {
    super(cloud, clock, scope);
    this.#supposed = supposed;
  }

  override async tags(arn: string, ask: Ask, maxAgeMs?: number): Promise<Tags | undefined> {
    return this.#supposed.get(arn) ?? super.tags(arn, ask, maxAgeMs);
  }
}

/** What is written, with what the API server has given it or would give it. */
function withAllocated({ metadata, view }: SeenService, raw: Service): ServiceState {
  const { name, namespace, uid, resourceVersion, finalizers, deletionTimestamp } = metadata;
  const own = { name, namespace, uid, resourceVersion, finalizers: [...finalizers], ...(deletionTimestamp && { deletionTimestamp }) };
  const state = classServiceState({ ...raw, metadata: { ...raw.metadata, ...own } } as Stored<Service>);
  const ports = state.view.ports.map((port, i) => ({ ...port, nodePort: view.ports[i]?.nodePort ?? port.nodePort }));
  return { ...state, view: { ...state.view, ports, healthCheckNodePort: view.healthCheckNodePort } };
}
