/** The Ingress controller of the process, from its options. */
import { ingressController } from "../../loadbalancers/ingress/controller.ts";
import type { IngressInformers } from "../../loadbalancers/ingress/seen.ts";
import type { BindingInformers } from "../../loadbalancers/targets/informers.ts";
import type { ProcessContext } from "../../process/program.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { Balancers } from "./balancers.ts";
import type { Options } from "./flags.ts";
import { ingressSettings } from "./settings.ts";
import { requiredLabel } from "./validate.ts";

export function ingressControllerOf(
  { host, kube, recorder, informers }: ProcessContext,
  options: Options,
  { bindings, services, ingresses, classes, params, namespaces }: BindingInformers & IngressInformers,
  { inventory, book, backendGroup, newGroups }: Balancers,
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
    newGroups,
    ...(requiredSecretsLabel && { requiredSecretsLabel }),
    concurrency: options["ingress-max-concurrent-reconciles"],
    syncPeriodMs: options["sync-period"],
  });
}
