/**
 * The annotations of one Service, as they are read. Only what is used has to be right: what nobody looks at has no effect, and
 * its author is told so.
 */
import { Fault, type Given, unknownKeys, type ValuesOf } from "../annotation-rows.ts";
import type { Problem } from "../model.ts";
import { annotationPrefix, type Family, familyTable, type RowName, rowTable } from "./annotations.ts";

/** What keeps a Service from having the load balancer that it asks for, in words for its author. */
export class ServiceFault extends Error {
  override readonly name = "ServiceFault";
}

type Row<Table, Name extends keyof Table> = Exclude<ValuesOf<Table>[Name], undefined>;

export class AnnotationReader {
  readonly #annotations: Readonly<Record<string, string>>;
  /** Names that had an effect, or could have had one. */
  readonly #used = new Set<string>();

  constructor(annotations: Readonly<Record<string, string>>) {
    this.#annotations = annotations;
  }

  /** Whether it is there, whatever it says. */
  has(name: RowName): boolean {
    return this.#annotations[annotationPrefix + name] !== undefined;
  }

  /** As it is written; no reason to call it used. */
  raw(name: RowName): string | undefined {
    return this.#annotations[annotationPrefix + name];
  }

  /** The value of an annotation; undefined where there is none. Throws a `ServiceFault` for one that cannot be read. */
  get<Name extends RowName>(name: Name): Row<typeof rowTable, Name> | undefined {
    return this.#read(name, rowTable[name]) as Row<typeof rowTable, Name> | undefined;
  }

  /** The same of one whose name ends in a port. */
  family<Name extends Family>(family: Name, port: string | number): Row<typeof familyTable, Name> | undefined {
    return this.#read(`${family}${port}`, familyTable[family]) as Row<typeof familyTable, Name> | undefined;
  }

  /** Annotations that look like ours and are none. */
  unknown(): readonly Problem[] {
    const known: readonly string[] = Object.keys(rowTable);
    const families = Object.keys(familyTable);
    const isElsewhere = (name: string) => !isOurs(name) || families.some((family) => name.startsWith(family));
    return unknownKeys(this.#annotations, annotationPrefix, known, isElsewhere);
  }

  /** Those that nobody has looked at: to be asked when everything has been read. */
  unused(): readonly Problem[] {
    const families = Object.keys(familyTable);
    return Object.keys(this.#annotations).flatMap((key): Problem[] => {
      const name = key.startsWith(annotationPrefix) ? key.slice(annotationPrefix.length) : "";
      const isKnown = Object.hasOwn(rowTable, name) || families.some((family) => name.startsWith(family) && name !== family);
      if (!isKnown || this.#used.has(name)) return [];
      return [{ annotation: key, message: `annotation ${key} has no effect: ${whyUnused(name, families)}` }];
    });
  }

  #read(name: string, { parse, takes }: { parse(text: string, about: Given): unknown; readonly takes: string }): unknown {
    this.#used.add(name);
    const key = annotationPrefix + name;
    const text = this.#annotations[key];
    if (text === undefined) return undefined;
    const value = parse(text, { key, takes });
    if (!(value instanceof Fault)) return value;
    const { messages } = value;
    const where = messages.every((message) => message.includes(key)) ? `it takes ${takes}` : `annotation ${key} takes ${takes}`;
    throw new ServiceFault(`${messages.join("; ")} (${where})`);
  }
}

/** Clouds other than AWS have annotations of this prefix too. */
const isOurs = (name: string) =>
  name.startsWith("aws-load-balancer-") || name.startsWith("actions.") || name === "load-balancer-source-ranges";

/** Why annotations are left aside, by how their names begin. */
const reasons: readonly (readonly [string, string])[] = [
  ["aws-load-balancer-internal", "aws-load-balancer-scheme takes precedence"],
  ["aws-load-balancer-alpn-policy", "no listener speaks TLS"],
  ["aws-load-balancer-ssl-", "no port has TLS"],
  ["aws-load-balancer-backend-protocol", "no port has TLS"],
  ["aws-load-balancer-healthcheck-", "the health check does not use it"],
  ["aws-load-balancer-access-log-", "access logs are not turned on by aws-load-balancer-access-log-enabled"],
  ["aws-load-balancer-target-node-labels", "pods are registered, not nodes"],
  ["load-balancer-source-ranges", "spec.loadBalancerSourceRanges or given security groups go before it"],
  ["aws-load-balancer-security-group-prefix-lists", "no security group is made"],
  ["aws-load-balancer-enable-icmp-", "no security group is made"],
  ["aws-load-balancer-manage-backend-", "the security group is made by the controller, which then keeps its rules too"],
  ["aws-load-balancer-inbound-sg-rules-", "the load balancer has no security groups"],
  ["aws-load-balancer-source-nat-", "source NAT is off"],
  ["aws-load-balancer-minimum-", "the gate LBCapacityReservation is off"],
];

function whyUnused(name: string, families: readonly string[]): string {
  if (families.some((family) => name.startsWith(family))) return "the load balancer has no such listener or port";
  return reasons.find(([begin]) => name.startsWith(begin))?.[1] ?? "something else takes precedence";
}
