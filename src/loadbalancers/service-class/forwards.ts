/** Where the listeners of a load balancer forward to: the Service's own endpoints, and others with their weights. Pure. */
import type { NetworkListener } from "../model.ts";
import type { Forward, ForwardTarget } from "../routing.ts";
import type { Share } from "./action-json.ts";
import type { Draft } from "./draft.ts";
import { type ListenerPort, listenerOf, type Protocol } from "./listeners.ts";
import { ServiceFault } from "./reader.ts";
import { type BoundGroup, boundGroup, type GroupWish } from "./target-groups.ts";
import { keyOf, type ServicePortView, type ServiceView } from "./view.ts";

export interface Forwards {
  readonly listeners: readonly NetworkListener[];
  readonly groups: readonly BoundGroup[];
}

/** Every target group is made once: a second listener that leads to the same port shares it. */
export function forwardsOf(draft: Draft, ports: readonly ListenerPort[], wish: GroupWish): Forwards {
  const groups = new Map<string, BoundGroup>();
  const groupFor = (backing: ServiceView, port: ServicePortView, protocol: Protocol): string => {
    const made = boundGroup(draft, backing, port, protocol, wish);
    const known = groups.get(made.group.part ?? "") ?? made;
    groups.set(made.group.part ?? "", known);
    return known.group.name;
  };
  const listeners = ports.map((port) => ({ ...listenerOf(draft, port), forward: forwardOf(draft, port, groupFor) }));
  return { listeners, groups: [...groups.values()] };
}

type GroupFor = (backing: ServiceView, port: ServicePortView, protocol: Protocol) => string;

function forwardOf(draft: Draft, listener: ListenerPort, groupFor: GroupFor): Forward {
  const { of, read, settings } = draft;
  const own = groupFor(of, listener.servicePort, listener.targetProtocol);
  const action = read.family("actions.", `${listener.protocol}-${listener.port}`);
  if (action === undefined) return { kind: "forward", to: [{ group: own }] };
  const { baseWeight, shares, stickiness } = action;
  if (shares.length > 0 && !settings.gates.weightedTargetGroups) throw new ServiceFault("weighted target groups feature is disabled");
  const to: ForwardTarget[] = [
    { group: own, ...(baseWeight !== undefined && { weight: baseWeight }) },
    ...shares.map((share) => targetOf(draft, share, listener, groupFor)),
  ];
  return { kind: "forward", to, ...(stickiness && { stickiness }) };
}

function targetOf({ of, service }: Draft, share: Share, listener: ListenerPort, groupFor: GroupFor): ForwardTarget {
  const weighed = share.weight === undefined ? {} : { weight: share.weight };
  if ("targetGroupArn" in share) return { ...weighed, arn: share.targetGroupArn };
  const backing = service(of.namespace, share.service);
  if (backing === undefined) throw new ServiceFault(`unable to find service ${of.namespace}/${share.service}`);
  const port = backing.ports.find((each) => (typeof share.port === "number" ? each.port === share.port : each.name === share.port));
  if (port === undefined) throw new ServiceFault(`unable to find port ${share.port} on service ${keyOf(backing)}`);
  const protocol = listener.protocol === "TLS" && share.decrypts ? "TCP" : listener.protocol;
  return { ...weighed, group: groupFor(backing, port, protocol) };
}

/** Names of the Services that annotations speak of, whether they can be read or not. */
export function mentionsService({ annotations }: Pick<ServiceView, "annotations">, name: string): boolean {
  return Object.entries(annotations).some(([key, text]) => key.includes("/actions.") && text.includes(`"${name}"`));
}
