/** Refreshes the addresses of all Nodes every few minutes: few calls, no write where nothing changed. */
import type { Ask } from "../aws/ask.ts";
import { claimOf, type SeenNode } from "../identity/node-view.ts";
import { patchNodeStatus } from "../identity/node-writes.ts";
import { clusterTagFilter } from "../identity/ownership.ts";
import { again, type Controller, type Outcome, type Source } from "../runtime/controller.ts";
import { forEachConcurrently } from "../runtime/for-each-concurrently.ts";
import { rethrowIfStopped } from "../runtime/gate.ts";
import { addressChange, type IpFamily } from "./addresses.ts";
import type { Identities } from "./identify.ts";
import { addressesFor } from "./initialise-plan.ts";
import { addressesOf } from "./machine.ts";
import { OnceRecorder } from "./once-recorder.ts";
import type { NodeParts } from "./parts.ts";
import { isUninitialized } from "./taints.ts";

export interface RefreshOptions extends NodeParts {
  readonly identities: Identities;
  readonly ipFamilies: readonly IpFamily[];
  readonly periodMs: number;
  /** Nodes in work at once. */
  readonly concurrency: number;
}

/** One key stands for all Nodes: it is due at the start, and a period after the end of each pass. */
export function addressRefresh(options: RefreshOptions): Controller {
  const passes = new RefreshPasses(options);
  return { name: "node-addresses", concurrency: 1, sources: [atStart(options)], reconcile: (_, signal) => passes.run(signal) };
}

function atStart({ nodes }: RefreshOptions): Source {
  return {
    name: "all nodes",
    async start(enqueue, signal) {
      const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      await Promise.race([nodes.synced, stopped]);
      enqueue("all", "background");
    },
  };
}

/** For fewer Nodes than this their ids are asked for; for more, all instances of the cluster cost less. */
const fewNodes = 200;

class RefreshPasses {
  readonly #options: RefreshOptions;
  readonly #onceRecorder: OnceRecorder;

  constructor(options: RefreshOptions) {
    this.#options = options;
    this.#onceRecorder = new OnceRecorder(options.recorder);
  }

  async run(signal: AbortSignal): Promise<Outcome> {
    const { nodes, host, periodMs, concurrency } = this.#options;
    const { clock } = host.world;
    const startedAt = clock.monotonic();
    const due = nodes.list().filter((node) => !isUninitialized(node) && node.metadata.deletionTimestamp === undefined);
    const failures = new Failures();
    // Whatever this pass has asked is fresh enough for it. A signal for each: one with a thousand waiters is slow to join and leave.
    const ask = (): Ask => ({
      cause: "address refresh",
      signal: AbortSignal.any([signal]),
      maxAgeMs: clock.monotonic() - startedAt + 1_000,
    });
    let written = 0;
    try {
      if (due.filter((node) => claimOf(node).kind === "instance").length > fewNodes) await this.#lookAtAll(ask());
      await forEachConcurrently(clock, due, concurrency, async (node) => {
        try {
          if (await this.#refresh(node, ask())) written++;
        } catch (error) {
          rethrowIfStopped(error, signal);
          failures.add(node, error);
        }
      });
    } catch (error) {
      rethrowIfStopped(error, signal);
      host.log.error("the addresses of nodes cannot be refreshed", { error, retryInMs: periodMs });
    }
    failures.tell((message, names) =>
      host.log.warn("addresses are not refreshed", { cause: message, nodes: names.length, some: names.slice(0, 5) }),
    );
    host.log.v(2)?.info("addresses refreshed", { nodes: due.length, written, ms: Math.round(clock.monotonic() - startedAt) });
    return again(periodMs, "addresses are refreshed periodically");
  }

  /** The store remembers every instance of every page, so that the Nodes find theirs there. */
  async #lookAtAll(ask: Ask): Promise<void> {
    const { cloud, self } = this.#options;
    const states = ["pending", "running", "stopping", "stopped", "shutting-down"];
    const filters = [clusterTagFilter(self.cluster), { name: "instance-state-name", values: states }];
    for await (const _ of cloud.instances.pages(filters, ask));
  }

  /** Whether the addresses of this Node had to be written. */
  async #refresh(node: SeenNode, ask: Ask): Promise<boolean> {
    const { identities, ipFamilies, kube } = this.#options;
    const identified = await identities.identify(node, ask);
    if (identified.kind === "unidentified") {
      const { reason, message } = identified;
      if (reason === "InstanceClaimedTwice" || reason === "InstanceOfOtherVPC") this.#onceRecorder.record(node, reason, message, reason);
      return false;
    }
    const desired = addressesFor(node, addressesOf(identified.machine, ipFamilies));
    const addresses = addressChange(node.addresses, desired);
    return addresses !== undefined && (await patchNodeStatus(kube, node, { addresses }, ask.signal));
  }
}

/** What went wrong in one pass: once for each cause, not once for each Node. */
class Failures {
  readonly #byMessage = new Map<string, string[]>();

  add(node: SeenNode, error: unknown): void {
    const { message } = error as Error;
    const names = this.#byMessage.get(message);
    if (names === undefined) this.#byMessage.set(message, [node.metadata.name]);
    else names.push(node.metadata.name);
  }

  tell(say: (message: string, names: readonly string[]) => void): void {
    for (const [message, names] of [...this.#byMessage].slice(0, maxCauses)) say(message, names);
  }
}

const maxCauses = 20;
