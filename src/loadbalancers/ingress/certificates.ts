/** Which certificates fit an Ingress's host names, where none is given. Pure. */
import { MemberFault } from "./member.ts";
import type { IngressView } from "./view.ts";

/** One that is issued, with the names that it is for. */
export interface Certificate {
  readonly arn: string;
  readonly domains: readonly string[];
  /** ARN of the private authority that issued it. */
  readonly authority?: string;
}

/** Every name that clients ask for. */
export function hostsOf({ rules, tlsHosts }: IngressView): readonly string[] {
  return [...new Set([...rules.map(({ host }) => host), ...tlsHosts])].filter((host) => host !== "");
}

/** Every certificate that fits one of the hosts, by ARN. A host that none fits is a fault. */
export function discoveredCertificates(
  hosts: readonly string[],
  certificates: readonly Certificate[],
  allowedAuthorities: readonly string[],
): readonly string[] {
  const usable = certificates.filter(
    ({ authority }) => allowedAuthorities.length === 0 || (authority !== undefined && allowedAuthorities.includes(authority)),
  );
  const found = new Set<string>();
  for (const host of hosts) {
    const fitting = usable.filter(({ domains }) => domains.some((domain) => fits(domain, host)));
    if (fitting.length === 0) throw new MemberFault(`no certificate found for host: ${host}`);
    for (const { arn } of fitting) found.add(arn);
  }
  return [...found].toSorted();
}

/** A wildcard stands for exactly one label. */
export function fits(domain: string, host: string): boolean {
  if (domain === host) return true;
  if (!domain.startsWith("*.")) return false;
  return host.split(".").slice(1).join(".") === domain.slice(2) && host.includes(".");
}
