/** The controller of Services with a load balancer class, from the options of the process. */
import { classController } from "../../loadbalancers/service-class/controller.ts";
import type { BindingInformers } from "../../loadbalancers/targets/informers.ts";
import type { ProcessContext } from "../../process/program.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { Balancers } from "./balancers.ts";
import type { Options } from "./flags.ts";
import { classSettings } from "./settings.ts";

export function serviceControllerOf(
  { host, kube, recorder, informers }: ProcessContext,
  options: Options,
  { bindings, services }: BindingInformers,
  { inventory, book, backendGroup, newGroups }: Balancers,
): Controller {
  return classController({
    host,
    kube,
    recorder,
    inventory,
    book,
    backendGroup,
    newGroups,
    services: informers.shared(services),
    bindings: informers.shared(bindings),
    settings: classSettings(options, inventory.scope.vpc),
    concurrency: options["service-max-concurrent-reconciles"],
    syncPeriodMs: options["sync-period"],
  });
}
