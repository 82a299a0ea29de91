/** What a translation is made from, and what it comes to. */
import type { KubeObject } from "../../kube/resource.ts";
import type { LoadBalancerSettings, TargetGroupConfiguration } from "../../loadbalancers/gateway/config.ts";
import { annotationPrefix } from "../../loadbalancers/ingress/annotations.ts";
import type { GroupDesire, GroupSources } from "../../loadbalancers/ingress/desire.ts";
import type { Group } from "../../loadbalancers/ingress/groups.ts";
import type { MemberOptions } from "../../loadbalancers/ingress/member.ts";

export interface TranslationInput {
  readonly group: Group;
  readonly desire: GroupDesire;
  readonly sources: GroupSources;
  /** Of the Gateway. */
  readonly className: string;
  /** What the class says to all its Gateways. */
  readonly ofClass?: LoadBalancerSettings;
  /** Configurations of target groups that exist: a Service has one. */
  readonly configurations: readonly ExistingConfiguration[];
  /** What is written down though nobody named it, because a Gateway would choose another. */
  readonly pins: ReadonlySet<Pin>;
}

export type Pin = "subnets" | "certificates";

export interface ExistingConfiguration {
  readonly namespace: string;
  readonly name: string;
  readonly spec: TargetGroupConfiguration;
}

/** An object to be applied. */
export interface Manifest extends KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: object;
}

/** Takes down what a Gateway does not do as the Ingress does: whose, the whole text, and where the two differ by it. */
export type Lose = (ingress: string, message: string, explains?: string) => void;

/** `alb.ingress.kubernetes.io/scheme: "internal"`, with what to do about it. */
export function lostAnnotation({ member }: Pick<MemberOptions, "member">, name: string, advice: string): string {
  const key = annotationPrefix + name;
  return `${key}: ${JSON.stringify(member.ingress.annotations[key] ?? "")}: ${advice}`;
}

/** The members that are understood, in the order of the group. */
export function membersOf({ group, desire }: Pick<TranslationInput, "group" | "desire">): readonly MemberOptions[] {
  return group.members.flatMap(({ ingress }) => desire.understood.get(`${ingress.namespace}/${ingress.name}`)?.options ?? []);
}

/** Without what is undefined. */
export function given<T extends object>(fields: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** A list of pairs; undefined where there are none. */
export function pairsOf(record: Readonly<Record<string, string>>) {
  const pairs = Object.entries(record).map(([key, value]) => ({ key, value }));
  return pairs.length > 0 ? pairs : undefined;
}

/** Tags but for those of ownership and of flags; undefined where there are none. */
export function userTags(tags: Readonly<Record<string, string>> | undefined, { settings }: Pick<GroupSources, "settings">) {
  const isOwn = ([key, value]: readonly [string, string]) =>
    !/^(elbv2\.k8s\.aws\/cluster|ingress\.k8s\.aws\/(stack|resource))$/.test(key) && settings.defaultTags[key] !== value;
  const own = Object.entries(tags ?? {}).filter(isOwn);
  return own.length > 0 ? Object.fromEntries(own) : undefined;
}
