/**
 * The instance metadata service, version 2 only.
 *
 * Nothing here is fatal by itself: whoever can get the same thing elsewhere does, and only who cannot passes the error on.
 */
import type { Transport } from "../runtime/http.ts";
import { type WholeAnswer, wholeAnswer } from "../runtime/whole-answer.ts";
import { sleep, TimedOut, type World, within } from "../runtime/world.ts";
import { type AwsSettings, metadataOverride } from "./settings.ts";

/** The metadata service did not give an answer. The message says why, as far as that can be told from here. */
export class MetadataUnavailable extends Error {
  override readonly name = "MetadataUnavailable";
}

export interface InstanceIdentity {
  readonly instanceId: string;
  readonly region: string;
  readonly availabilityZone: string;
  readonly accountId: string;
}

const tokenSeconds = 300;
const ttlHeader = "x-aws-ec2-metadata-token-ttl-seconds";
const overallMs = 5_000;
const attemptMs = 1_500;
const attempts = 3;

export class Metadata {
  readonly #world: World;
  readonly #transport: Transport;
  readonly #base: string;
  #token: { readonly value: string; readonly until: number } | undefined;

  constructor(world: World, transport: Transport, settings: AwsSettings) {
    this.#world = world;
    this.#transport = transport;
    this.#base = metadataBase(settings, world.environment);
  }

  /** The text at a path below `/latest/`, or undefined when there is none. At most 5 s, whatever happens. */
  get(path: string, signal?: AbortSignal): Promise<string | undefined> {
    if (this.#world.environment.AWS_EC2_METADATA_DISABLED?.toLowerCase() === "true") {
      return Promise.reject(new MetadataUnavailable("the instance metadata service is switched off by AWS_EC2_METADATA_DISABLED"));
    }
    return within(this.#world.clock, overallMs, "instance metadata service", signal, async (limited) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#get(path, limited);
        } catch (error) {
          if (signal?.aborted) throw error;
          if (limited.aborted || attempt === attempts || error instanceof MetadataUnavailable) throw this.#explain(error);
        }
        await sleep(this.#world.clock, this.#world.random.number() * 250, limited);
      }
    });
  }

  async region(signal?: AbortSignal): Promise<string> {
    return (await this.identity(signal)).region;
  }

  async instanceId(signal?: AbortSignal): Promise<string> {
    const id = await this.get("meta-data/instance-id", signal);
    if (!id) throw new MetadataUnavailable("the instance metadata service gave no instance-id");
    return id.trim();
  }

  /** The instance identity document. */
  async identity(signal?: AbortSignal): Promise<InstanceIdentity> {
    const document = await this.get("dynamic/instance-identity/document", signal);
    let parsed: Partial<InstanceIdentity>;
    try {
      parsed = JSON.parse(document ?? "") as Partial<InstanceIdentity>;
    } catch (cause) {
      throw new MetadataUnavailable("the instance identity document is not valid JSON", { cause });
    }
    const { instanceId, region, availabilityZone = "", accountId = "" } = parsed;
    if (!instanceId || !region) throw new MetadataUnavailable("the instance identity document names no instance or no region");
    return { instanceId, region, availabilityZone, accountId };
  }

  async #get(path: string, signal: AbortSignal): Promise<string | undefined> {
    for (let renewed = false; ; renewed = true) {
      const token = await this.#validToken(signal);
      const response = await this.#send("GET", `latest/${path}`, { "x-aws-ec2-metadata-token": token }, signal);
      if (response.status === 200) return response.body;
      if (response.status === 404) return undefined;
      if (response.status !== 401 || renewed) throw new Error(`answered ${response.status} to a request for ${path}`);
      this.#token = undefined;
    }
  }

  async #validToken(signal: AbortSignal): Promise<string> {
    const now = this.#world.clock.monotonic();
    if (this.#token !== undefined && now < this.#token.until) return this.#token.value;
    let response: WholeAnswer;
    try {
      response = await this.#send("PUT", "latest/api/token", { [ttlHeader]: String(tokenSeconds) }, signal);
    } catch (cause) {
      if (cause instanceof TimedOut) throw new NoTokenAnswer("no answer", { cause });
      throw cause;
    }
    if (response.status === 403) {
      throw new MetadataUnavailable("the instance metadata service refuses tokens (403): it is turned off for this instance");
    }
    if (response.status !== 200) throw new Error(`answered ${response.status} to the token request`);
    // Renewed a while before AWS forgets it. A service that does not say how long it lasts is taken to have agreed.
    const granted = Number(response.headers[ttlHeader]);
    const seconds = Number.isInteger(granted) && granted > 0 ? Math.min(granted, tokenSeconds) : tokenSeconds;
    this.#token = { value: response.body, until: now + seconds * 800 };
    return response.body;
  }

  #send(method: string, path: string, headers: Record<string, string>, signal: AbortSignal): Promise<WholeAnswer> {
    const url = new URL(`${this.#base}/${path}`);
    const limits = { clock: this.#world.clock, limitMs: attemptMs, what: `${method} ${url.pathname}`, signal };
    return wholeAnswer(this.#transport, { method, url, headers, direct: true }, limits);
  }

  #explain(error: unknown): MetadataUnavailable {
    if (error instanceof MetadataUnavailable) return error;
    const at = `the instance metadata service at ${this.#base}`;
    if (error instanceof NoTokenAnswer) {
      return new MetadataUnavailable(
        `${at} gave no answer to the token request: inside a pod the instance's metadata hop limit of 1 causes this (raise HttpPutResponseHopLimit ` +
          "to 2, or use the host network), a network policy may block it, or this is not an EC2 instance",
        { cause: error },
      );
    }
    return new MetadataUnavailable(`${at} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

class NoTokenAnswer extends Error {}

function metadataBase(settings: AwsSettings, environment: Readonly<Record<string, string | undefined>>): string {
  const override = metadataOverride(settings.serviceOverrides)?.url.trim();
  const given = override || environment.AWS_EC2_METADATA_SERVICE_ENDPOINT;
  if (given) return given.replace(/\/+$/, "");
  const ipv6 = environment.AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE?.toLowerCase() === "ipv6";
  return ipv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254";
}
