/** The controllers of Gateways, of their classes and of their configurations, from the options of the process. */
import { Discovery } from "../../loadbalancers/gateway/activation.ts";
import { configurationController } from "../../loadbalancers/gateway/configuration-controller.ts";
import type { GatewayParts } from "../../loadbalancers/gateway/context.ts";
import { gatewayController } from "../../loadbalancers/gateway/controller.ts";
import { flavours } from "../../loadbalancers/gateway/flavours.ts";
import type { GatewayKeys } from "../../loadbalancers/gateway/seen.ts";
import type { IngressInformers } from "../../loadbalancers/ingress/seen.ts";
import type { BindingInformers } from "../../loadbalancers/targets/informers.ts";
import type { ProcessContext } from "../../process/program.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { Balancers } from "./balancers.ts";
import { gateOpen } from "./feature-gates.ts";
import type { Options } from "./flags.ts";
import { gatewaySettings } from "./settings.ts";

type Informers = BindingInformers & IngressInformers & { readonly gateways: GatewayKeys };
type Name = keyof typeof flavours;

export function gatewayControllerOf(
  context: ProcessContext,
  options: Options,
  informers: Informers,
  name: Name,
  { inventory, book, backendGroup, newGroups }: Balancers,
): Controller {
  return gatewayController({
    ...partsOf(context, options, informers),
    flavour: flavours[name],
    inventory,
    book,
    backendGroup,
    newGroups,
    bindings: context.informers.shared(informers.bindings),
    settings: gatewaySettings(options, inventory.scope.vpc),
    concurrency: options[`${name}-gateway-max-concurrent-reconciles`],
    syncPeriodMs: options["sync-period"],
  });
}

export function configurationControllerOf(
  context: ProcessContext,
  options: Options,
  informers: Informers,
  names: readonly Name[],
): Controller {
  return configurationController({
    ...partsOf(context, options, informers),
    flavours: names.map((name) => flavours[name]),
    concurrency: options["gateway-class-max-concurrent-reconciles"],
  });
}

function partsOf(
  { host, kube, recorder, informers: shared }: ProcessContext,
  options: Options,
  { services, namespaces, gateways }: Informers,
): Omit<GatewayParts, "concurrency"> {
  return {
    host,
    kube,
    recorder,
    keys: gateways,
    shared: (key) => shared.shared(key),
    discovery: new Discovery(kube, host),
    services: shared.shared(services),
    namespaces: shared.shared(namespaces),
    takesSets: gateOpen(options["feature-gates"], "GatewayListenerSet"),
  };
}
