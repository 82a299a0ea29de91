/** The controller of Services with a load balancer class, from the options of the process. */
import { classController } from "../../loadbalancers/service-class/controller.ts";
import { classInformer } from "../../loadbalancers/service-class/seen.ts";
import type { ClassSettings } from "../../loadbalancers/service-class/settings.ts";
import type { BindingInformers } from "../../loadbalancers/targets/informers.ts";
import type { ProcessContext } from "../../process/program.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { Balancers } from "./balancers.ts";
import { gateOpen } from "./feature-gates.ts";
import type { Options } from "./flags.ts";

export function serviceControllerOf(
  { host, kube, recorder, informers }: ProcessContext,
  options: Options,
  { bindings }: BindingInformers,
  { inventory, book, backendGroup }: Balancers,
): Controller {
  return classController({
    host,
    kube,
    recorder,
    inventory,
    book,
    backendGroup,
    services: informers.shared(classInformer(options["watch-namespace"])),
    bindings: informers.shared(bindings),
    settings: classSettings(options, inventory.scope.vpc),
    concurrency: options["service-max-concurrent-reconciles"],
    syncPeriodMs: options["sync-period"],
  });
}

/** What flags and gates say about them. */
export function classSettings(options: Options, vpc: string): ClassSettings {
  const open = (gate: Parameters<typeof gateOpen>[1]) => gateOpen(options["feature-gates"], gate);
  return {
    cluster: options["cluster-name"],
    vpc,
    loadBalancerClass: options["load-balancer-class"],
    defaultTags: options["default-tags"],
    externalManagedTags: options["external-managed-tags"],
    defaultTargetType: options["default-target-type"] === "ip" ? "ip" : "instance",
    defaultScheme: options["default-load-balancer-scheme"] === "internet-facing" ? "internet-facing" : "internal",
    defaultSslPolicy: options["default-ssl-policy"],
    sharesBackendGroup: options["enable-backend-security-group"],
    managesBackendRules: options["enable-manage-backend-security-group-rules"],
    restrictsRules: !options["disable-restricted-sg-rules"],
    stabilizationMs: options["lb-stabilization-monitor-interval"],
    gates: {
      loadBalancersOnly: open("ServiceTypeLoadBalancerOnly"),
      securityGroups: open("NLBSecurityGroup"),
      healthCheckAdvancedConfig: open("NLBHealthCheckAdvancedConfig"),
      ipTargetType: open("EnableIPTargetType"),
      weightedTargetGroups: open("WeightedTargetGroups"),
      listenerRulesTagging: open("ListenerRulesTagging"),
      capacityReservation: open("LBCapacityReservation"),
      tcpUdpListener: open("EnableTCPUDPListener"),
      subnetsClusterTagCheck: open("SubnetsClusterTagCheck"),
      subnetDiscoveryByReachability: open("SubnetDiscoveryByReachability"),
      enhancedDefaults: open("EnhancedDefaultBehavior"),
      defaultTagsLowPriority: open("EnableDefaultTagsLowPriority"),
    },
  };
}
