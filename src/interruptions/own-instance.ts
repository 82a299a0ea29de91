/** What the metadata service tells of the machine that a handler runs on, once, for the annotations of its Events. */
import type { Metadata } from "../aws/metadata.ts";
import type { Host } from "../runtime/host.ts";
import { sleep } from "../runtime/world.ts";
import type { Annotations } from "./event-annotations.ts";
import { objectOf, text } from "./json-fields.ts";

const documentPath = "dynamic/instance-identity/document";
/** By annotation: where its value is. What is not there is empty. */
const paths = {
  "instance-life-cycle": "meta-data/instance-life-cycle",
  "local-hostname": "meta-data/local-hostname",
  "public-hostname": "meta-data/public-hostname",
  "public-ipv4": "meta-data/public-ipv4",
} as const;
/** By annotation: its name in the identity document. */
const documentNames = {
  "account-id": "accountId",
  "availability-zone": "availabilityZone",
  "instance-id": "instanceId",
  "instance-type": "instanceType",
  "local-ipv4": "privateIp",
  region: "region",
} as const;
const retryMs = 30_000;

export class OwnInstance {
  readonly #host: Host;
  readonly #metadata: Pick<Metadata, "get">;
  #annotations: Annotations = {};

  constructor(host: Host, metadata: Pick<Metadata, "get">) {
    this.#host = host;
    this.#metadata = metadata;
  }

  /** As far as it is known. */
  get annotations(): Annotations {
    return this.#annotations;
  }

  /** Asks until everything is known, or the signal aborts. */
  async learn(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#annotations = await this.#ask(signal);
        this.#host.log.info("Startup Metadata Retrieved", { metadata: this.#annotations });
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#host.log.warn("the metadata of this machine cannot be read; Events say less of it", { error });
      }
      await sleep(this.#host.world.clock, retryMs, signal).catch(() => {});
    }
  }

  async #ask(signal: AbortSignal): Promise<Annotations> {
    const document = objectOf((await this.#metadata.get(documentPath, signal)) ?? "") ?? {};
    const named = Object.entries(documentNames).map(([annotation, name]) => [annotation, text(document, name)] as const);
    const read = await Promise.all(
      Object.entries(paths).map(
        async ([annotation, path]) => [annotation, ((await this.#metadata.get(path, signal)) ?? "").trim()] as const,
      ),
    );
    return Object.fromEntries([...named, ...read]);
  }
}
