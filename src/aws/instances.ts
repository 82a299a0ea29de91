/** EC2 instances: by id and by name, joined and remembered, or all of them. */
import type { Clock } from "../runtime/world.ts";
import { neverAborted, unlessAborted } from "./abort.ts";
import { type Ask, joinedCause } from "./ask.ts";
import { Cache } from "./cache.ts";
import type { Caller } from "./caller.ts";
import { Coalescer } from "./coalescer.ts";
import { describeInstances } from "./ec2-actions.ts";
import { idsInError } from "./error-ids.ts";
import { isAwsError } from "./errors.ts";
import { groupByEach } from "./grouped.ts";
import { type Instance, type InstanceState, instancesPage } from "./instance.ts";
import { eachPage, scanPages } from "./pages.ts";

/** What is known of one id. Only `not-found` says that AWS does not know it: it was asked for by id, and named in the refusal. */
export type InstanceLookup =
  | { readonly kind: "found"; readonly instance: Instance }
  | { readonly kind: "not-found" }
  /** Missing from an answer that should have it. Proves nothing. */
  | { readonly kind: "absent" }
  /** Not the form of an instance id: AWS was not asked. */
  | { readonly kind: "malformed" };

export interface Filter {
  readonly name: string;
  readonly values: readonly string[];
}

/** What an instance can be looked up by, besides its id, and where that is found in the answer. */
const lookupFilters = {
  "private-dns-name": (instance: Instance) => [instance.privateDnsName],
  "network-interface.addresses.private-ip-address": (instance: Instance) =>
    instance.interfaces.flatMap((each) => each.privateAddresses.map(({ ip }) => ip)),
  "network-interface.ipv6-addresses.ipv6-address": (instance: Instance) => instance.interfaces.flatMap((each) => each.ipv6Addresses),
  "tag:Name": (instance: Instance) => [instance.tags.Name],
};
export type LookupFilter = keyof typeof lookupFilters;

/** AWS accepts 1,000 ids a call; fewer keep one answer at 2 MB and let several be read at once. */
const idsPerCall = 200;
/** AWS's limit of values in one filter. */
const valuesPerFilter = 200;
const notTerminated: readonly InstanceState[] = ["pending", "running", "shutting-down", "stopping", "stopped"];

interface Wanted {
  readonly value: string;
  readonly cause: string;
}

export class Instances {
  readonly #caller: Caller;
  readonly #clock: Clock;
  readonly #cache: Cache<InstanceLookup>;
  readonly #byId: Coalescer<Wanted, Instance>;
  readonly #byFilter: Coalescer<Wanted & { readonly filter: LookupFilter }, readonly Instance[]>;

  constructor(caller: Caller, clock: Clock) {
    this.#caller = caller;
    this.#clock = clock;
    this.#cache = new Cache({ clock, most: 20_000, absent: { is: ({ kind }) => kind !== "found", ageMs: 1_000 } });
    this.#byId = new Coalescer({
      clock,
      most: idsPerCall,
      keyOf: ({ value }) => value,
      keysInError: idsInError,
      fetch: async (items, options) => {
        const input = { InstanceIds: items.map(({ value }) => value) };
        const found = await scanPages(caller, describeInstances, input, instancesPage, { ...options, cause: joinedCause(items) });
        return new Map(found.map((instance) => [instance.id, instance]));
      },
    });
    this.#byFilter = new Coalescer({
      clock,
      most: valuesPerFilter,
      keyOf: ({ value }) => value,
      groupOf: ({ filter }) => filter,
      fetch: async (items, options) => {
        const { filter } = items[0]!;
        const filters = [
          { name: filter, values: items.map(({ value }) => value) },
          { name: "instance-state-name", values: notTerminated },
        ];
        const found = await this.list(filters, { ...options, cause: joinedCause(items) });
        return groupByEach(found, lookupFilters[filter]);
      },
    });
  }

  /** What AWS says of one instance. Rejects with `AwsError` only when nothing can be said (throttled, denied, unreachable). */
  lookup(id: string, ask: Ask): Promise<InstanceLookup> {
    if (!isInstanceId(id)) return Promise.resolve({ kind: "malformed" });
    // Shared with others who ask meanwhile, so this asker's giving up must not end it.
    const load = () => this.#lookup(id, ask);
    return unlessAborted(ask.signal, this.#cache.get(id, ask.maxAgeMs ?? 0, load, ask.urgency));
  }

  /** The instances, terminated ones left out, that carry this private name or address. */
  async lookupBy(filter: LookupFilter, value: string, ask: Ask): Promise<readonly Instance[]> {
    // AWS would take these for wildcards and answer for others.
    if (value === "" || /[*?]/.test(value)) return [];
    return (await this.#byFilter.get({ filter, value, cause: ask.cause }, ask.urgency ?? "background", ask.signal)) ?? [];
  }

  /** Every instance that matches the filters. */
  async list(filters: readonly Filter[], ask: Ask): Promise<readonly Instance[]> {
    const all: Instance[] = [];
    for await (const page of this.pages(filters, ask)) for (const instance of page) all.push(instance);
    return all;
  }

  /** The same, one page after the other, so that they need not all be held. What is seen is remembered. */
  async *pages(filters: readonly Filter[], ask: Ask, pageSize = 1000): AsyncGenerator<readonly Instance[], void, undefined> {
    const input = {
      MaxResults: pageSize,
      ...(filters.length === 0 ? {} : { Filters: filters.map(({ name, values }) => ({ Name: name, Values: [...values] })) }),
    };
    const askedAt = this.#clock.monotonic();
    for await (const page of eachPage(this.#caller, describeInstances, input, instancesPage, ask)) {
      for (const instance of page) this.#cache.offer(instance.id, { kind: "found", instance }, askedAt);
      yield page;
    }
  }

  /** These were written to: what is remembered of them may be wrong. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.#cache.invalidate(id);
  }

  async #lookup(id: string, ask: Ask): Promise<InstanceLookup> {
    try {
      const instance = await this.#byId.get({ value: id, cause: ask.cause }, ask.urgency ?? "background", neverAborted);
      return instance === undefined ? { kind: "absent" } : { kind: "found", instance };
    } catch (error) {
      if (isAwsError(error, "not-found") && idsInError(error, [id])?.includes(id)) return { kind: "not-found" };
      if (isAwsError(error, "invalid") && error.code === "InvalidInstanceID.Malformed") return { kind: "malformed" };
      throw error;
    }
  }
}

/** Whether a text has the form of an instance id; AWS refuses a whole request for one that has not. */
export function isInstanceId(id: string): boolean {
  return /^i-([0-9a-f]{8}|[0-9a-f]{17})$/.test(id);
}
