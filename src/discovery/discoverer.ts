/** The cycles of discovery: four steps in a fixed order, of which none stands in the way of the next. */
import { sleep } from "../runtime/world.ts";
import { publishCatalog } from "./catalog-step.ts";
import { ConditionsStep } from "./conditions-step.ts";
import type { DiscoveryContext } from "./context.ts";
import { publishData } from "./data-step.ts";
import { reportDisks } from "./disks-step.ts";
import { RetriesExhausted } from "./retry.ts";

interface Step {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

export class Discoverer {
  readonly #context: DiscoveryContext;
  readonly #steps: readonly Step[];
  /** Steps whose last try could not be brought to the cluster. */
  readonly #unwritten = new Set<string>();

  constructor(context: DiscoveryContext) {
    this.#context = context;
    this.#steps = [
      new ConditionsStep(context),
      { name: "instance types", run: (signal) => publishCatalog(context, signal) },
      { name: "discovery data", run: (signal) => publishData(context, signal) },
      { name: "orphaned disks", run: (signal) => reportDisks(context, signal) },
    ];
  }

  /** What could not be brought to the cluster when it was last tried, for the probe; undefined when everything could. */
  problem(): string | undefined {
    return this.#unwritten.size === 0 ? undefined : `not written to the cluster: ${[...this.#unwritten].join(", ")}`;
  }

  /** One cycle. Rejects only when the signal aborts. */
  async cycle(signal: AbortSignal): Promise<void> {
    const { log } = this.#context.host;
    log.info("Start discovery");
    for (const step of this.#steps) {
      log.info(`Start ${step.name}`);
      try {
        await step.run(signal);
        this.#unwritten.delete(step.name);
        log.info(`Finish ${step.name}`);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof RetriesExhausted) this.#unwritten.add(step.name);
        else this.#unwritten.delete(step.name);
        log.error(`Finish ${step.name}: it failed and is tried again in the next cycle`, { error });
      }
    }
    log.info("Finish discovery");
  }

  /** A cycle at once, then one in every period, from start to start. Periods that pass during a cycle are one. Rejects when the signal aborts. */
  async run(periodMs: number, signal: AbortSignal): Promise<never> {
    const { clock } = this.#context.host.world;
    for (let due = clock.monotonic() + periodMs; ; ) {
      await this.cycle(signal);
      const now = clock.monotonic();
      if (now < due) await sleep(clock, due - now, signal);
      while (due <= clock.monotonic()) due += periodMs;
    }
  }
}
