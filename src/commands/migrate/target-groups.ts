/** The TargetGroupConfigurations of the Services behind the routes. Pure. */

import { sortedJson } from "../../loadbalancers/elbv2/actions.ts";
import type { RouteIdentifier, TargetGroupConfiguration, TargetGroupSettings } from "../../loadbalancers/gateway/config.ts";
import { annotationKey } from "../../loadbalancers/ingress/annotations.ts";
import type { MemberOptions } from "../../loadbalancers/ingress/member.ts";
import { given, type Lose, type Manifest, pairsOf, type TranslationInput, userTags } from "./translation.ts";

/** A route, and the target groups of the Ingress that it leads to. */
export interface RouteUse {
  readonly member: MemberOptions;
  readonly namespace: string;
  readonly name: string;
  readonly groups: readonly string[];
}

interface ServiceUse {
  readonly route: RouteUse;
  readonly settings: TargetGroupSettings;
}

export function targetGroupConfigurations(routes: readonly RouteUse[], input: TranslationInput, lose: Lose): readonly Manifest[] {
  const byService = new Map<string, { readonly namespace: string; readonly name: string; readonly uses: ServiceUse[] }>();
  for (const route of routes)
    for (const group of route.groups) {
      const use = useOf(route, group, input);
      if (use === undefined) continue;
      const key = `${use.namespace}/${use.name}`;
      const known = byService.get(key) ?? { namespace: use.namespace, name: use.name, uses: [] };
      known.uses.push({ route, settings: use.settings });
      byService.set(key, known);
    }
  return [...byService.values()].map(({ namespace, name, uses }) => {
    const existing = input.configurations.find(
      (each) =>
        each.namespace === namespace &&
        each.spec.targetReference?.name === name &&
        (each.spec.targetReference.kind ?? "Service") === "Service",
    );
    return {
      apiVersion: "gateway.k8s.aws/v1",
      kind: "TargetGroupConfiguration",
      metadata: { name: existing?.name ?? name, namespace },
      spec: specOf(name, uses, existing?.spec, lose),
    };
  });
}

/** One of all routes where they say the same and nobody else has said anything; else one per route. */
function specOf(
  service: string,
  uses: readonly ServiceUse[],
  existing: TargetGroupConfiguration | undefined,
  lose: Lose,
): TargetGroupConfiguration {
  const [first] = uses;
  const textOf = ({ settings }: ServiceUse) => sortedJson(settings);
  if (existing === undefined && uses.every((use) => textOf(use) === textOf(first!)))
    return { targetReference: { name: service }, defaultConfiguration: first!.settings };
  const byRoute = new Map<string, ServiceUse>();
  for (const use of uses) {
    const key = `${use.route.namespace}/${use.route.name}`;
    const known = byRoute.get(key) ?? use;
    byRoute.set(key, known);
    if (textOf(known) !== textOf(use)) lose(use.route.member.key, ofSeveralPorts(service, use.route));
  }
  const own = [...byRoute.values()].map(({ route: { namespace, name }, settings }) => ({
    routeIdentifier: { kind: "HTTPRoute", namespace, name },
    targetGroupProps: settings,
  }));
  const isOwn = ({ kind, namespace, name }: RouteIdentifier) =>
    own.some(({ routeIdentifier: each }) => each.kind === kind && each.namespace === namespace && each.name === name);
  const others = (existing?.routeConfigurations ?? []).filter(({ routeIdentifier }) => !isOwn(routeIdentifier));
  return { targetReference: { name: service }, ...existing, routeConfigurations: [...others, ...own] };
}

const ofSeveralPorts = (service: string, { name }: RouteUse) =>
  `target-control-port: ports of Service ${service} have different ones, and a TargetGroupConfiguration has one per route: split HTTPRoute ${name}, a route per port`;

function useOf({ member }: RouteUse, group: string, { desire, sources }: TranslationInput) {
  const found = desire.model.targetGroups.find(({ name }) => name === group);
  const binding = desire.bindings.find(({ targetGroup }) => targetGroup === group);
  if (found === undefined || binding === undefined) return undefined;
  const { targetType, protocol, protocolVersion, controlPort, attributes, healthCheck, tags } = found;
  const { nodeSelector, multiClusterTargetGroup, serviceRef } = binding.spec;
  const service = sources.service(binding.namespace, serviceRef.name);
  const port = annotationKey("healthcheck-port");
  const { protocol: how, path, interval, timeout, healthyThreshold, unhealthyThreshold, matcher } = healthCheck;
  const settings: TargetGroupSettings = given({
    targetType: targetType as "instance" | "ip",
    protocol: protocol as "HTTP" | "HTTPS",
    protocolVersion,
    healthCheckConfig: given({
      healthCheckProtocol: how,
      // As it is written: the name of a port follows the Service.
      healthCheckPort: service?.annotations[port] ?? member.member.ingress.annotations[port] ?? "traffic-port",
      healthCheckPath: path,
      healthCheckInterval: interval,
      healthCheckTimeout: timeout,
      healthyThresholdCount: healthyThreshold,
      unhealthyThresholdCount: unhealthyThreshold,
      matcher: matcher && { [matcher.kind === "grpc" ? "grpcCode" : "httpCode"]: matcher.codes },
    }),
    nodeSelector,
    targetGroupAttributes: pairsOf(attributes),
    targetControlPort: controlPort,
    enableMultiCluster: multiClusterTargetGroup || undefined,
    tags: userTags(tags, sources),
  });
  return { namespace: binding.namespace, name: serviceRef.name, settings };
}
