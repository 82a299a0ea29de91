/** Load balancers of the second generation, with their listeners and target groups, as AWS tells of them. */
import type { Listener, LoadBalancer, TargetGroup, TargetHealthDescription } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Clock } from "../runtime/world.ts";
import { type Ask, joinedCause } from "./ask.ts";
import type { Caller } from "./caller.ts";
import { unlessGone } from "./classic-load-balancers.ts";
import { Coalescer } from "./coalescer.ts";
import {
  describeListeners,
  describeLoadBalancerAttributes,
  describeLoadBalancers,
  describeTags,
  describeTargetGroupAttributes,
  describeTargetGroups,
  describeTargetHealth,
} from "./elbv2-actions.ts";
import { isAwsError } from "./errors.ts";
import type { Tags } from "./instance.ts";

/** AWS's limit of ARNs in one description of tags. */
const arnsPerCall = 20;
const pageSize = 400;

interface Wanted {
  readonly arn: string;
  readonly cause: string;
}

export class LoadBalancers {
  readonly #caller: Caller;
  readonly #tags: Coalescer<Wanted, Tags>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#tags = new Coalescer({
      clock,
      most: arnsPerCall,
      keyOf: ({ arn }) => arn,
      // One that is gone fails the whole call; it is named in the refusal where there are several.
      blame: (error, arns) => (isAwsError(error, "not-found") ? arns.filter((arn) => error.detail.includes(arn)) : undefined),
      fetch: async (items, options) => {
        const input = { ResourceArns: items.map(({ arn }) => arn) };
        const answer = await caller.call(describeTags, input, { ...options, cause: joinedCause(items) });
        return new Map(
          (answer.TagDescriptions ?? []).map(({ ResourceArn = "", Tags = [] }) => [
            ResourceArn,
            Object.fromEntries(Tags.map(({ Key = "", Value = "" }) => [Key, Value])),
          ]),
        );
      },
    });
  }

  /** All of the account and region. */
  list(ask: Ask): Promise<readonly LoadBalancer[]> {
    return markedPages(async (Marker) => {
      const answer = await this.#caller.call(describeLoadBalancers, { PageSize: pageSize, Marker }, ask);
      return { items: answer.LoadBalancers ?? [], next: answer.NextMarker };
    });
  }

  /** The one of this name, as it is now. */
  byName(name: string, ask: Ask): Promise<LoadBalancer | undefined> {
    return unlessGone(async () => (await this.#caller.call(describeLoadBalancers, { Names: [name] }, ask)).LoadBalancers?.[0]);
  }

  /** All of the account and region. */
  targetGroups(ask: Ask): Promise<readonly TargetGroup[]> {
    return markedPages(async (Marker) => {
      const answer = await this.#caller.call(describeTargetGroups, { PageSize: pageSize, Marker }, ask);
      return { items: answer.TargetGroups ?? [], next: answer.NextMarker };
    });
  }

  /** The one of this name, as it is now. */
  targetGroup(name: string, ask: Ask): Promise<TargetGroup | undefined> {
    return unlessGone(async () => (await this.#caller.call(describeTargetGroups, { Names: [name] }, ask)).TargetGroups?.[0]);
  }

  async listeners(loadBalancer: string, ask: Ask): Promise<readonly Listener[]> {
    const listeners = await unlessGone(() =>
      markedPages(async (Marker) => {
        const answer = await this.#caller.call(describeListeners, { LoadBalancerArn: loadBalancer, PageSize: pageSize, Marker }, ask);
        return { items: answer.Listeners ?? [], next: answer.NextMarker };
      }),
    );
    return listeners ?? [];
  }

  async attributes(loadBalancer: string, ask: Ask): Promise<Readonly<Record<string, string>>> {
    const answer = await unlessGone(() => this.#caller.call(describeLoadBalancerAttributes, { LoadBalancerArn: loadBalancer }, ask));
    return keyed(answer?.Attributes);
  }

  async targetGroupAttributes(group: string, ask: Ask): Promise<Readonly<Record<string, string>>> {
    const answer = await unlessGone(() => this.#caller.call(describeTargetGroupAttributes, { TargetGroupArn: group }, ask));
    return keyed(answer?.Attributes);
  }

  async targetHealth(group: string, ask: Ask): Promise<readonly TargetHealthDescription[]> {
    const answer = await unlessGone(() => this.#caller.call(describeTargetHealth, { TargetGroupArn: group }, ask));
    return answer?.TargetHealthDescriptions ?? [];
  }

  /** The tags of a load balancer, listener or target group; undefined when there is no such thing. */
  tags(arn: string, ask: Ask): Promise<Tags | undefined> {
    return unlessGone(() => this.#tags.get({ arn, cause: ask.cause }, ask.urgency ?? "background", ask.signal));
  }
}

async function markedPages<T>(
  page: (marker: string | undefined) => Promise<{ readonly items: readonly T[]; readonly next: string | undefined }>,
): Promise<T[]> {
  const all: T[] = [];
  let marker: string | undefined;
  do {
    const { items, next } = await page(marker);
    all.push(...items);
    marker = next || undefined;
  } while (marker !== undefined);
  return all;
}

function keyed(attributes: readonly { readonly Key?: string; readonly Value?: string }[] | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries((attributes ?? []).map(({ Key = "", Value = "" }) => [Key, Value]));
}
