/** Which certificates fit host names, where none is given. Pure. */

/** One that is issued, with the names that it is for. */
export interface Certificate {
  readonly arn: string;
  readonly domains: readonly string[];
  /** ARN of the private authority that issued it. */
  readonly authority?: string;
}

/** Every certificate that fits one of the hosts, by ARN; or the first host that none fits. */
export function certificatesFor(
  hosts: readonly string[],
  certificates: readonly Certificate[],
  allowedAuthorities: readonly string[],
): { readonly arns: readonly string[] } | { readonly unmatched: string } {
  const usable = certificates.filter(
    ({ authority }) => allowedAuthorities.length === 0 || (authority !== undefined && allowedAuthorities.includes(authority)),
  );
  const found = new Set<string>();
  for (const host of hosts) {
    const fitting = usable.filter(({ domains }) => domains.some((domain) => fits(domain, host)));
    if (fitting.length === 0) return { unmatched: host };
    for (const { arn } of fitting) found.add(arn);
  }
  return { arns: [...found].toSorted() };
}

/** A wildcard stands for exactly one label. */
export function fits(domain: string, host: string): boolean {
  if (domain === host) return true;
  if (!domain.startsWith("*.")) return false;
  return host.split(".").slice(1).join(".") === domain.slice(2) && host.includes(".");
}
