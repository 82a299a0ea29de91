/** The host names of an Ingress, and the certificates that fit them where none is given. Pure. */
import { type Certificate, certificatesFor } from "../certificate-choice.ts";
import { MemberFault } from "./member.ts";
import type { IngressView } from "./view.ts";

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
  const found = certificatesFor(hosts, certificates, allowedAuthorities);
  if ("unmatched" in found) throw new MemberFault(`no certificate found for host: ${found.unmatched}`);
  return found.arns;
}
