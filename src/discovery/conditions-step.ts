/** Step A: what the account must allow is probed, and what it refuses is published. */
import type { Ask } from "../aws/ask.ts";
import { describeAddressesAttribute, describeInstanceTopology } from "../aws/ec2-actions.ts";
import { configMaps } from "../kube/builtin.ts";
import { messageOf } from "../runtime/message-of.ts";
import {
  type CloudCondition,
  conditionsText,
  type Probe,
  probes,
  readConditions,
  unmetConditions,
  type Verdict,
  type Verdicts,
  verdictOf,
} from "./conditions.ts";
import { askAws, type DiscoveryContext, fetchIfThere, getIfThere, publish } from "./context.ts";
import { conditionsKey, conditionsMap, labels } from "./objects.ts";

const actions = { DescribeAddressesAttribute: describeAddressesAttribute, DescribeInstanceTopology: describeInstanceTopology };

/** Remembers what was published last, for answers that say nothing. */
export class ConditionsStep {
  readonly name = "cloud conditions";
  readonly #context: DiscoveryContext;
  #before: readonly CloudCondition[] | undefined;

  constructor(context: DiscoveryContext) {
    this.#context = context;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { metrics } = this.#context;
    const verdicts = await this.#probe(signal);
    const isUnclear = Object.values(verdicts).includes("unknown");
    metrics.read("cloud_conditions", isUnclear);
    if (isUnclear) this.#before ??= await this.#published(signal);
    const unmet = unmetConditions(verdicts, this.#before ?? []);
    this.#before = unmet;
    metrics.unmet(unmet);
    await this.#publish(unmet, signal);
  }

  async #probe(signal: AbortSignal): Promise<Verdicts> {
    const verdicts: Partial<Record<Probe, Verdict>> = {};
    for (const probe of probes) {
      verdicts[probe] = await askAws(this.#context, "cloud_conditions", signal, (ask) => this.#ask(probe, ask));
    }
    return verdicts as Verdicts;
  }

  async #ask(probe: Probe, ask: Ask): Promise<Verdict> {
    const { cloud, host } = this.#context;
    const error = await cloud.call(actions[probe], { DryRun: true }, ask).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    ask.signal.throwIfAborted();
    const verdict = verdictOf(probe, error);
    if (verdict === "unsupported") {
      host.log.warn(`${probe} is not offered in this region; nothing is required of it`, { region: cloud.region, error: messageOf(error) });
    } else if (verdict === "denied") {
      host.log.warn(`${probe} is not allowed`, { error: messageOf(error) });
    } else if (verdict === "unknown") {
      host.log.error(`whether ${probe} is allowed cannot be told; what was known stays`, { error });
    }
    return verdict;
  }

  async #published(signal: AbortSignal): Promise<readonly CloudCondition[] | undefined> {
    const stored = await fetchIfThere(this.#context, configMaps, conditionsMap, signal);
    return readConditions(stored?.data?.[conditionsKey]);
  }

  async #publish(unmet: readonly CloudCondition[], signal: AbortSignal): Promise<void> {
    const { kube } = this.#context;
    const data = { [conditionsKey]: conditionsText(unmet) };
    await publish(this.#context, "cloud_conditions", `write ConfigMap ${conditionsMap.name}`, signal, async (inner) => {
      const stored = await getIfThere(kube, configMaps, conditionsMap, inner);
      if (stored === undefined) {
        // An empty one is never made: its absence says the same.
        if (unmet.length > 0) await kube.create(configMaps, { metadata: { ...conditionsMap, labels }, data }, { signal: inner });
        return;
      }
      const published = readConditions(stored.data?.[conditionsKey]);
      if (published !== undefined && conditionsText(published) === conditionsText(unmet)) return;
      await kube.patch(configMaps, conditionsMap, { merge: { data } }, { signal: inner });
    });
  }
}
