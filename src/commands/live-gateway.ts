/** The Gateways of a cluster as commands look at them: listed once, with the settings that the load balancer controller was started with. */
import { namespaces } from "../kube/builtin.ts";
import type { KubeObject, Resource, Stored } from "../kube/resource.ts";
import type { Identified } from "../kube/store.ts";
import type { Service } from "../kube/types.ts";
import { discover } from "../loadbalancers/gateway/activation.ts";
import * as api from "../loadbalancers/gateway/api.ts";
import type { ListenerRuleSettings, LoadBalancerSettings, TargetGroupConfiguration } from "../loadbalancers/gateway/config.ts";
import { ruleVerdict } from "../loadbalancers/gateway/configuration-pass.ts";
import type { SurveyContext } from "../loadbalancers/gateway/context.ts";
import { type Flavour, flavours } from "../loadbalancers/gateway/flavours.ts";
import { type GatewayPreview, previewGateway } from "../loadbalancers/gateway/preview.ts";
import type { SeenGateway } from "../loadbalancers/gateway/report.ts";
import type { Objects, Readable } from "../loadbalancers/gateway/seen.ts";
import * as states from "../loadbalancers/gateway/states.ts";
import type { RouteKind } from "../loadbalancers/gateway/view.ts";
import { isSharedGroup } from "../loadbalancers/groups/backend-group.ts";
import { Inventory, reconcileAges } from "../loadbalancers/inventory.ts";
import { serviceState } from "../loadbalancers/service-state.ts";
import type { Clock } from "../runtime/world.ts";
import { controllerOptions } from "./balancer-options.ts";
import type { Live } from "./live.ts";
import { listed, overlaid, readSecrets } from "./live-ingress.ts";
import { indexedBy } from "./load-balancer-controller/balancers.ts";
import { openGateways } from "./load-balancer-controller/feature-gates.ts";
import { gatewaySettings } from "./load-balancer-controller/settings.ts";

export interface LiveGateways {
  readonly inventory: Inventory;
  readonly all: readonly SeenGateway[];
  /** What either kind of Gateway would do for it; empty where it is another controller's. */
  preview(gateway: SeenGateway): Promise<readonly (GatewayPreview & { readonly flavour: Flavour })[]>;
}

/** Objects of a manifest are put in the place of those of their name. */
export async function openGatewaysOf(live: Live, clock: Clock, written: readonly KubeObject[] = []): Promise<LiveGateways> {
  const { kube, ask, cloud, self } = live;
  const known = await discover(kube, ask.signal);
  const isServed = ({ group, version, kind }: Resource<KubeObject>) => known.get(`${group}/${version}`)?.has(kind) ?? group === "";
  const list = async <T extends KubeObject, V extends Identified>(
    of: Resource<T>,
    project: (object: Stored<T>) => V,
  ): Promise<Readable<V>> => {
    const own = written.filter(({ kind }) => kind === of.kind) as T[];
    return readable(
      overlaid(isServed(of) ? await listed(kube, of, ask.signal) : [], own, of.namespaced ? live.namespace : "").map(project),
    );
  };
  const kinds = Object.keys(api.routes) as RouteKind[];
  const [options, gateways, classes, sets, grants, loadBalancers, targetGroups, rules, spaces, ...routes] = await Promise.all([
    controllerOptions(live),
    list(api.gateways, states.gatewayState),
    list(api.gatewayClasses, states.classState),
    list(api.listenerSets, states.listenerSetState),
    list(api.referenceGrants, states.grantState),
    list(api.loadBalancerConfigurations, states.configurationState<LoadBalancerSettings>),
    list(api.targetGroupConfigurations, states.configurationState<TargetGroupConfiguration>),
    list(api.listenerRuleConfigurations, states.configurationState<ListenerRuleSettings>),
    list(namespaces, ({ metadata: { name, uid, resourceVersion, labels = {} } }) => ({ metadata: { name, uid, resourceVersion }, labels })),
    ...kinds.map((kind) => list(api.routes[kind], (object) => states.routeState(kind, object))),
  ]);
  const ofManifest = written.filter(({ kind }) => kind === "Service") as Service[];
  const services = readable(overlaid(live.stored, ofManifest, live.namespace).map(serviceState));
  const settings = gatewaySettings(options, self.vpc!);
  const owns = (tags: Readonly<Record<string, string>>) => tags["elbv2.k8s.aws/cluster"] === settings.cluster;
  const scope = { vpc: self.vpc!, cluster: { id: settings.cluster, legacy: false }, owns, ...indexedBy(options) };
  const inventory = new Inventory(cloud, clock, scope);
  const given = options["backend-security-group"];
  const secrets = await readSecrets(live);
  // One that is only written down has no status: it gets the one that its controller would give it.
  const judged = await Promise.all(
    rules.list().map(async (rule) => (rule.accepted === undefined ? { ...rule, ...(await ruleVerdict(rule, secrets, ask.signal)) } : rule)),
  );
  const contextOf = (flavour: Flavour): SurveyContext => {
    const ofFlavour = kinds.flatMap((kind, i) => (flavour.routeKinds.includes(kind) ? [routes[i] as Objects["routes"][number]] : []));
    const common = { gateways, classes, sets, grants, loadBalancers, targetGroups, rules: readable(judged), namespaces: spaces, services };
    return {
      inventory,
      settings,
      flavour,
      objects: { ...common, routes: ofFlavour } as Objects,
      secrets,
      async backendGroup() {
        if (!settings.sharesBackendGroup) return undefined;
        if (given !== "") return given;
        const groups = await inventory.groups.listed(reconcileAges.absentMs, ask);
        return groups.find(({ tags }) => isSharedGroup(tags, settings.cluster))?.id ?? "<shared security group>";
      },
    };
  };
  const served = openGateways(options["feature-gates"]).map((name): Flavour => flavours[name]);
  return {
    inventory,
    all: gateways.list(),
    async preview(gateway) {
      const previews = await Promise.all(
        served.map(async (flavour) => ({ flavour, preview: await previewGateway(gateway, contextOf(flavour), ask) })),
      );
      return previews.flatMap(({ flavour, preview }) => (preview ? [{ ...preview, flavour }] : []));
    },
  };
}

function readable<V extends Identified>(items: readonly V[]): Readable<V> {
  const keyOf = ({ namespace, name }: { readonly namespace?: string; readonly name: string }) =>
    namespace ? `${namespace}/${name}` : name;
  const byKey = new Map(items.map((item) => [keyOf(item.metadata), item]));
  return { get: (key: string) => byKey.get(key), list: () => items } as unknown as Readable<V>;
}
