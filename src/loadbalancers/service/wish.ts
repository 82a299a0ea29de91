/** Everything that decides what a Service's load balancer looks like, gathered: what both kinds desire from. */
import type { Problem, Rule, Tags } from "../model.ts";
import type { ServiceOptions } from "./options.ts";
import type { LoadBalancerSettings, ServicePort, ServiceView } from "./view.ts";

export interface Wish {
  readonly name: string;
  readonly service: ServiceView;
  readonly options: ServiceOptions;
  readonly settings: LoadBalancerSettings;
  /** The ports that have a node port. */
  readonly ports: readonly ServicePort[];
  readonly subnets: readonly string[];
  /** The Service has both address families, and so have all these subnets. */
  readonly dualStack: boolean;
  readonly instances: readonly string[];
  readonly sourceRanges: readonly string[];
  /** Tags of the load balancer and its parts, and of its security group. */
  readonly tags: Tags;
  readonly groupTags: Tags;
  /** Those of them that say whose it is. */
  readonly ownership: Tags;
}

/** A model, and what its author has to mend before it can be had. */
export interface Desired<T> {
  readonly model: T;
  readonly problems: readonly Problem[];
}

/** Every port for every source range, and the ICMP message without which large packets vanish. */
export function clientRules(ports: readonly Pick<ServicePort, "protocol" | "port">[], sourceRanges: readonly string[]): Rule[] {
  return sourceRanges.flatMap((cidr) => [
    ...ports.map(({ protocol, port }) => ({ protocol: protocol === "UDP" ? "udp" : "tcp", fromPort: port, toPort: port, cidr }) as const),
    cidr.includes(":")
      ? ({ protocol: "icmpv6", fromPort: 2, toPort: 0, cidr } as const)
      : ({ protocol: "icmp", fromPort: 3, toPort: 4, cidr } as const),
  ]);
}
