/** From settings to a cloud this process knows its place in. */

import type { Cloud, Clouds } from "../aws/cloud.ts";
import { MetadataUnavailable } from "../aws/metadata.ts";
import { type AwsSettings, SettingsInvalid } from "../aws/settings.ts";
import { ClusterIdInvalid } from "../identity/cluster-id.ts";
import { identifySelf, type Self } from "../identity/self.ts";
import type { HealthCheck } from "../runtime/health.ts";
import type { Host } from "../runtime/host.ts";
import { messageOf } from "../runtime/message-of.ts";
import { jittered, sleep } from "../runtime/world.ts";

const firstPauseMs = 1_000;
const maxPauseMs = 30_000;

/**
 * Finds the region, this process's place in it and the cluster's id. Trouble that may pass (metadata service, network,
 * credentials, permissions) is said and waited out; `check` tells it to `/readyz` meanwhile. Trouble that cannot is thrown.
 */
export class CloudOpening {
  readonly check: HealthCheck = { name: "cloud", probes: ["readyz"], problem: () => this.#problem };
  readonly #host: Host;
  readonly #clouds: Clouds;
  readonly #settings: AwsSettings;
  readonly #self: Self | undefined;
  #problem: string | undefined = "AWS has not been contacted yet";

  /** With `self` nobody is asked where this process runs. */
  constructor(host: Host, clouds: Clouds, settings: AwsSettings, self?: Self) {
    this.#host = host;
    this.#clouds = clouds;
    this.#settings = settings;
    this.#self = self;
  }

  async open(signal: AbortSignal): Promise<{ readonly cloud: Cloud; readonly self: Self }> {
    const { clock, random } = this.#host.world;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      try {
        const cloud = await this.#clouds.home(signal);
        const self = this.#self ?? (await identifySelf(this.#settings, this.#clouds, { cause: "startup", signal, urgency: "user" }));
        this.#problem = undefined;
        return { cloud, self };
      } catch (error) {
        signal.throwIfAborted();
        if (this.#willNotPass(error)) throw error;
        this.#problem = messageOf(error);
        const retryInMs = Math.round(jittered(random, pauseMs, 0.5));
        this.#host.log.error("AWS cannot be used yet; retrying", { error, retryInMs });
        await sleep(clock, retryInMs, signal);
      }
    }
  }

  /** Contradictions in what is configured or tagged, and a metadata service that is switched off but needed. */
  #willNotPass(error: unknown): boolean {
    if (error instanceof SettingsInvalid || error instanceof ClusterIdInvalid) return true;
    const off = this.#host.world.environment.AWS_EC2_METADATA_DISABLED?.toLowerCase() === "true";
    return off && error instanceof Error && error.cause instanceof MetadataUnavailable;
  }
}
