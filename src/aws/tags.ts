/** Tags on EC2 resources. Those who write the same tags at the same moment share a call. */
import type { CreateTagsRequest } from "@aws-sdk/client-ec2";
import type { Clock } from "../runtime/world.ts";
import { type Ask, joinedCause } from "./ask.ts";
import type { Caller, CallOptions } from "./caller.ts";
import { Coalescer, type CoalescerOptions } from "./coalescer.ts";
import { createTags, deleteTags } from "./ec2-actions.ts";
import { idsInError } from "./error-ids.ts";
import type { Tags } from "./instance.ts";

/** AWS takes 1,000 resources a call; a smaller request is quicker to take apart when one of them is refused. */
const resourcesPerCall = 100;

interface Change {
  readonly resource: string;
  readonly tags: Tags;
  readonly cause: string;
}

export class ResourceTags {
  readonly #create: Coalescer<Change, true>;
  readonly #delete: Coalescer<Change, true>;

  /** `changed` is told which resources have other tags now. */
  constructor(caller: Caller, clock: Clock, changed: (resources: readonly string[]) => void) {
    this.#create = new Coalescer(changes(clock, changed, (input, options) => caller.call(createTags, input, options)));
    this.#delete = new Coalescer(changes(clock, changed, (input, options) => caller.call(deleteTags, input, options)));
  }

  /** Adds tags to a resource, or gives those of the same key another value. */
  async create(resource: string, tags: Tags, ask: Ask): Promise<void> {
    await this.#create.get({ resource, tags, cause: ask.cause }, ask.urgency ?? "background", ask.signal);
  }

  /** Removes tags from a resource, each only where its value is still this one. */
  async delete(resource: string, tags: Tags, ask: Ask): Promise<void> {
    await this.#delete.get({ resource, tags, cause: ask.cause }, ask.urgency ?? "background", ask.signal);
  }
}

function changes(
  clock: Clock,
  changed: (resources: readonly string[]) => void,
  send: (input: CreateTagsRequest, options: CallOptions) => Promise<unknown>,
): CoalescerOptions<Change, true> {
  return {
    clock,
    most: resourcesPerCall,
    keyOf: ({ resource }) => resource,
    groupOf: ({ tags }) => JSON.stringify(Object.entries(tags).sort(([a], [b]) => (a < b ? -1 : 1))),
    keysInError: idsInError,
    async fetch(items, options) {
      const resources = items.map(({ resource }) => resource);
      const input = { Resources: resources, Tags: Object.entries(items[0]!.tags).map(([Key, Value]) => ({ Key, Value })) };
      try {
        // The same tags twice are the same tags.
        await send(input, { ...options, cause: joinedCause(items), target: resources.join(", "), repeatable: true });
      } finally {
        changed(resources);
      }
      return new Map(resources.map((resource) => [resource, true]));
    },
  };
}
