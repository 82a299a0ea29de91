/** What guards a load balancer: web ACLs of WAF and of WAF Classic, and protections of Shield. AWS tells of them one resource at a time. */
import type { Clock } from "../runtime/world.ts";
import type { Ask } from "./ask.ts";
import { markedPages, unlessGone } from "./balancer-reads.ts";
import { Cache } from "./cache.ts";
import type { Caller } from "./caller.ts";
import { describeProtection, getSubscriptionState } from "./shield-actions.ts";
import { getClassicWebAclForResource, getWebAclForResource, listWebAcls } from "./waf-actions.ts";

/** Others change it seldom, and our own changes are known. */
const ageMs = 10 * 60_000;
const namesAgeMs = 60 * 60_000;
/** Somebody who has just made the one that was missing need not wait long. */
const absentAgeMs = 10_000;
const subscriptionAgeMs = 2 * 60 * 60_000;

const maxKept = 5_000;

export interface Protection {
  readonly id: string;
  readonly name: string;
}

export class Protections {
  readonly #caller: Caller;
  readonly #webAcls: Cache<string | undefined>;
  readonly #classicWebAcls: Cache<string | undefined>;
  readonly #shields: Cache<Protection | undefined>;
  readonly #subscription: Cache<boolean>;
  readonly #arns: Cache<string | undefined>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#webAcls = new Cache({ clock, most: maxKept });
    this.#classicWebAcls = new Cache({ clock, most: maxKept });
    this.#shields = new Cache({ clock, most: maxKept });
    this.#subscription = new Cache({ clock, most: 1, absent: { is: (isSubscribed) => !isSubscribed, ageMs } });
    this.#arns = new Cache({ clock, most: maxKept, absent: { is: (arn) => arn === undefined, ageMs: absentAgeMs } });
  }

  /** The ARN of a regional web ACL; undefined where there is none of this name. */
  webAclArn(name: string, ask: Ask): Promise<string | undefined> {
    return this.#arns.get(name, namesAgeMs, async () => {
      const all = await markedPages(async (NextMarker) => {
        const input = { Scope: "REGIONAL" as const, Limit: 100, ...(NextMarker && { NextMarker }) };
        const page = await this.#caller.call(listWebAcls, input, ask);
        // AWS gives a marker with the last page too, as long as that is not empty.
        return { items: page.WebACLs ?? [], next: page.WebACLs?.length ? page.NextMarker : undefined };
      });
      return all.find(({ Name }) => Name === name)?.ARN;
    });
  }

  /** The ARN of the web ACL in front of a load balancer. */
  webAclOf(arn: string, ask: Ask): Promise<string | undefined> {
    return this.#webAcls.get(arn, ageMs, async () => {
      const answer = await unlessGone(() => this.#caller.call(getWebAclForResource, { ResourceArn: arn }, ask));
      return answer?.WebACL?.ARN;
    });
  }

  /** The id of the web ACL of WAF Classic in front of a load balancer. */
  classicWebAclOf(arn: string, ask: Ask): Promise<string | undefined> {
    return this.#classicWebAcls.get(arn, ageMs, async () => {
      const answer = await unlessGone(() => this.#caller.call(getClassicWebAclForResource, { ResourceArn: arn }, ask));
      return answer?.WebACLSummary?.WebACLId || undefined;
    });
  }

  /** Shield's protection of a load balancer. */
  shieldOf(arn: string, ask: Ask): Promise<Protection | undefined> {
    return this.#shields.get(arn, ageMs, async () => {
      const answer = await unlessGone(() => this.#caller.call(describeProtection, { ResourceArn: arn }, ask));
      const { Id: id, Name: name = "" } = answer?.Protection ?? {};
      return id === undefined ? undefined : { id, name };
    });
  }

  /** Whether the account has Shield Advanced. */
  isSubscribed(ask: Ask): Promise<boolean> {
    return this.#subscription.get("subscription", subscriptionAgeMs, async () => {
      const { SubscriptionState } = await this.#caller.call(getSubscriptionState, {}, ask);
      return SubscriptionState === "ACTIVE";
    });
  }

  /** What guards it was written. */
  forget(arn: string): void {
    for (const cache of [this.#webAcls, this.#classicWebAcls, this.#shields]) cache.invalidate(arn);
  }
}
