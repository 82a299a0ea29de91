/** Services with a load balancer class as commands look at them, with the settings that the load balancer controller was started with. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import type { Service } from "../kube/types.ts";
import { clusterTag } from "../loadbalancers/controller-names.ts";
import { isSharedGroup } from "../loadbalancers/groups/backend-group.ts";
import { type ClusterScope, Inventory, reconcileAges } from "../loadbalancers/inventory.ts";
import type { Tags } from "../loadbalancers/model.ts";
import { serviceOfManifest } from "../loadbalancers/service/manifest.ts";
import { handedOverTypes, typeAnnotation } from "../loadbalancers/service-claim.ts";
import { type ClassPreview, previewClassService } from "../loadbalancers/service-class/preview.ts";
import { classFinalizer } from "../loadbalancers/service-class/seen.ts";
import type { ClassSettings } from "../loadbalancers/service-class/settings.ts";
import type { SeenService } from "../loadbalancers/service-state.ts";
import type { Clock } from "../runtime/world.ts";
import { controllerOptions } from "./balancer-options.ts";
import type { Live } from "./live.ts";
import { classSettings } from "./load-balancer-controller/settings.ts";

/** Whether it may be a Service of the load balancer controller's, or was one: only then is anything asked for it. */
export function mayBeOfClass({ view, metadata }: SeenService): boolean {
  const type = view.annotations[typeAnnotation];
  const isHandedOver = type !== undefined && (handedOverTypes as readonly string[]).includes(type);
  return view.loadBalancerClass !== undefined || isHandedOver || metadata.finalizers.includes(classFinalizer);
}

export interface LiveClassServices {
  readonly inventory: Inventory;
  readonly settings: ClassSettings;
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
  const others = [...written.map((manifest) => serviceOfManifest(manifest, undefined, live.namespace)), ...live.all];
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
      return others.find(({ view }) => view.namespace === namespace && view.name === name)?.view;
    },
  };
  return { inventory, settings, preview: (service) => previewClassService(service, parts, ask) };
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
