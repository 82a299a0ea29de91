/** What a Gateway's own code makes of the objects of a translation, as they would be read from the API. Pure. */
import type { KubeObject, Stored } from "../../kube/resource.ts";
import type { ApiGateway, ApiRoute } from "../../loadbalancers/gateway/api.ts";
import { attachRoutes } from "../../loadbalancers/gateway/attachment.ts";
import type { ListenerRuleSettings, LoadBalancerSettings, TargetGroupConfiguration } from "../../loadbalancers/gateway/config.ts";
import { desireGateway } from "../../loadbalancers/gateway/desire.ts";
import type { GatewaySources } from "../../loadbalancers/gateway/draft.ts";
import { flavours } from "../../loadbalancers/gateway/flavours.ts";
import { judgeListeners, type ListenerParent } from "../../loadbalancers/gateway/listener-validation.ts";
import { mergeLoadBalancers } from "../../loadbalancers/gateway/merge.ts";
import { gatewayState, routeState } from "../../loadbalancers/gateway/states.ts";
import { configurationOf } from "../../loadbalancers/gateway/target-settings.ts";
import type { GroupSources } from "../../loadbalancers/ingress/desire.ts";
import type { ServiceView } from "../../loadbalancers/ingress/view.ts";
import type { ApplicationLoadBalancer } from "../../loadbalancers/model.ts";
import type { ServiceView as WholeService } from "../../loadbalancers/service-state.ts";
import type { Compared } from "./canonical.ts";
import type { Manifest, TranslationInput } from "./translation.ts";

/** The model of the Gateway, and what is wrong with it. */
export function checkTranslation(
  objects: readonly Manifest[],
  { sources, desire, ofClass }: TranslationInput,
): Compared & { readonly problems: readonly string[] } {
  const all = <T extends KubeObject>(kind: string) => objects.filter((each) => each.kind === kind).map((each) => stored<T>(each));
  const [gateway] = all<ApiGateway>("Gateway").map((each) => gatewayState(each).view);
  const routes = all<ApiRoute>("HTTPRoute").map((each) => routeState("HTTPRoute", each).view);
  const specs = <Spec>(kind: string) =>
    objects.filter((each) => each.kind === kind).map(({ metadata, spec }) => ({ ...metadata, spec: spec as Spec }));
  const [config] = specs<LoadBalancerSettings>("LoadBalancerConfiguration");
  const parents: readonly ListenerParent[] = [{ kind: "Gateway", object: gateway! }];
  const listeners = judgeListeners(parents, flavours.alb);
  const attachment = attachRoutes(routes, parents, listeners, (namespace) => ({ "kubernetes.io/metadata.name": namespace }));
  const result = desireGateway(
    {
      gateway: gateway!,
      flavour: flavours.alb,
      config: mergeLoadBalancers(ofClass, config?.spec),
      listeners,
      attachment,
      addOns: new Set(),
    },
    gatewaySources(
      sources,
      arnsIn(desire.model),
      specs<TargetGroupConfiguration>("TargetGroupConfiguration"),
      specs<ListenerRuleSettings>("ListenerRuleConfiguration"),
    ),
  );
  const failures = [...result.failures].flatMap(([{ name }, some]) => some.map(({ message }) => `HTTPRoute ${name}: ${message}`));
  const refused = attachment.refs.flatMap(({ route, failure }) => (failure ? [`HTTPRoute ${route.name}: ${failure.message}`] : []));
  return {
    model: result.model as ApplicationLoadBalancer,
    bindings: result.bindings,
    problems: [...result.problems, ...refused, ...failures, ...result.warnings],
  };
}

interface Named<Spec> {
  readonly namespace?: string;
  readonly name: string;
  readonly spec: Spec;
}

/** As the server stores it. */
function stored<T extends KubeObject>(object: Manifest): Stored<T> {
  return { ...object, metadata: { uid: "", resourceVersion: "", ...object.metadata } } as unknown as Stored<T>;
}

/** What an Ingress is asked of, as a Gateway is asked of it: with nothing that stands. */
function gatewaySources(
  sources: GroupSources,
  arns: ReadonlyMap<string, string>,
  targets: readonly Named<TargetGroupConfiguration>[],
  rules: readonly Named<ListenerRuleSettings>[],
): GatewaySources {
  const split = (key: string) => key.split("/") as [string, string];
  return {
    settings: sources.settings,
    network: sources.network,
    groups: sources.groups,
    ...(sources.backendGroup !== undefined && { backendGroup: sources.backendGroup }),
    vpcCidrs: [],
    targetGroups: [],
    standingListeners: [],
    formerRules: [],
    takenNames: [],
    certificates: () => sources.certificates,
    trustStore: sources.trustStore,
    targetConfiguration(kind, key) {
      const [namespace, name] = split(key);
      const own = targets.filter((each) => each.namespace === namespace).map(({ spec }) => spec);
      return configurationOf({ kind, name }, own);
    },
    ruleConfiguration(key) {
      const [namespace, name] = split(key);
      const found = rules.find((each) => each.namespace === namespace && each.name === name);
      return found && { namespace, name, uid: "", settings: found.spec, accepted: true };
    },
    secret: (name, { namespace }) => sources.secret(name, { ...nobody, namespace }),
    isForeignTag: sources.isForeignTag,
    refusal: () => undefined,
    service: (key) => wholeService(sources.service(...split(key))),
    gatewayConditions: () => undefined,
    grants: [],
    targetGroupArn: (name) => arns.get(name),
  };
}

const nobody = { name: "", uid: "", annotations: {}, finalizers: [], isDeleted: false, rules: [], tlsHosts: [] };

/** What nobody behind an application load balancer asks of a Service is as it usually is. */
function wholeService(view: ServiceView | undefined): WholeService | undefined {
  if (view === undefined) return undefined;
  return {
    finalizers: [],
    isDeleted: false,
    selector: {},
    sourceRanges: [],
    sessionAffinity: "None",
    loadBalancerIP: "",
    local: false,
    healthCheckNodePort: 0,
    allocatesNodePorts: true,
    ...view,
    ports: view.ports.map((port) => ({ protocol: "TCP", ...port })),
  };
}

/** Target groups that others made, by their names. */
function arnsIn({ listeners }: ApplicationLoadBalancer): ReadonlyMap<string, string> {
  const actions = listeners.flatMap(({ rules, defaultActions }) => [...defaultActions, ...rules.flatMap((rule) => rule.actions)]);
  const arns = actions.flatMap((action) => (action.kind === "forward" ? action.to.flatMap(({ arn }) => arn ?? []) : []));
  return new Map(arns.map((arn) => [/:targetgroup\/([^/]+)\//.exec(arn)?.[1] ?? "", arn]));
}
