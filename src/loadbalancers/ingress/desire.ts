/**
 * From the Ingresses of a group to the load balancer that they share. Pure. Whoever cannot be understood, or contradicts
 * those before it, keeps what it had: what it asked for last, or, where nobody remembers, the rules that stand and are nobody
 * else's. The others go on.
 */
import type { SeenApplication } from "../application/plan.ts";
import type { ApplicationListener, ApplicationLoadBalancer } from "../model.ts";
import type { Action, ListenerRule } from "../routing.ts";
import type { SubnetChoice } from "../subnets.ts";
import type { BindingWish } from "../targets/owned-bindings.ts";
import type { Backend } from "./backends.ts";
import { type Frontend, type FrontendSources, frontendWish } from "./frontend.ts";
import { type Group, stackOf } from "./groups.ts";
import { type GuardSources, guardsWish, keepsOtherWebAcl } from "./guards.ts";
import { type Port, type PortSources, type PortWish, portsOf } from "./listeners.ts";
import { loadBalancerWish } from "./load-balancer.ts";
import type { MemberOptions } from "./member.ts";
import { MemberFaults } from "./merge.ts";
import { parts } from "./names.ts";
import { withoutUseless } from "./optimise.ts";
import { attempt, type Distrusted, readMembers } from "./reading.ts";
import { actionsOf, type Backends, type DraftRule, type RuleSources, rulesOf } from "./rules.ts";
import { sslRedirect, standingRedirect } from "./ssl-redirect.ts";
import { allTags, groupTags, userTags } from "./tags.ts";
import { isKeptRule, type KeptRule, keptRules } from "./unclaimed.ts";
import { keyOf } from "./view.ts";
import { overruledBy } from "./warnings.ts";

/** What an Ingress asked for when it was last understood. */
export interface MemberModel {
  /** Where it was then: target groups, tags and bindings are of that group. */
  readonly stack: string;
  readonly options: MemberOptions;
  readonly wish: PortWish;
  /** By port. */
  readonly rules: ReadonlyMap<number, readonly DraftRule[]>;
  /** By port, where it has a default backend. */
  readonly defaults: ReadonlyMap<number, readonly Action[]>;
  readonly backends: readonly Backend[];
}

/** The same when it is carried out: AWS has the Secrets of its log-ins, and whoever asks for it again does not send them again. */
export function carriedOut(model: MemberModel): MemberModel {
  const sent = (actions: readonly Action[]): readonly Action[] =>
    actions.map((action) => (action.kind === "authenticate-oidc" ? { ...action, secretChanged: false } : action));
  return {
    ...model,
    rules: new Map([...model.rules].map(([port, rules]) => [port, rules.map((rule) => ({ ...rule, actions: sent(rule.actions) }))])),
    defaults: new Map([...model.defaults].map(([port, actions]) => [port, sent(actions)])),
  };
}

export type GroupSources = PortSources &
  FrontendSources &
  GuardSources &
  Omit<RuleSources, "groupId" | "isDualStack" | "source" | "standing"> & {
    readonly seen: SeenApplication;
    /** What AWS said when this was asked of it before. */
    refusal?(key: string, model: MemberModel): string | undefined;
  };

export interface GroupDesire {
  readonly model: ApplicationLoadBalancer;
  readonly bindings: readonly BindingWish[];
  readonly subnets: SubnetChoice;
  /** The load balancer in front, where one is asked for. */
  readonly frontend?: Frontend;
  /** What is wrong with each member, by its key. */
  readonly faults: ReadonlyMap<string, readonly string[]>;
  /** What members, and their classes, say in vain, by their keys. */
  readonly overruled: ReadonlyMap<string, readonly string[]>;
  /** What keeps all of them from having a load balancer. */
  readonly problems: readonly string[];
  /** What each member that is understood asks for, to be remembered. */
  readonly understood: ReadonlyMap<string, MemberModel>;
}

/** Stands in bindings for the id of the managed security group, which is known when it stands. */
export const managedSource = "<managed security group>";

/** One that stands keeps its name. */
export function desireGroup(
  group: Group,
  standing: string | undefined,
  remembered: ReadonlyMap<string, MemberModel>,
  sources: GroupSources,
): GroupDesire {
  const all = new Map<string, readonly string[]>();
  const misled = new Set<string>();
  const uids = new Map([...group.members.map(({ ingress }) => ingress), ...group.leaving].map((ingress) => [keyOf(ingress), ingress.uid]));
  // Not what another Ingress of the same name asked for, which is gone.
  const isOf = (key: string, { stack, options }: MemberModel) =>
    stack === stackOf(group.id) && uids.get(key) === options.member.ingress.uid;
  const ofGroup = new Map([...remembered].filter(([key, model]) => isOf(key, model)));
  for (;;) {
    const desire = desireWithout({ faulty: new Set(all.keys()), misled }, group, standing, ofGroup, sources);
    const found = [...desire.faults].filter(([key]) => !all.has(key));
    // What they said before was right: their class is not, and what it says now is not followed either.
    const newlyMisled = [...desire.faults.keys()].filter((key) => all.has(key) && !misled.has(key));
    if (found.length + newlyMisled.length === 0) return { ...desire, faults: all };
    // Whoever has a fault has no say in anything now: what the others share is put together anew.
    for (const [key, faults] of found) all.set(key, faults);
    for (const key of newlyMisled) misled.add(key);
  }
}

/** The same, where these members are known to have faults. */
function desireWithout(
  distrusted: Distrusted,
  group: Group,
  standing: string | undefined,
  remembered: ReadonlyMap<string, MemberModel>,
  sources: GroupSources,
): GroupDesire {
  const { settings } = sources;
  const faults = new MemberFaults();
  const reading = readMembers(group, distrusted, remembered, sources, faults);
  const members = reading.map(({ options }) => options);
  const isComplete = reading.length === group.members.length;
  // Of these somebody who is not understood may have said whom to let in, or that they only redirect.
  const guarded = new Map(isComplete ? [] : sources.seen.loadBalancer?.listeners.map((listener) => [listener.port, listener]));
  const ports = portsOf(members, new Map(reading.map(({ options, wish }) => [options.key, wish])), guarded, settings, faults);
  const keys = group.members.map(({ ingress }) => keyOf(ingress));
  const first = members.find(({ key }) => key === keys[0])?.member ?? group.members[0];
  const speakers = { members, areAll: isComplete, ...(first?.params && { firstClass: first.params }) };
  const own = sources.seen.managedGroup && { managedGroup: sources.seen.managedGroup.id };
  const balancer = loadBalancerWish(group.id, speakers, ports, { ...sources, ...own }, faults);
  const guards = guardsWish(members, sources, faults);
  const frontend = frontendWish(group.id, members, balancer, standing ?? balancer.name, sources, faults);
  const asked = sslRedirect(members, ports, faults);
  const redirectOf = ({ port, protocol }: Port) => {
    if (protocol !== "HTTP") return undefined;
    const standing = guarded.get(port);
    return standing ? standingRedirect(standing) : asked;
  };
  const context: RuleSources = {
    ...sources,
    groupId: group.id,
    standing: sources.seen.targetGroups,
    isDualStack: balancer.addressType.startsWith("dualstack"),
    ...(balancer.source && { source: balancer.source.kind === "group" ? balancer.source.id : managedSource }),
  };
  const answering = ports.filter((port) => redirectOf(port) === undefined);
  const understood = new Map<string, MemberModel>();
  for (const { options, wish, isCurrent } of reading) {
    if (!isCurrent || faults.has(options.key)) continue;
    const model = attempt(options.key, faults, () => memberModel(options, wish, answering, context));
    if (model === undefined) continue;
    const refusal = sources.refusal?.(options.key, model);
    if (refusal === undefined) understood.set(options.key, model);
    else faults.add(options.key, refusal);
  }
  const modelOf = (key: string) => understood.get(key) ?? remembered.get(key);
  const models = keys.flatMap((key) => modelOf(key) ?? []);
  const unknown = keys.filter((key) => modelOf(key) === undefined);
  const listeners = ports.map((port) => listenerOf(group, port, redirectOf(port), { keys, modelOf, unknown, remembered, sources, faults }));
  const backends = [...new Map(models.flatMap((each) => each.backends.map((backend) => [backend.group.name, backend] as const))).values()];
  const { choice } = balancer;
  return {
    subnets: choice,
    ...(frontend && { frontend }),
    bindings: backends.map(({ binding }) => binding),
    faults: faults.all(),
    overruled: overruledBy(members, keys[0] ?? "", balancer, settings),
    problems: [
      ...(choice.kind === "none" ? [choice.message] : []),
      // Where something stands it is kept, and whoever leaves can leave.
      ...(models.length === 0 && standing === undefined ? ["no Ingress of the group can be understood"] : []),
    ],
    understood,
    model: {
      kind: "application",
      name: standing ?? balancer.name,
      askedBy: group.id.kind === "explicit" ? "Ingress group" : "Ingress",
      internal: balancer.internal,
      addressType: balancer.addressType,
      subnets: choice.kind === "chosen" ? choice.subnets.map(({ id }) => ({ subnet: id })) : [],
      securityGroups: balancer.securityGroups,
      tags: allTags(balancer.tags, group.id, parts.loadBalancer, settings),
      attributes: balancer.attributes,
      ...(balancer.attributesBy !== undefined && { attributesBy: balancer.attributesBy }),
      ...(balancer.capacity !== undefined && { capacity: balancer.capacity }),
      ...(balancer.customerOwnedIpv4Pool && { customerOwnedIpv4Pool: balancer.customerOwnedIpv4Pool }),
      ...(balancer.ipv4IpamPool && { ipv4IpamPool: balancer.ipv4IpamPool }),
      ...(guards && { guards }),
      ...(keepsOtherWebAcl(members, faults) && { keepsOtherWebAcl: true as const }),
      listeners,
      targetGroups: backends.map(({ group: targetGroup }) => targetGroup),
      ...(unknown.length > 0 && { keepsUnclaimed: { prefixes: unknown.map((key) => `${key}-`) } }),
    },
  };
}

function memberModel(options: MemberOptions, wish: PortWish, ports: readonly Port[], sources: RuleSources): MemberModel {
  const backends: Backends = new Map();
  const own = ports.filter(({ members }) => members.some(({ key }) => key === options.key));
  const { defaultBackend } = options.member.ingress;
  return {
    stack: stackOf(sources.groupId),
    options,
    wish,
    rules: new Map(own.map(({ port, protocol }) => [port, rulesOf(options, protocol, sources, backends)])),
    defaults: new Map(
      defaultBackend ? own.map(({ port, protocol }) => [port, actionsOf(options, defaultBackend, protocol, sources, backends)]) : [],
    ),
    backends: [...backends.values()],
  };
}

interface ListenerContext {
  /** All members, in the order of the group. */
  readonly keys: readonly string[];
  modelOf(key: string): MemberModel | undefined;
  /** Those that nobody understands, nor remembers. */
  readonly unknown: readonly string[];
  readonly remembered: ReadonlyMap<string, MemberModel>;
  readonly sources: GroupSources;
  readonly faults: MemberFaults;
}

const notFound: Action = { kind: "fixed-response", status: "404", contentType: "text/plain" };

function listenerOf(group: Group, port: Port, redirect: number | undefined, context: ListenerContext): ApplicationListener {
  const { settings } = context.sources;
  const title = `${port.protocol}:${port.port}`;
  return {
    port: port.port,
    protocol: port.protocol,
    certificates: port.certificates,
    ...(port.sslPolicy && { sslPolicy: port.sslPolicy }),
    ...(port.mutualTls && { mutualTls: port.mutualTls }),
    attributes: port.attributes,
    by: port.by,
    certificatesBy: port.certificatesBy,
    part: parts.listener(port.port),
    // What members say that listen elsewhere is not said of this one. Where they disagree, the load balancer's tags tell them so.
    tags: allTags(groupTags(port.members, settings, new MemberFaults()), group.id, parts.listener(port.port), settings),
    untagged: !settings.gates.listenerRulesTagging,
    why: `${port.members.map(({ key }) => `Ingress ${key}`).join(", ")} listen${port.members.length === 1 ? "s" : ""} on ${title}`,
    defaultActions:
      redirect === undefined
        ? defaultActions(port, context)
        : [{ kind: "redirect", port: String(redirect), protocol: "HTTPS", status: "HTTP_301" }],
    rules: redirect === undefined ? placedRules(group, port, context) : [],
  };
}

/** Of several Ingresses with a default backend the first has it. */
function defaultActions(port: Port, { keys, modelOf, faults }: ListenerContext): readonly Action[] {
  const [first, ...others] = keys.filter((key) => modelOf(key)?.defaults.has(port.port));
  for (const key of others) faults.add(key, `multiple ingress defined default backend: [${[first, ...others].join(" ")}]`);
  return (first && modelOf(first)?.defaults.get(port.port)) || [notFound];
}

type OwnedRule = (DraftRule & { readonly by: MemberOptions }) | KeptRule;

/** Everybody's rules in the order of the group; those that nobody understands stand where the first of them would. */
function placedRules(group: Group, port: Port, { keys, modelOf, unknown, remembered, sources }: ListenerContext): readonly ListenerRule[] {
  const { settings, seen } = sources;
  const drafts = keys.map((key): readonly OwnedRule[] => {
    const model = modelOf(key);
    return model?.rules.get(port.port)?.map((rule) => ({ ...rule, by: model.options })) ?? [];
  });
  const claimed = drafts.flat().filter((rule): rule is DraftRule & { readonly by: MemberOptions } => !isKeptRule(rule));
  const groups = keys.flatMap((key) => modelOf(key)?.backends ?? []).map(({ group: targetGroup }) => targetGroup);
  const place = keys.findIndex((key) => unknown.includes(key));
  const all = [...group.members.map(({ ingress }) => ingress), ...group.leaving];
  const claimants = all.map((ingress) => ({
    ingress,
    isUnderstood: !unknown.includes(keyOf(ingress)),
    former: remembered.get(keyOf(ingress))?.rules.get(port.port) ?? [],
  }));
  const kept = place < 0 ? drafts : drafts.toSpliced(place, 0, keptRules(port.port, claimed, groups, seen, claimants));
  return withoutUseless(kept.flat(), port).map((rule, i): ListenerRule => {
    const priority = i + 1;
    const part = parts.rule(port.port, priority);
    const untagged = !settings.gates.listenerRulesTagging;
    if (isKeptRule(rule)) return { ...rule, priority, part, untagged, tags: { ...rule.tags, ...allTags({}, group.id, part, settings) } };
    const { by, ...draft } = rule;
    return { ...draft, by: by.key, priority, part, untagged, tags: allTags(userTags(by, settings), group.id, part, settings) };
  });
}
