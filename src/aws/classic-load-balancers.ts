/** Classic load balancers, as AWS tells of them. */
import type { InstanceState, LoadBalancerAttributes, LoadBalancerDescription } from "@aws-sdk/client-elastic-load-balancing";
import type { Clock } from "../runtime/world.ts";
import { type Ask, joinedCause } from "./ask.ts";
import type { Caller } from "./caller.ts";
import { Coalescer } from "./coalescer.ts";
import { describeInstanceHealth, describeLoadBalancerAttributes, describeLoadBalancers, describeTags } from "./elb-actions.ts";
import { isAwsError } from "./errors.ts";
import type { Tags } from "./instance.ts";

/** AWS's limit of names in one description of tags. */
const namesPerCall = 20;
const pageSize = 400;

interface Wanted {
  readonly name: string;
  readonly cause: string;
}

export class ClassicLoadBalancers {
  readonly #caller: Caller;
  readonly #tags: Coalescer<Wanted, Tags>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#tags = new Coalescer({
      clock,
      most: namesPerCall,
      keyOf: ({ name }) => name,
      // One that is gone fails the whole call and is named in the refusal.
      blame: (error, names) => (isAwsError(error, "not-found") ? names.filter((name) => error.detail.includes(name)) : undefined),
      fetch: async (items, options) => {
        const input = { LoadBalancerNames: items.map(({ name }) => name) };
        const answer = await caller.call(describeTags, input, { ...options, cause: joinedCause(items) });
        return new Map(
          (answer.TagDescriptions ?? []).map(({ LoadBalancerName = "", Tags = [] }) => [
            LoadBalancerName,
            Object.fromEntries(Tags.map(({ Key = "", Value = "" }) => [Key, Value])),
          ]),
        );
      },
    });
  }

  /** All of the account and region. */
  async list(ask: Ask): Promise<readonly LoadBalancerDescription[]> {
    const all: LoadBalancerDescription[] = [];
    let marker: string | undefined;
    do {
      const answer = await this.#caller.call(describeLoadBalancers, { PageSize: pageSize, ...(marker && { Marker: marker }) }, ask);
      all.push(...(answer.LoadBalancerDescriptions ?? []));
      marker = answer.NextMarker || undefined;
    } while (marker !== undefined);
    return all;
  }

  /** The one of this name, as it is now. */
  async byName(name: string, ask: Ask): Promise<LoadBalancerDescription | undefined> {
    return unlessGone(async () => {
      const answer = await this.#caller.call(describeLoadBalancers, { LoadBalancerNames: [name] }, ask);
      return answer.LoadBalancerDescriptions?.[0];
    });
  }

  attributes(name: string, ask: Ask): Promise<LoadBalancerAttributes | undefined> {
    return unlessGone(async () => {
      const answer = await this.#caller.call(describeLoadBalancerAttributes, { LoadBalancerName: name }, ask);
      return answer.LoadBalancerAttributes;
    });
  }

  /** How each registered instance does in the eyes of the load balancer. */
  async health(name: string, ask: Ask): Promise<readonly InstanceState[]> {
    const answer = await unlessGone(() => this.#caller.call(describeInstanceHealth, { LoadBalancerName: name }, ask));
    return answer?.InstanceStates ?? [];
  }

  /** Undefined when there is no such load balancer. */
  tags(name: string, ask: Ask): Promise<Tags | undefined> {
    return unlessGone(() => this.#tags.get({ name, cause: ask.cause }, ask.urgency ?? "background", ask.signal));
  }
}

/** Undefined where AWS says that it knows no such thing. */
export async function unlessGone<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isAwsError(error, "not-found")) return undefined;
    throw error;
  }
}
