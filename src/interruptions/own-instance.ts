/** What the metadata service tells of the machine that a handler runs on, once, for the annotations of its Events. */
import type { Metadata } from "../aws/metadata.ts";
import type { Host } from "../runtime/host.ts";
import { sleep } from "../runtime/world.ts";
import type { Annotations } from "./event-annotations.ts";
import { type Fields, objectOf, text } from "./json-fields.ts";

const documentPath = "dynamic/instance-identity/document";
/** By annotation: where its value is. */
const paths = {
  "instance-life-cycle": "meta-data/instance-life-cycle",
  "local-hostname": "meta-data/local-hostname",
  "public-hostname": "meta-data/public-hostname",
  "public-ipv4": "meta-data/public-ipv4",
} as const;
/** Where parts of the identity document are by themselves. */
const singlePaths = {
  "availability-zone": "meta-data/placement/availability-zone",
  "instance-id": "meta-data/instance-id",
  "instance-type": "meta-data/instance-type",
  "local-ipv4": "meta-data/local-ipv4",
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
    const document = objectOf((await this.#metadata.get(documentPath, signal)) ?? "");
    const known = document === undefined ? await this.#single(signal) : fromDocument(document);
    return { ...known, ...(await this.#at(paths, signal)) };
  }

  /** In the place of a document that cannot be read. */
  async #single(signal: AbortSignal): Promise<Annotations> {
    const read = await this.#at(singlePaths, signal);
    return { "account-id": "", ...read, region: (read["availability-zone"] ?? "").slice(0, -1) };
  }

  /** What is not there is empty. */
  async #at(places: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Annotations> {
    const read = Object.entries(places).map(
      async ([name, path]) => [name, ((await this.#metadata.get(path, signal)) ?? "").trim()] as const,
    );
    return Object.fromEntries(await Promise.all(read));
  }
}

function fromDocument(document: Fields): Annotations {
  return Object.fromEntries(Object.entries(documentNames).map(([annotation, name]) => [annotation, text(document, name)]));
}
