/** The one writer of what TargetGroupBindings let in: who asks for what, and each group brought to the union of it. */
import { apply, type Refusal } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import type { Cloud } from "../../aws/cloud.ts";
import type { Step } from "../../aws/plan.ts";
import type { Clock } from "../../runtime/world.ts";
import {
  type EndpointGroup,
  type EndpointRule,
  type EndpointRuleWish,
  endpointRuleDescription,
  endpointRuleKey,
  isPartOf,
  planEndpointRules,
} from "./endpoint-rules.ts";

export interface EndpointRulesOptions {
  readonly cloud: Cloud;
  readonly clock: Clock;
  readonly vpc: string;
  /** The cluster's tag: groups that carry it may have rules of ours from before. */
  readonly clusterTag: string;
  /** Write every rule as it is asked for, and join none. */
  readonly exact: boolean;
  /** What bindings may have let in that have not said in full what they let in: none of it is revoked. */
  unheard(): readonly EndpointRule[];
  onStep(step: Step): void;
}

/** What one binding lets in, by security group. */
export type EndpointClaim = ReadonlyMap<string, readonly EndpointRule[]>;

/** So long a group is believed to be as it was left, whoever else may have changed it. */
const trustMs = 10 * 60_000;

interface Left {
  readonly digest: string;
  /** All of its rules, where nothing had to be written. */
  readonly rules?: EndpointGroup["rules"];
  readonly at: number;
}

export class EndpointRules {
  readonly #options: EndpointRulesOptions;
  readonly #claims = new Map<string, EndpointClaim>();
  /** By binding, the groups that its last change has yet to reach: a second try has to know them. */
  readonly #owed = new Map<string, ReadonlySet<string>>();
  /** Groups that have, or may have, rules of ours. */
  readonly #known = new Set<string>();
  readonly #left = new Map<string, Left>();
  readonly #turns = new Map<string, Promise<unknown>>();
  #swept = false;

  constructor(options: EndpointRulesOptions) {
    this.#options = options;
  }

  hasClaim(key: string): boolean {
    return this.#claims.has(key);
  }

  /** Says what a binding lets in, and brings all groups concerned to it; errors of single groups are thrown together. */
  async claim(key: string, claim: EndpointClaim, ask: Ask): Promise<void> {
    const groups = new Set([...this.#concerned(key), ...claim.keys()]);
    this.#claims.set(key, claim);
    await this.#settle(key, groups, ask, claim);
  }

  /** A binding lets nothing in any more. `everDid`: whether it may have let something in before this process began. */
  async forget(key: string, ask: Ask, everDid = false): Promise<void> {
    const groups = this.#concerned(key);
    this.#claims.delete(key);
    if (groups.size > 0 || everDid) await this.#settle(key, groups, ask);
  }

  /** The groups that have, or may have, rules of a binding. */
  #concerned(key: string): ReadonlySet<string> {
    return new Set([...(this.#owed.get(key) ?? []), ...(this.#claims.get(key)?.keys() ?? [])]);
  }

  async #settle(key: string, groups: ReadonlySet<string>, ask: Ask, claim?: EndpointClaim): Promise<void> {
    this.#owed.set(key, groups);
    await this.#syncGroups(groups, ask, claim);
    this.#owed.delete(key);
  }

  async #syncGroups(groups: ReadonlySet<string>, ask: Ask, claim?: EndpointClaim): Promise<void> {
    for (const id of groups) this.#known.add(id);
    const all = await this.#withUnused(groups, ask);
    const work = [...all].map((id) => this.#inTurn(id, async () => ({ id, refused: await this.#syncGroup(id, ask) })));
    const errors = (await Promise.allSettled(work)).flatMap((result): readonly unknown[] => {
      if (result.status === "rejected") return [result.reason];
      const { id, refused } = result.value;
      // What another binding asks for is its own affair.
      const own = claim?.get(id) ?? [];
      return refused.filter(({ ids }) => ids.some((key) => own.some((rule) => isPartOf(key, rule)))).map(({ error }) => error);
    });
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, errors.map((error) => (error as Error).message).join("; "));
  }

  /** Groups that nobody uses any more are looked at, too; once also those from before the start. */
  async #withUnused(groups: ReadonlySet<string>, ask: Ask): Promise<ReadonlySet<string>> {
    if (!this.#swept) {
      const { cloud, vpc, clusterTag } = this.#options;
      const filters = [
        { name: "vpc-id", values: [vpc] },
        { name: `tag:${clusterTag}`, values: ["owned", "shared"] },
      ];
      for (const { id, descriptions } of await cloud.securityGroups.list(filters, ask))
        if (descriptions.some((text) => text.includes(endpointRuleDescription))) this.#known.add(id);
      this.#swept = true;
    }
    const used = new Set([...this.#claims.values()].flatMap((claim) => [...claim.keys()]));
    return new Set([...groups, ...[...this.#known].filter((id) => !used.has(id))]);
  }

  /** Returns the rules that AWS would not take; all others are written. */
  async #syncGroup(id: string, ask: Ask): Promise<readonly Refusal[]> {
    const { clock, exact, unheard } = this.#options;
    ask.signal.throwIfAborted();
    const wish = { asked: [...this.#claims.values()].flatMap((claim) => claim.get(id) ?? []), unheard: unheard(), exact };
    const digest = JSON.stringify([keysOf(wish.asked), keysOf(wish.unheard)]);
    const left = this.#left.get(id);
    if (left && clock.monotonic() - left.at < trustMs && (left.digest === digest || isMet(id, left, wish))) return [];
    this.#left.delete(id);
    const { refused, rules } = await this.#write(id, wish, ask);
    // A group that is gone lets nothing in, and needs nothing.
    const isGone = refused.some(({ error }) => error.class === "not-found" && error.detail.includes(id));
    if (isGone || wish.asked.length + wish.unheard.length === 0) this.#known.delete(id);
    if (isGone) return [];
    if (refused.length === 0) this.#left.set(id, { digest, ...(rules && { rules }), at: clock.monotonic() });
    return refused;
  }

  /** Tells the rules where none had to be written. */
  async #write(id: string, wish: EndpointRuleWish, ask: Ask): Promise<{ readonly refused: readonly Refusal[] } & Pick<Left, "rules">> {
    const { cloud, onStep } = this.#options;
    // What is not as it was seen is looked at once more.
    for (let tries = 1; ; tries++) {
      const rules = await cloud.securityGroups.rules(id, ask);
      const { grant, revoke } = planEndpointRules({ id, rules }, wish);
      const steps = [...grant, ...revoke];
      const applied = await apply(steps, cloud, { ...ask, onStep });
      if (applied.kind === "done") return { refused: applied.refused, ...(steps.length === 0 && { rules }) };
      if (tries === 2) throw new Error(applied.why);
    }
  }

  #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(id) ?? Promise.resolve()).then(work);
    this.#turns.set(
      id,
      turn.catch(() => {}),
    );
    return turn;
  }
}

/** Whether a group that was left so has all that is asked of it: who asks may change while nothing has to be written. */
function isMet(id: string, { rules }: Left, wish: EndpointRuleWish): boolean {
  if (rules === undefined) return false;
  const { grant, revoke } = planEndpointRules({ id, rules }, wish);
  return grant.length + revoke.length === 0;
}

const keysOf = (rules: readonly EndpointRule[]) => [...new Set(rules.map(endpointRuleKey))].toSorted();
