/** What one Ingress of a group says, read before anything is put together. */
import { Fault, type Given, readRows, type ValuesOf } from "../annotation-rows.ts";
import { annotationPrefix, type Family, familyTable, memberTable } from "./annotations.ts";
import type { Member } from "./groups.ts";
import type { ListenPorts } from "./listen-ports.ts";
import type { IngressGates } from "./settings.ts";
import { keyOf } from "./view.ts";

/** What is wrong with one Ingress: it keeps what it has, and nobody else is concerned. */
export class MemberFault extends Error {
  override readonly name = "MemberFault";
}

export interface MemberOptions {
  readonly member: Member;
  /** `namespace/name` */
  readonly key: string;
  readonly values: ValuesOf<typeof memberTable>;
  readonly ports: ListenPorts;
  /** ARNs that are given; none: they are found by host names. */
  readonly certificates: readonly string[];
  /** Whether one is requested for its host names. */
  readonly requestsCertificate: boolean;
}

/** The gates that decide what is read. */
export type MemberGates = Pick<IngressGates, "certificateManagement" | "capacityReservation">;

/** Throws a `MemberFault` with everything that is wrong. What a closed gate serves is not read. */
export function readMember(member: Member, gates: MemberGates): MemberOptions {
  const { ingress, params, problem } = member;
  const keyed = (name: string) => annotationPrefix + name;
  const { values, problems } = readRows(
    memberTable,
    keyed,
    (name) => (isRead(name, gates) ? ingress.annotations[keyed(name)] : undefined),
    {},
  );
  const faults = [...(problem === undefined ? [] : [problem]), ...problems.map(({ message }) => message)];
  if (values["customer-owned-ipv4-pool"] === "") {
    faults.push(`cannot use empty value for customer-owned-ipv4-pool annotation, ingress: ${keyOf(ingress)}`);
  }
  if (faults.length > 0) throw new MemberFault(faults.join("; "));
  const certificates = params?.certificateArn?.length ? params.certificateArn : (values["certificate-arn"] ?? []);
  // What is named goes before what could be requested.
  const requestsCertificate =
    gates.certificateManagement &&
    values["create-acm-cert"] === true &&
    values["certificate-arn"] === undefined &&
    certificates.length === 0;
  const isSecure = certificates.length > 0 || requestsCertificate;
  const ports = values["listen-ports"] ?? new Map([isSecure ? ([443, "HTTPS"] as const) : ([80, "HTTP"] as const)]);
  return { member, key: keyOf(ingress), values, ports, certificates, requestsCertificate };
}

const isRead = (name: string, { capacityReservation }: MemberGates) => capacityReservation || name !== "minimum-load-balancer-capacity";

/** The value of an annotation whose name ends in something of the user's; undefined where there is none. */
export function readFamily<Name extends Family>(
  { member }: Pick<MemberOptions, "member">,
  family: Name,
  name: string,
): Exclude<ReturnType<(typeof familyTable)[Name]["parse"]>, Fault> | undefined {
  const key = annotationPrefix + family + name;
  const given = member.ingress.annotations[key];
  if (given === undefined) return undefined;
  const { parse, takes } = familyTable[family];
  const value = (parse as (text: string, about: Given) => unknown)(given, { key, takes });
  if (value instanceof Fault) throw new MemberFault(value.messages.map((message) => withKey(message, key)).join("; "));
  return value as Exclude<ReturnType<(typeof familyTable)[Name]["parse"]>, Fault>;
}

/** A text that names its annotation. */
const withKey = (message: string, key: string) => (message.includes(key) ? message : `${key}: ${message}`);
