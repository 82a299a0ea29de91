/** Where in the network an instance stands: the nodes above it, from the top of the tree down. */
import type { Clock } from "../runtime/world.ts";
import { type Ask, joinedCause } from "./ask.ts";
import type { Caller } from "./caller.ts";
import { Coalescer } from "./coalescer.ts";
import { describeInstanceTopology } from "./ec2-actions.ts";
import { idsInError } from "./error-ids.ts";

/** AWS's limit of ids in one request. */
const idsPerCall = 100;

interface Wanted {
  readonly id: string;
  readonly cause: string;
}

export class Topology {
  readonly #byId: Coalescer<Wanted, readonly string[]>;

  constructor(caller: Caller, clock: Clock) {
    this.#byId = new Coalescer({
      clock,
      most: idsPerCall,
      keyOf: ({ id }) => id,
      keysInError: idsInError,
      async fetch(items, options) {
        const nodes = new Map<string, readonly string[]>();
        let NextToken: string | undefined;
        do {
          const input = { InstanceIds: items.map(({ id }) => id), ...(NextToken === undefined ? {} : { NextToken }) };
          const answer = await caller.call(describeInstanceTopology, input, { ...options, cause: joinedCause(items) });
          for (const { InstanceId, NetworkNodes } of answer.Instances ?? []) if (InstanceId) nodes.set(InstanceId, NetworkNodes ?? []);
          NextToken = answer.NextToken || undefined;
        } while (NextToken !== undefined);
        return nodes;
      },
    });
  }

  /** The network nodes of an instance; undefined when AWS has none for it. Errors carry their class: `unsupported`, `denied`, … */
  networkNodes(id: string, ask: Ask): Promise<readonly string[] | undefined> {
    return this.#byId.get({ id, cause: ask.cause }, ask.urgency ?? "background", ask.signal);
  }
}
