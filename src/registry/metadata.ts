/** The instance metadata service, version 2 only: the instance's role, and its region. */

import type { Transport } from "../runtime/http.ts";
import { messageOf } from "../runtime/message-of.ts";
import { wholeAnswer } from "../runtime/whole-answer.ts";
import { sleep, TimedOut } from "../runtime/world.ts";
import type { Caller } from "./call.ts";

/** Where the metadata service is; undefined when the environment switches it off. */
export function metadataEndpoint(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  if (environment.AWS_EC2_METADATA_DISABLED?.toLowerCase() === "true") return undefined;
  const given = environment.AWS_EC2_METADATA_SERVICE_ENDPOINT;
  if (given) return given.replace(/\/+$/, "");
  const isIPv6 = environment.AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE?.toLowerCase() === "ipv6";
  return isIPv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254";
}

/** One conversation with the metadata service: the session token is fetched once. */
export interface Metadata {
  get(path: string): Promise<string>;
}

/** Opens a conversation; nothing is sent before the first question. */
export function openMetadata(endpoint: string, direct: Transport, caller: Caller): Metadata {
  let token: Promise<string> | undefined;
  const ask = (method: string, path: string, headers: Record<string, string>) =>
    fetchText(direct, caller, method, new URL(endpoint + path), headers, `instance metadata ${path}`);
  return {
    async get(path) {
      token ??= ask("PUT", "/latest/api/token", { "x-aws-ec2-metadata-token-ttl-seconds": "60" });
      return await ask("GET", path, { "x-aws-ec2-metadata-token": await token });
    },
  };
}

const attemptLimitMs = 2_000;

/** The text at a link-local or container endpoint. Short attempts: these answer from the same machine or not at all. */
export async function fetchText(
  send: Transport,
  caller: Caller,
  method: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  what: string,
): Promise<string> {
  const { world, deadline } = caller;
  for (let attempt = 1; ; attempt++) {
    try {
      const limits = { clock: world.clock, limitMs: attemptLimitMs, what, signal: deadline };
      const response = await wholeAnswer(send, { method, url, headers }, limits);
      if (response.status !== 200) throw new EndpointRefusal(`${what}: HTTP status ${response.status}`, response.status);
      return response.body;
    } catch (error) {
      deadline.throwIfAborted();
      const final = error instanceof EndpointRefusal && error.status < 500 && error.status !== 429;
      if (final || attempt >= caller.maxAttempts) {
        throw error instanceof EndpointRefusal || error instanceof TimedOut
          ? error
          : new Error(`${what}: ${messageOf(error)}`, { cause: error });
      }
      await sleep(world.clock, 50 + world.random.number() * 200 * attempt, deadline);
    }
  }
}

class EndpointRefusal extends Error {
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}
