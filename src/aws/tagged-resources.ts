/** What carries a tag, a hundred things a call, with all tags of each. AWS needs a while to know of what has changed. */
import type { Ask } from "./ask.ts";
import { keyed, markedPages } from "./balancer-reads.ts";
import type { Caller } from "./caller.ts";
import type { Tags } from "./instance.ts";
import { getResources } from "./tagging-actions.ts";

export class TaggedResources {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Everything of a service (`elasticloadbalancing`) that carries the tag, by ARN. */
  async list(service: string, tag: { readonly key: string; readonly value: string }, ask: Ask): Promise<ReadonlyMap<string, Tags>> {
    const all = await markedPages(async (PaginationToken) => {
      const input = {
        ResourceTypeFilters: [service],
        TagFilters: [{ Key: tag.key, Values: [tag.value] }],
        ResourcesPerPage: 100,
        ...(PaginationToken && { PaginationToken }),
      };
      const answer = await this.#caller.call(getResources, input, ask);
      return { items: answer.ResourceTagMappingList ?? [], next: answer.PaginationToken };
    });
    return new Map(all.map(({ ResourceARN: arn = "", Tags: tags }) => [arn, keyed(tags)]));
  }
}
