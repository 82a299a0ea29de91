/** The listeners of a network load balancer: the steps from those that are seen to those that are wanted. Pure. */
import { createListener, deleteListener, modifyListener } from "../../aws/elbv2-actions.ts";
import { type Made, type Step, step } from "../../aws/plan.ts";
import { tagList } from "../groups/managed.ts";
import type { NetworkListener, NetworkLoadBalancer } from "../model.ts";

export interface SeenListener {
  readonly arn: string;
  readonly port: number;
  readonly protocol: string;
  readonly certificate?: string;
  readonly sslPolicy?: string;
  /** ARN of the target group it forwards to. */
  readonly forwardsTo?: string;
}

/**
 * One listener a port. A listener that differs is changed in place, also in its protocol: a second one on the same port
 * is refused by AWS, and deleting the first would cut its clients off. Only TCP and TLS can be turned into each other.
 */
export function planListeners(
  model: NetworkLoadBalancer,
  lb: string | Made,
  arnOf: (name: string) => string | Made,
  seen: readonly SeenListener[],
): Step[] {
  const before: Step[] = [];
  const steps: Step[] = [];
  for (const listener of model.listeners) {
    const present = seen.find(({ port }) => port === listener.port);
    const target = arnOf(listener.forwardTo);
    const replace = present && present.protocol !== listener.protocol && !(convertible(present.protocol) && convertible(listener.protocol));
    if (replace) before.push(listenerDeletion(model.name, present, "its protocol cannot be changed in place"));
    if (!present || replace) steps.push(listenerCreation(model, lb, listener, target));
    else if (listenerDiffers(listener, target, present)) steps.push(listenerChange(model.name, listener, target, present));
  }
  const unwanted = seen.filter(({ port }) => !model.listeners.some((listener) => listener.port === port));
  return [
    ...before,
    ...steps,
    ...unwanted.map((listener) => listenerDeletion(model.name, listener, `the ${model.askedBy} has no such port any more`)),
  ];
}

const convertible = (protocol: string) => protocol === "TCP" || protocol === "TLS";

function listenerDiffers(listener: NetworkListener, target: string | Made, present: SeenListener): boolean {
  if (present.protocol !== listener.protocol || present.forwardsTo !== target) return true;
  if (listener.protocol !== "TLS") return false;
  return present.certificate !== listener.certificate || (listener.sslPolicy !== undefined && present.sslPolicy !== listener.sslPolicy);
}

function listenerSettings(listener: NetworkListener, target: string | Made) {
  return {
    Port: listener.port,
    Protocol: listener.protocol,
    ...(listener.protocol === "TLS" && { Certificates: [{ CertificateArn: listener.certificate }], SslPolicy: listener.sslPolicy }),
    DefaultActions: [{ Type: "forward", TargetGroupArn: target }],
  } as const;
}

function listenerCreation(model: NetworkLoadBalancer, lb: string | Made, listener: NetworkListener, target: string | Made): Step {
  return step(
    createListener,
    { LoadBalancerArn: lb, ...listenerSettings(listener, target), Tags: tagList(model.tags) },
    {
      what: `create listener ${listener.protocol}:${listener.port} on load balancer ${model.name} to ${listener.forwardTo}`,
      why: `the ${model.askedBy} has port ${listener.port}`,
    },
  );
}

function listenerChange(name: string, listener: NetworkListener, target: string | Made, present: SeenListener): Step {
  return step(
    modifyListener,
    { ListenerArn: present.arn, ...listenerSettings(listener, target) },
    {
      what: `change listener ${present.protocol}:${present.port} on load balancer ${name} to ${listener.protocol}, ${listener.forwardTo}`,
      why: "it differs from what is wanted",
    },
  );
}

function listenerDeletion(name: string, { arn, protocol, port }: SeenListener, why: string): Step {
  return step(
    deleteListener,
    { ListenerArn: arn },
    { what: `delete listener ${protocol}:${port} of load balancer ${name}`, why, settledBy: ["ListenerNotFound"] },
  );
}
