/** How the kinds of load balancer differ for a Service: in what is read of it, and in the words its users know. A row per kind. */
import { classic } from "../classic/kind.ts";
import type { LoadBalancerKind } from "../kind.ts";
import { network } from "../network/kind.ts";
import type { AnnotationName } from "./annotations.ts";

export type Kind = "classic" | "network";

export interface KindRow {
  readonly kind: LoadBalancerKind;
  /** As messages of old call it. */
  readonly title: string;
  /** What its listeners carry. */
  readonly protocols: readonly string[];
  /** Whether it carries several of them at once. */
  readonly mixesProtocols: boolean;
  /** Whether it has addresses of both families where the Service and its subnets have. */
  readonly dualStack: boolean;
  /** As names of ports are compared with those that the certificate is for. */
  portName(name: string): string;
  /** Annotations of which an empty value is a value; of all others it counts as unset. */
  readonly keepsEmpty: readonly AnnotationName[];
  /** What is said of a number that is none. */
  readonly badNumber: string;
  /** Annotations that must not be there at all, and what is said then; behind it the whole key where the text wants it. */
  readonly refuses: Readonly<Partial<Record<AnnotationName, (key: string) => string>>>;
}

export const kindTable: Readonly<Record<Kind, KindRow>> = {
  classic: {
    kind: classic,
    title: "Classic Load Balancer",
    protocols: ["TCP"],
    mixesProtocols: false,
    dualStack: false,
    portName: (name) => name.toLowerCase(),
    keepsEmpty: ["ssl-negotiation-policy"],
    badNumber: "failed parsing health check annotation value",
    refuses: { "target-group-attributes": () => "target group attributes annotation is only supported for NLB" },
  },
  network: {
    kind: network,
    title: "NLB",
    protocols: ["TCP", "UDP"],
    mixesProtocols: true,
    dualStack: true,
    portName: (name) => name,
    keepsEmpty: ["healthcheck-path"],
    badNumber: "failed to parse annotation",
    refuses: { "extra-security-groups": (key) => `BYO extra security group annotation "${key}" is not supported by NLB` },
  },
};

/** The kinds that a Service may have, in the order they are looked for. */
export const serviceKinds: readonly LoadBalancerKind[] = Object.values(kindTable).map(({ kind }) => kind);

/** The row's name of a kind that a Service may have. */
export function isServiceKind(name: string): name is Kind {
  return Object.hasOwn(kindTable, name);
}
