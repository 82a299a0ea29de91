/** What AWS has to be asked before anybody can say what a group wants: only what one of its Ingresses names. */
import type { Ask } from "../../aws/ask.ts";
import type { Certificates } from "../../aws/certificates.ts";
import { isAwsError } from "../../aws/errors.ts";
import type { Certificate } from "../certificate-choice.ts";
import { reconcileAges } from "../inventory.ts";
import { annotationPrefix } from "./annotations.ts";
import type { GroupContext } from "./context.ts";
import type { Group } from "./groups.ts";
import { type WebAclFound, webAclNames } from "./guards.ts";
import { needsDiscovery } from "./listeners.ts";
import { MemberFault, type MemberOptions, readFamily, readMember } from "./member.ts";
import { hasStack } from "./names.ts";
import type { IngressSettings } from "./settings.ts";

export interface LookUps {
  readonly certificates: readonly Certificate[];
  /** ARNs by name. */
  readonly trustStores: ReadonlyMap<string, string>;
  readonly targetGroups: ReadonlyMap<string, string>;
  readonly webAcls: ReadonlyMap<string, WebAclFound>;
  readonly denied: DeniedLookUps;
}

/** Why nobody could look for these: whoever needs one is told, and those who share a load balancer with it go on. */
export interface DeniedLookUps {
  readonly certificates?: string;
  readonly trustStores?: string;
}

export async function lookUp(
  group: Group,
  { inventory, settings }: Pick<GroupContext, "inventory" | "settings">,
  ask: Ask,
): Promise<LookUps> {
  const members = group.members.flatMap((member) => orNothing(() => readMember(member, settings.gates)));
  const { trustStores, protections } = inventory.cloud;
  const arnsOf = async (names: readonly string[], arnOf: (name: string) => Promise<string | undefined>) => {
    const found = await Promise.all(names.map(async (name) => [name, await arnOf(name)] as const));
    return new Map(found.flatMap(([name, arn]) => (arn === undefined ? [] : [[name, arn] as const])));
  };
  const [issued, stores, targetGroups, webAcls] = await Promise.all([
    unlessDenied(async () => (members.some(needsDiscovery) ? discoverable(inventory.cloud.certificates, settings, ask) : [])),
    unlessDenied(() => arnsOf(distinct(members.flatMap(storeNames)), (name) => trustStores.arn(name, ask))),
    arnsOf(
      distinct(members.flatMap(targetGroupNames)),
      async (name) => (await inventory.targetGroups.get(name, reconcileAges, ask))?.TargetGroupArn,
    ),
    Promise.all(
      distinct(settings.guards.includes("webAcl") ? members.flatMap(webAclNames) : []).map(
        async (name) => [name, await webAclFound(() => protections.webAclArn(name, ask))] as const,
      ),
    ),
  ]);
  return {
    certificates: issued.found ?? [],
    trustStores: stores.found ?? new Map(),
    targetGroups,
    webAcls: new Map(webAcls),
    denied: { ...(issued.problem && { certificates: issued.problem }), ...(stores.problem && { trustStores: stores.problem }) },
  };
}

/** Those that were requested for an Ingress serve that one only. */
async function discoverable(certificates: Certificates, { allowedAuthorities, gates }: IngressSettings, ask: Ask) {
  const [issued, requested] = await Promise.all([
    certificates.issued(allowedAuthorities.length > 0, ask),
    gates.certificateManagement ? certificates.requested(ask) : [],
  ]);
  const ofIngresses = new Set(requested.filter(({ tags }) => hasStack(tags)).map(({ arn }) => arn));
  return issued.filter(({ arn }) => !ofIngresses.has(arn));
}

async function webAclFound(find: () => Promise<string | undefined>): Promise<WebAclFound> {
  const { found: arn, problem } = await unlessDenied(find);
  return { ...(arn !== undefined && { arn }), ...(problem !== undefined && { problem }) };
}

/** Whoever may not look for one is told why it was not found. */
async function unlessDenied<T>(look: () => Promise<T>): Promise<{ readonly found?: T; readonly problem?: string }> {
  try {
    return { found: await look() };
  } catch (error) {
    if (!isAwsError(error, "denied")) throw error;
    return { problem: error.message };
  }
}

const distinct = (names: readonly string[]) => [...new Set(names)];

/** Whoever cannot be read asks for nothing here: that it cannot is said elsewhere. */
function orNothing<T>(read: () => T): T[] {
  try {
    return [read()];
  } catch (error) {
    if (error instanceof MemberFault) return [];
    throw error;
  }
}

function storeNames({ values }: MemberOptions): readonly string[] {
  const wishes = [...(values["mutual-authentication"]?.values() ?? [])];
  return wishes.flatMap((wish) => (wish.mode === "verify" && !wish.trustStore.startsWith("arn:") ? [wish.trustStore] : []));
}

function targetGroupNames(options: MemberOptions): readonly string[] {
  const prefix = `${annotationPrefix}actions.`;
  const names = Object.keys(options.member.ingress.annotations).flatMap((key) =>
    key.startsWith(prefix) ? [key.slice(prefix.length)] : [],
  );
  const actions = names.flatMap((name) => orNothing(() => readFamily(options, "actions.", name)));
  return actions.flatMap((action) =>
    action?.kind === "forward" ? action.to.flatMap((share) => ("targetGroupName" in share ? [share.targetGroupName] : [])) : [],
  );
}
