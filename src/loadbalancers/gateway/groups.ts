/** The target groups of a Gateway as they are found to be needed: each is made once, whoever leads to it. Pure. */
import { standsFor } from "../target-group-plan.ts";
import type { RouteFailure } from "./attachment.ts";
import { type Backend, resolveBackends } from "./backends.ts";
import type { Draft } from "./draft.ts";
import { attempt, HeldFault, RouteFault } from "./fault.ts";
import type { Findings } from "./findings.ts";
import { parts, trackingTags } from "./names.ts";
import type { Port } from "./ports.ts";
import { groupKey } from "./refused.ts";
import { type BoundGroup, boundGroup, type GroupContext } from "./target-groups.ts";
import { keyOf, type RouteRule, type RouteView, routeKeyOf } from "./view.ts";

/** Where a share of the requests of a rule goes. */
export type Share = { readonly weight: number } & (
  | { readonly group: string; readonly arn?: undefined }
  | { readonly group?: undefined; readonly arn: string }
);

export class Groups {
  readonly #draft: Draft;
  readonly #context: GroupContext;
  readonly #findings: Findings;
  readonly #byPart = new Map<string, BoundGroup>();
  readonly #partOfName = new Map<string, string>();
  readonly #users = new Map<string, Set<string>>();

  constructor(draft: Draft, context: GroupContext, findings: Findings) {
    this.#draft = draft;
    this.#context = context;
    this.#findings = findings;
  }

  all(): readonly BoundGroup[] {
    return [...this.#byPart.values()];
  }

  /** The routes that lead to each of those that are shared, by the name of the group. */
  sharedBy(): ReadonlyMap<string, ReadonlySet<string>> {
    const shared = this.all().filter(({ group: { part = "" } }) => parts.isShared(part));
    return new Map(shared.map(({ group: { name } }) => [name, this.#users.get(name) ?? new Set()]));
  }

  /**
   * Those of a rule's backends that can be used. For a rule that leads nowhere for now none is made: what stands is kept, for when it
   * does. Throws a `RouteFault` where the whole rule is wrong.
   */
  sharesOf(route: RouteView, rule: RouteRule, port: Port, fail: (failure: RouteFailure) => void, isUsed = true): readonly Share[] {
    const { backends, failures } = resolveBackends(route, rule.backends, this.#draft);
    for (const failure of failures) fail(failure);
    return backends.flatMap((backend): Share[] => {
      const made = attempt(() => this.#shareOf(route, backend, port, fail, isUsed));
      if ("value" in made) return made.value;
      if (made.fault instanceof HeldFault) throw made.fault;
      fail(made.fault);
      return [];
    });
  }

  #shareOf(route: RouteView, backend: Backend, port: Port, fail: (failure: RouteFailure) => void, isUsed: boolean): Share[] {
    const { weight } = backend;
    if (backend.kind === "TargetGroupName") return [{ arn: backend.arn, weight }];
    const bound = boundGroup(this.#draft, route, backend, port, this.#context);
    if (!isUsed && !this.#stands(bound)) return [];
    const own = this.#ownPart(bound);
    const { part = "" } = own.group;
    const known = this.#byPart.get(part) ?? this.#named(own);
    this.#checkRefusal(known, fail);
    this.#byPart.set(part, known);
    this.#users.set(known.group.name, (this.#users.get(known.group.name) ?? new Set()).add(routeKeyOf(route)));
    return [{ group: known.group.name, weight }];
  }

  #stands({ group }: BoundGroup): boolean {
    return this.#draft.targetGroups.some((present) => standsFor(present, group));
  }

  /** One that stands serves on as it is where AWS refuses to change it; one that AWS refuses to make holds back whoever leads to it. */
  #checkRefusal(bound: BoundGroup, fail: (failure: RouteFailure) => void): void {
    const message = this.#findings.ask(groupKey(bound.group.part ?? ""), bound.group);
    if (message === undefined) return;
    if (!this.#stands(bound)) throw new HeldFault(message);
    fail({ reason: "UnsupportedValue", message });
  }

  /**
   * Services of two namespaces may have one part: then the second has one of its own. Two ports of a Service with one target port share
   * theirs, as with the reference: what it has made is right.
   */
  #ownPart(bound: BoundGroup): BoundGroup {
    const { group, binding } = bound;
    const { settings, flavour, gateway } = this.#draft;
    const known = this.#byPart.get(group.part ?? "")?.binding;
    const isOther = known && binding && serviceOf(known) !== serviceOf(binding);
    const part = isOther ? `${group.part}/${serviceOf(binding)}` : (group.part ?? "");
    const tags = { ...group.tags, ...trackingTags(settings.cluster, flavour, gateway, part) };
    return { ...bound, group: { ...group, part, tags, by: groupKey(part) } };
  }

  #named(bound: BoundGroup): BoundGroup {
    const { name, part = "" } = bound.group;
    const other = this.#partOfName.get(name);
    if (other !== undefined && other !== part)
      throw new RouteFault(
        "UnsupportedValue",
        `target group name ${name} is taken by another backend of the Gateway: AWS has one of a name`,
      );
    this.#partOfName.set(name, part);
    return bound;
  }
}

const serviceOf = ({ namespace, spec }: NonNullable<BoundGroup["binding"]>) => keyOf({ namespace, name: spec.serviceRef.name });
