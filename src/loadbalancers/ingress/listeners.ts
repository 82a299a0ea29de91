/** The ports of a group: what its members say about each, put together. Pure. */

import type { Asker } from "../../aws/plan.ts";
import { formatCidr, parseCidr } from "../../runtime/ip.ts";
import type { Certificate } from "../certificate-choice.ts";
import type { Attributes } from "../model.ts";
import type { MutualTls } from "../routing.ts";
import { discoveredCertificates, hostsOf } from "./certificates.ts";
import type { MutualTlsWish, Protocol } from "./listen-ports.ts";
import type { DeniedLookUps } from "./look-ups.ts";
import { MemberFault, type MemberOptions, readFamily } from "./member.ts";
import { agreed, agreedByKey, type MemberFaults, sameSet } from "./merge.ts";
import type { CertificateAnswer } from "./own-certificates.ts";
import type { IngressSettings } from "./settings.ts";

export interface PortSources {
  readonly settings: IngressSettings;
  /** Those that are issued; read only where host names have to be looked up. */
  readonly certificates: readonly Certificate[];
  /** What has become of the certificate that is requested for a member. */
  requested(key: string): CertificateAnswer | undefined;
  /** The ARN of a trust store by its name. */
  trustStore(name: string): string | undefined;
  readonly denied?: DeniedLookUps;
}

/** One port with everything but what it answers. */
export interface Port {
  readonly port: number;
  readonly protocol: Protocol;
  /** Members that listen on it, in the order of the group. */
  readonly members: readonly MemberOptions[];
  readonly cidrs: readonly string[];
  readonly prefixLists: readonly string[];
  readonly certificates: readonly string[];
  readonly sslPolicy?: string;
  readonly mutualTls?: MutualTls;
  readonly attributes: Attributes;
  /** Who gave each certificate first, by its ARN. */
  readonly certificatesBy: Readonly<Record<string, string>>;
  /** Whoever said what AWS may refuse of it, by error code; the key of its one member, where it is one's own. */
  readonly by: Asker;
}

/** What one member says about its ports: its certificates, and client certificates by port. */
export interface PortWish {
  readonly certificates: readonly string[];
  readonly mutualTls: ReadonlyMap<number, MutualTls>;
  readonly cidrs?: readonly string[];
}

/** Whether certificates have to be found by the host names of an Ingress. */
export const needsDiscovery = ({ ports, certificates, requestsCertificate }: MemberOptions) =>
  certificates.length === 0 && !requestsCertificate && [...ports.values()].includes("HTTPS");

/** Throws a `MemberFault` for what is wrong with this member alone. */
export function portWish(options: MemberOptions, sources: PortSources): PortWish {
  const { values } = options;
  return {
    certificates: certificatesFor(options, sources),
    mutualTls: new Map([...(values["mutual-authentication"] ?? [])].map(([port, wish]) => [port, resolvedMutualTls(wish, sources)])),
    ...givenCidrs(options),
  };
}

function certificatesFor(options: MemberOptions, { settings, certificates, requested, denied }: PortSources): readonly string[] {
  if (needsDiscovery(options) && denied?.certificates !== undefined) throw new MemberFault(denied.certificates);
  if (needsDiscovery(options)) return discoveredCertificates(hostsOf(options.member.ingress), certificates, settings.allowedAuthorities);
  if (!options.requestsCertificate) return options.certificates;
  const { arns = [], waits, fault } = requested(options.key) ?? {};
  if (arns.length === 0) throw new MemberFault(fault ?? waits ?? "its certificate is not requested yet");
  return arns;
}

/** Throws a `MemberFault` for what the class says wrong. */
export function givenCidrs({ member: { params }, values }: MemberOptions): { readonly cidrs?: readonly string[] } {
  if (!params?.inboundCIDRs?.length) return values["inbound-cidrs"]?.length ? { cidrs: values["inbound-cidrs"] } : {};
  const cidrs = params.inboundCIDRs.map((given) => {
    const cidr = parseCidr(given);
    if (cidr === undefined)
      throw new MemberFault(`invalid CIDR in IngressClassParams InboundCIDR ${given}: invalid CIDR address: ${given}`);
    return formatCidr(cidr);
  });
  return { cidrs };
}

function resolvedMutualTls(wish: MutualTlsWish, { trustStore, denied }: PortSources): MutualTls {
  if (wish.mode !== "verify") return { mode: wish.mode };
  const arn = wish.trustStore.startsWith("arn:") ? wish.trustStore : trustStore(wish.trustStore);
  const why = denied?.trustStores === undefined ? "" : `: ${denied.trustStores}`;
  if (arn === undefined) throw new MemberFault(`couldn't find TrustStore with name ${wish.trustStore}${why}`);
  return { ...wish, trustStore: arn };
}

/** All ports, by number. `guarded`: those for which somebody who is not understood may have said whom to let in. */
export function portsOf(
  members: readonly MemberOptions[],
  wishes: ReadonlyMap<string, PortWish>,
  guarded: Pick<ReadonlySet<number>, "has">,
  settings: IngressSettings,
  faults: MemberFaults,
): readonly Port[] {
  const numbers = [...new Set(members.flatMap(({ ports }) => [...ports.keys()]))].toSorted((a, b) => a - b);
  return numbers.map((port) =>
    portOf(
      port,
      members.filter(({ ports }) => ports.has(port)),
      wishes,
      guarded.has(port),
      settings,
      faults,
    ),
  );
}

function portOf(
  port: number,
  members: readonly MemberOptions[],
  wishes: ReadonlyMap<string, PortWish>,
  isGuarded: boolean,
  settings: IngressSettings,
  faults: MemberFaults,
): Port {
  const merge = <T>(
    say: (member: MemberOptions) => T | undefined,
    what: string,
    show: (value: T) => string,
    isSame?: (a: T, b: T) => boolean,
  ) =>
    agreed(
      members,
      say,
      faults,
      (a, b) =>
        `failed to merge listenPort config for port: ${port}: conflicting ${what}, ${a.by.key}: ${show(a.value)} | ${b.by.key}: ${show(b.value)}`,
      isSame,
    );
  const wish = ({ key }: MemberOptions) => wishes.get(key);
  const protocol = merge(({ ports }) => ports.get(port), "protocol", String)?.value ?? "HTTP";
  const cidrs = merge(
    (member) => wish(member)?.cidrs,
    "inbound-cidrs",
    (value) => `[${value.join(", ")}]`,
    sameSet,
  )?.value;
  const prefixLists = merge(prefixListsOf, "inbound-prefix-lists", (value) => `[${value.join(", ")}]`, sameSet)?.value;
  const isOpen = !cidrs?.length && !prefixLists?.length && !isGuarded;
  const base = {
    port,
    protocol,
    members,
    cidrs: isOpen ? ["0.0.0.0/0", "::/0"] : (cidrs ?? []),
    prefixLists: prefixLists ?? [],
    attributes: listenerAttributes(port, protocol, members, isGuarded, faults),
  };
  const [only, ...others] = members;
  const sole = others.length === 0 ? only?.key : undefined;
  if (protocol === "HTTP") return { ...base, certificates: [], certificatesBy: {}, by: sole ?? {} };
  const sslPolicy = merge(({ member, values }) => member.params?.sslPolicy || values["ssl-policy"], "sslPolicy", String);
  const mutualTls = merge(
    (member) => wish(member)?.mutualTls.get(port),
    "mTLS Attributes",
    (value) => JSON.stringify(value),
  );
  const off = settings.gates.enhancedDefaults ? ({ mode: "off" } as const) : undefined;
  const tls = mutualTls?.value ?? off;
  const given = members.flatMap((member) => (wish(member)?.certificates ?? []).map((arn) => [arn, member.key] as const));
  // The last of several with one key stays, so that the first who gave a certificate is who is named.
  const certificatesBy = Object.fromEntries(given.toReversed());
  const certificates = [...new Set(given.map(([arn]) => arn))];
  return {
    ...base,
    certificates,
    certificatesBy,
    by: sole ?? refusals(certificatesBy[certificates[0] ?? ""], sslPolicy?.by.key, mutualTls?.by.key),
    sslPolicy: sslPolicy?.value ?? settings.defaultSslPolicy,
    ...(tls && { mutualTls: tls }),
  };
}

/** Who is meant when AWS refuses a listener that several share. */
function refusals(certificate: string | undefined, sslPolicy: string | undefined, mutualTls: string | undefined): Asker {
  return {
    ...(certificate !== undefined && { CertificateNotFound: certificate, UnsupportedCertificate: certificate }),
    ...(sslPolicy !== undefined && { SSLPolicyNotFound: sslPolicy }),
    ...(mutualTls !== undefined && { TrustStoreNotFound: mutualTls, TrustStoreNotReady: mutualTls }),
  };
}

function prefixListsOf({ member: { params }, values }: MemberOptions): readonly string[] | undefined {
  const lists = params?.prefixListsIDs?.length ? params.prefixListsIDs : values["security-group-prefix-lists"];
  return lists?.length ? lists : undefined;
}

/** Those of the class of the first member go before what members say; who is the first is not known of a port that is guarded. */
function listenerAttributes(
  port: number,
  protocol: Protocol,
  members: readonly MemberOptions[],
  isGuarded: boolean,
  faults: MemberFaults,
): Attributes {
  const entry = members[0]?.member.params?.listeners?.find((each) => each.protocol === protocol && each.port === port);
  const settled = Object.fromEntries((entry?.listenerAttributes ?? []).map(({ key, value }) => [key, value]));
  const all = agreedByKey(
    members,
    (member) => readFamily(member, "listener-attributes.", `${protocol}-${port}`),
    faults,
    (key, a, b) => `conflicting listener attributes ${key}: ${a} | ${b}`,
    settled,
  );
  return isGuarded ? Object.fromEntries(Object.entries(all).filter(([key]) => !(key in settled))) : all;
}
