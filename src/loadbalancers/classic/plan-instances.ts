/** The instances behind a classic load balancer: the steps from those that are registered to those that are wanted. Pure. */
import { deregisterInstances, registerInstances } from "../../aws/elb-actions.ts";
import { type Step, step } from "../../aws/plan.ts";
import type { ClassicLoadBalancer } from "../model.ts";

/** Registers those that are missing, then takes out those that are not wanted: traffic always has somewhere to go. */
export function planInstances(model: Pick<ClassicLoadBalancer, "name" | "askedBy" | "instances">, present: readonly string[]): Step[] {
  const { name, askedBy, instances } = model;
  const added = instances.filter((id) => !present.includes(id)).toSorted();
  const gone = present.filter((id) => !instances.includes(id)).toSorted();
  return [
    ...(added.length > 0 ? [registration(name, added, askedBy)] : []),
    ...(gone.length > 0 ? [deregistration(name, gone, askedBy)] : []),
  ];
}

/** By these AWS says that one of the instances is none that it can take, or none that it knows. */
const refusedBy = ["InvalidInstance", "InvalidEndPoint"];

const instancesInput = (name: string, ids: readonly string[]) => ({
  LoadBalancerName: name,
  Instances: ids.map((id) => ({ InstanceId: id })),
});

function registration(name: string, ids: readonly string[], askedBy: string): Step {
  return step(registerInstances, instancesInput(name, ids), {
    what: `register ${ids.join(", ")} with load balancer ${name}`,
    why: `eligible nodes of this ${askedBy}`,
    batch: { ids, refusedBy, only: (some) => registration(name, some, askedBy) },
    part: "targets",
  });
}

function deregistration(name: string, ids: readonly string[], askedBy: string): Step {
  return step(deregisterInstances, instancesInput(name, ids), {
    what: `deregister ${ids.join(", ")} from load balancer ${name}`,
    why: `no longer eligible nodes of this ${askedBy}`,
    batch: { ids, refusedBy, only: (some) => deregistration(name, some, askedBy) },
    part: "targets",
  });
}
