/** What a group asks for in front of its load balancer: WAF and Shield. Pure. */
import type { Guards } from "../model.ts";
import type { MemberOptions } from "./member.ts";
import { agreed, type MemberFaults, type Said } from "./merge.ts";
import type { IngressSettings } from "./settings.ts";

/** A web ACL that was looked for by its name. */
export interface WebAclFound {
  readonly arn?: string;
  /** Why it could not be looked for. */
  readonly problem?: string;
}

export interface GuardSources {
  readonly settings: Pick<IngressSettings, "guards">;
  webAcl(name: string): WebAclFound | undefined;
}

/** Absent: nobody says anything, and everything is left as it is. */
export function guardsWish(members: readonly MemberOptions[], sources: GuardSources, faults: MemberFaults): Guards | undefined {
  const say = <T>(what: string, of: (member: MemberOptions) => T | undefined) =>
    agreed(members, of, faults, (a, b) => `conflicting ${what}: ${a.value} | ${b.value}`);
  const name = say("WAFv2 WebACL names", webAclName);
  const webAcl = name ? resolved(name, sources, faults) : orNone(say("WAFv2 WebACL ARNs", webAclArn)?.value);
  const classicWebAcl = orNone(say("WAFClassic WebACL IDs", ({ values }) => values["waf-acl-id"] ?? values["web-acl-id"])?.value);
  const shield = say("enable shield advanced protection", ({ values }) => values["shield-advanced-protection"])?.value;
  const all: Guards = {
    ...(webAcl !== undefined && { webAcl }),
    ...(classicWebAcl !== undefined && { classicWebAcl }),
    ...(shield !== undefined && { shield }),
  };
  const served = Object.entries(all).filter(([guard]) => sources.settings.guards.includes(guard as keyof Guards));
  return served.length > 0 ? Object.fromEntries(served) : undefined;
}

/** Whether a web ACL is associated only where there is none: somebody else, Firewall Manager above all, may have put one there. */
export function keepsOtherWebAcl(members: readonly MemberOptions[], faults: MemberFaults): boolean {
  const conflict = (a: Said<string>, b: Said<string>) => `conflicting wafv2-acl-association: ${a.value} | ${b.value}`;
  return agreed(members, ({ values }) => values["wafv2-acl-association"], faults, conflict)?.value === "if-none";
}

const webAclName = ({ member: { params }, values }: MemberOptions) => params?.wafv2AclName || values["wafv2-acl-name"];
const webAclArn = ({ member: { params }, values }: MemberOptions) => params?.wafv2AclArn || values["wafv2-acl-arn"];

/** The names of web ACLs that have to be looked up for a member. */
export function webAclNames(member: MemberOptions): readonly string[] {
  const name = webAclName(member);
  return name === undefined || name === none ? [] : [name];
}

const none = "none";

const orNone = (value: string | undefined) => (value === none ? "" : value);

function resolved({ value: name, by }: Said<string>, { settings, webAcl }: GuardSources, faults: MemberFaults): string | undefined {
  if (name === none || !settings.guards.includes("webAcl")) return orNone(name);
  const { arn, problem } = webAcl(name) ?? {};
  if (arn === undefined) faults.add(by.key, `couldn't find WAFv2 WebACL with name: ${name}${problem === undefined ? "" : `: ${problem}`}`);
  return arn;
}

/** Which guards a group mentions, whatever it says of them: only these are looked at. */
export function mentionedGuards(
  members: readonly {
    readonly ingress: { readonly annotations: Readonly<Record<string, string>> };
    readonly params?: MemberOptions["member"]["params"];
  }[],
  keyOf: (name: "wafv2-acl-arn" | "wafv2-acl-name" | "waf-acl-id" | "web-acl-id" | "shield-advanced-protection") => string,
  { guards }: Pick<IngressSettings, "guards">,
): readonly (keyof Guards)[] {
  const has = (...names: readonly Parameters<typeof keyOf>[0][]) =>
    members.some(({ ingress }) => names.some((name) => ingress.annotations[keyOf(name)]));
  const mentioned = {
    webAcl: has("wafv2-acl-arn", "wafv2-acl-name") || members.some(({ params }) => params?.wafv2AclArn || params?.wafv2AclName),
    classicWebAcl: has("waf-acl-id", "web-acl-id"),
    shield: has("shield-advanced-protection"),
  };
  return guards.filter((guard) => mentioned[guard]);
}
