/** Attributes: what AWS knows of a thing, with defaults and the values they take; and those of network load balancers. */
import { invalidConfiguration } from "../balancing/network.ts";
import type { Attributes, LoadBalancer } from "./state.ts";

interface Attribute<Owner> {
  readonly key: string;
  readonly fallback: string | ((owner: Owner) => string);
  readonly takes: (value: string, owner: Owner) => boolean;
}

/** The attributes of one kind of thing, in the order they are listed. */
export type AttributeTable<Owner = LoadBalancer> = readonly Attribute<Owner>[];

/** A change as requests carry it. */
export interface AttributeInput {
  readonly Key?: string | undefined;
  readonly Value?: string | undefined;
}

/** All attributes of a thing, changed or not. */
export function allAttributes<Owner extends { readonly attributes: Attributes }>(table: AttributeTable<Owner>, owner: Owner): Attributes {
  return Object.fromEntries(table.map((attribute) => [attribute.key, owner.attributes[attribute.key] ?? fallback(attribute, owner)]));
}

/** As answers carry them. */
export function attributeList(attributes: Attributes): { Key: string; Value: string }[] {
  return Object.entries(attributes).map(([Key, Value]) => ({ Key, Value }));
}

/** The changed attributes, with more changes. */
export function withAttributes<Owner extends { readonly attributes: Attributes }>(
  table: AttributeTable<Owner>,
  owner: Owner,
  changes: readonly AttributeInput[],
): Attributes {
  const changed: Record<string, string> = { ...owner.attributes };
  for (const { Key: key = "", Value: value = "" } of changes) {
    const attribute = table.find((other) => other.key === key);
    if (attribute === undefined) throw invalidConfiguration(`Attribute key '${key}' is not recognized`);
    if (!attribute.takes(value, { ...owner, attributes: changed }))
      throw invalidConfiguration(`The value '${value}' of attribute '${key}' is not valid`);
    changed[key] = value;
  }
  return changed;
}

function fallback<Owner>(attribute: Attribute<Owner>, owner: Owner): string {
  return typeof attribute.fallback === "string" ? attribute.fallback : attribute.fallback(owner);
}

export const flag = (value: string): boolean => value === "true" || value === "false";
export const anything = (): boolean => true;
export const oneOf =
  (...values: string[]) =>
  (value: string): boolean =>
    values.includes(value);
export const between =
  (from: number, to: number) =>
  (value: string): boolean =>
    /^\d+$/.test(value) && Number(value) >= from && Number(value) <= to;
export const offOr =
  (from: number, to: number) =>
  (value: string): boolean =>
    value === "off" || between(from, to)(value);

const SECONDARY_IPS = "secondary_ips.auto_assigned.per_subnet";

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_LoadBalancerAttribute.html */
export const NETWORK_ATTRIBUTES: AttributeTable = [
  { key: "deletion_protection.enabled", fallback: "false", takes: flag },
  { key: "load_balancing.cross_zone.enabled", fallback: "false", takes: flag },
  { key: "access_logs.s3.enabled", fallback: "false", takes: flag },
  { key: "access_logs.s3.bucket", fallback: "", takes: anything },
  { key: "access_logs.s3.prefix", fallback: "", takes: anything },
  { key: "ipv6.deny_all_igw_traffic", fallback: ({ scheme }) => String(scheme === "internal"), takes: flag },
  { key: "zonal_shift.config.enabled", fallback: "false", takes: flag },
  {
    key: "dns_record.client_routing_policy",
    fallback: "any_availability_zone",
    takes: oneOf("any_availability_zone", "partial_availability_zone_affinity", "availability_zone_affinity"),
  },
  {
    key: SECONDARY_IPS,
    fallback: "0",
    takes: (value, owner) => between(Number(owner.attributes[SECONDARY_IPS] ?? 0), 7)(value),
  },
];
