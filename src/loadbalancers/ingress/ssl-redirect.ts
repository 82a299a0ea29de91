/** Whether HTTP listeners of a group only redirect, and where to. Pure. */
import type { SeenListener } from "../application/plan-listeners.ts";
import type { Port } from "./listeners.ts";
import { MemberFault, type MemberOptions } from "./member.ts";
import { agreed, type MemberFaults } from "./merge.ts";

/** The port to which all HTTP listeners redirect. */
export function sslRedirect(members: readonly MemberOptions[], ports: readonly Port[], faults: MemberFaults): number | undefined {
  const said = agreed(members, sslRedirectOf, faults, (a, b) => `conflicting sslRedirect port: [${a.value} ${b.value}]`);
  if (said === undefined) return undefined;
  const target = ports.find(({ port }) => port === said.value);
  if (target?.protocol === "HTTPS") return said.value;
  const problem = target ? "listener protocol non-SSL" : "listener does not exist";
  // Of one with a fault nobody knows what it says.
  for (const member of members.filter((each) => !faults.has(each.key) && sslRedirectOf(each) === said.value))
    faults.add(member.key, `${problem} for SSLRedirect port: ${said.value}`);
  return undefined;
}

/** The same as it stands: what only redirects answers nobody itself. */
export function standingRedirect({ actions: [action], rules }: SeenListener): number | undefined {
  const { Protocol, Port: port } = action?.RedirectConfig ?? {};
  return rules.length === 0 && Protocol === "HTTPS" && /^\d+$/.test(port ?? "") ? Number(port) : undefined;
}

function sslRedirectOf({ member: { params }, values }: MemberOptions): number | undefined {
  const given = params?.sslRedirectPort;
  if (!given) return values["ssl-redirect"];
  if (/^\d+$/.test(given)) return Number(given);
  throw new MemberFault(`sslRedirectPort of IngressClassParams ${params.name} takes a port number, and is ${JSON.stringify(given)}`);
}
