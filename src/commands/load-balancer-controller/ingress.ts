/** The Ingress controller of the process, from its options. */
import { ingressController } from "../../loadbalancers/ingress/controller.ts";
import type { IngressInformers } from "../../loadbalancers/ingress/seen.ts";
import type { IngressSettings } from "../../loadbalancers/ingress/settings.ts";
import type { BindingInformers } from "../../loadbalancers/targets/informers.ts";
import type { ProcessContext } from "../../process/program.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { Balancers } from "./balancers.ts";
import { gateOpen } from "./feature-gates.ts";
import type { Options } from "./flags.ts";
import { requiredLabel } from "./validate.ts";

export function ingressControllerOf(
  { host, kube, recorder, informers }: ProcessContext,
  options: Options,
  { bindings, services, ingresses, classes, params, namespaces }: BindingInformers & IngressInformers,
  { inventory, book, backendGroup }: Balancers,
): Controller {
  const requiredSecretsLabel = requiredLabel(options);
  return ingressController({
    host,
    kube,
    recorder,
    inventory,
    book,
    ingresses: informers.shared(ingresses),
    services: informers.shared(services),
    classes: informers.shared(classes),
    params: informers.shared(params),
    namespaces: informers.shared(namespaces),
    bindings: informers.shared(bindings),
    settings: ingressSettings(options, inventory.scope.vpc),
    ingressClass: options["ingress-class"],
    backendGroup,
    ...(requiredSecretsLabel && { requiredSecretsLabel }),
    concurrency: options["ingress-max-concurrent-reconciles"],
    syncPeriodMs: options["sync-period"],
  });
}

export function ingressSettings(options: Options, vpc: string): IngressSettings {
  const open = (gate: Parameters<typeof gateOpen>[1]) => gateOpen(options["feature-gates"], gate);
  return {
    cluster: options["cluster-name"],
    vpc,
    defaultTags: options["default-tags"],
    externalManagedTags: options["external-managed-tags"],
    defaultTargetType: options["default-target-type"] === "ip" ? "ip" : "instance",
    defaultScheme: options["default-load-balancer-scheme"] === "internet-facing" ? "internet-facing" : "internal",
    defaultSslPolicy: options["default-ssl-policy"],
    sharesBackendGroup: options["enable-backend-security-group"],
    managesBackendRules: options["enable-manage-backend-security-group-rules"],
    restrictsRules: !options["disable-restricted-sg-rules"],
    toleratesMissingService: options["tolerate-non-existent-backend-service"],
    toleratesMissingAction: options["tolerate-non-existent-backend-action"],
    allowedAuthorities: options["allowed-certificate-authority-arns"],
    guards: [
      ...(options["enable-wafv2"] ? (["webAcl"] as const) : []),
      ...(options["enable-waf"] ? (["classicWebAcl"] as const) : []),
      ...(options["enable-shield"] ? (["shield"] as const) : []),
    ],
    gates: {
      listenerRulesTagging: open("ListenerRulesTagging"),
      weightedTargetGroups: open("WeightedTargetGroups"),
      ipTargetType: open("EnableIPTargetType"),
      subnetsClusterTagCheck: open("SubnetsClusterTagCheck"),
      subnetDiscoveryByReachability: open("SubnetDiscoveryByReachability"),
      singleSubnet: open("ALBSingleSubnet"),
      capacityReservation: open("LBCapacityReservation"),
      enhancedDefaults: open("EnhancedDefaultBehavior"),
      defaultTagsLowPriority: open("EnableDefaultTagsLowPriority"),
      healthCheckAdvanced: open("NLBHealthCheckAdvancedConfig"),
    },
  };
}
