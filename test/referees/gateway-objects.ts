/** The objects of the tables of Gateways. */
import type { KubeObject, Resource } from "../../src/kube/resource.ts";
import {
  gatewayClasses,
  gateways,
  listenerRuleConfigurations,
  listenerSets,
  loadBalancerConfigurations,
  referenceGrants,
  routes,
  targetGroupConfigurations,
} from "../../src/loadbalancers/gateway/api.ts";
import type { ListenerRuleSettings, LoadBalancerSettings, TargetGroupConfiguration } from "../../src/loadbalancers/gateway/config.ts";
import { flavours } from "../../src/loadbalancers/gateway/flavours.ts";
import { listenerOf } from "../bed/gateway-world.ts";
import { classOf, type GatewayGiven, type GatewayWish } from "./gateway-table.ts";
import { applicationWishes } from "./gateway-table-application.ts";
import { ruleConfigurations, targetConfigurations } from "./gateway-table-configurations.ts";
import { networkWishes } from "./gateway-table-network.ts";

/** Objects in the order in which they are made. */
type Made = readonly [Resource<KubeObject>, KubeObject & { readonly spec?: object }];

export function judgedGateways(given: GatewayGiven): Readonly<Record<string, GatewayWish>> {
  return { ...applicationWishes(given), ...networkWishes(given) };
}

/** What Gateways and routes refer to. */
export function configurationsOf(given: GatewayGiven): readonly Made[] {
  const { namespace, far } = given;
  const settings = Object.entries(judgedGateways(given)).flatMap(([name, wish]): Made[] =>
    wish.settings ? [[loadBalancerConfigurations, { metadata: { namespace, name }, spec: wish.settings } as KubeObject]] : [],
  );
  const ofTargets = Object.entries<TargetGroupConfiguration>(targetConfigurations(given)).map(
    ([name, spec]): Made => [targetGroupConfigurations, { metadata: { namespace, name }, spec } as KubeObject],
  );
  const ofRules = Object.entries<ListenerRuleSettings>(ruleConfigurations).map(
    ([name, spec]): Made => [listenerRuleConfigurations, { metadata: { namespace, name }, spec } as KubeObject],
  );
  const ofClass: LoadBalancerSettings = {
    mergingMode: "prefer-gateway",
    scheme: "internet-facing",
    tags: { class: "tagged", team: "class" },
    loadBalancerAttributes: [{ key: "idle_timeout.timeout_seconds", value: "90" }],
    listenerConfigurations: [{ protocolPort: "HTTPS:443", defaultCertificate: given.certificates[0] }],
    defaultTargetGroupConfiguration: { name: "default" },
  };
  const parametersRef = { group: "gateway.k8s.aws", kind: "LoadBalancerConfiguration", namespace, name: "of-the-class" };
  const from = ["HTTPRoute", "TCPRoute"].map((kind) => ({ group: "gateway.networking.k8s.io", kind, namespace }));
  const ofPods: TargetGroupConfiguration = { targetReference: { name: "web" }, defaultConfiguration: { targetType: "ip" } };
  return [
    ...settings,
    [targetGroupConfigurations, { metadata: { namespace: far, name: "web" }, spec: ofPods } as KubeObject],
    ...ofTargets,
    ...ofRules,
    [loadBalancerConfigurations, { metadata: { namespace, name: "of-the-class" }, spec: ofClass } as KubeObject],
    [
      gatewayClasses,
      { metadata: { name: classOf(namespace) }, spec: { controllerName: flavours.alb.controllerName, parametersRef } } as KubeObject,
    ],
    [referenceGrants, { metadata: { namespace: far, name: "let-in" }, spec: { from, to: [{ group: "", kind: "Service" }] } } as KubeObject],
  ];
}

/** The Gateways of these names with their ListenerSets and routes. */
export function gatewaysOf(given: GatewayGiven, names: readonly string[]): readonly Made[] {
  const { namespace } = given;
  return names.flatMap((name): Made[] => {
    const { className = "alb", listeners, settings, routes: ofIt = {}, sets = {}, spec = {} } = judgedGateways(given)[name]!;
    const parametersRef = { group: "gateway.k8s.aws", kind: "LoadBalancerConfiguration", name };
    const infrastructure = { ...spec.infrastructure, ...(settings && { parametersRef }) };
    const whole = { gatewayClassName: className, listeners: listeners.map(listenerOf), ...spec };
    return [
      [
        gateways,
        {
          metadata: { namespace, name },
          spec: { ...whole, ...(Object.keys(infrastructure).length > 0 && { infrastructure }) },
        } as KubeObject,
      ],
      ...Object.entries(sets).map(([set, theirs]): Made => {
        const parentRef = { group: "gateway.networking.k8s.io", kind: "Gateway", name };
        return [listenerSets, { metadata: { namespace, name: set }, spec: { parentRef, listeners: theirs.map(listenerOf) } } as KubeObject];
      }),
      ...Object.entries(ofIt).map(([route, { kind = "HTTPRoute", namespace: home = namespace, parentRefs, ...rest }]): Made => {
        const own = { parentRefs: parentRefs ?? [{ name, ...(home !== namespace && { namespace }) }], ...rest };
        return [routes[kind], { metadata: { namespace: home, name: route }, spec: own } as KubeObject];
      }),
    ];
  });
}
