/** QUIC server ids that pods are given when they are created: one for each container that asks for one. */
import type { JsonPatchOperation } from "../../kube/patch.ts";
import type { World } from "../../runtime/world.ts";
import { allow, record, type Verdict } from "../admission/review.ts";
import type { Webhook } from "../admission/webhook.ts";
import { quicAnnotation } from "./quic.ts";

export interface QuicWebhookParts {
  readonly world: Pick<World, "clock" | "random">;
  /** The environment variable that an id is put into. */
  readonly variable: string;
}

export function quicWebhook({ world, variable }: QuicWebhookParts): Webhook {
  const ids = new QuicIdSource(world);
  return {
    name: "quicid.elbv2.k8s.aws",
    path: "/mutate-v1-pod-server-id",
    phase: "mutating",
    rule: { group: "", version: "v1", resource: "pods", operations: ["CREATE"] },
    answer: ({ object }) => quicInjection(object, variable, () => ids.next()),
  };
}

/** A pod that names a container which it does not have passes: its author is told. */
export function quicInjection(pod: unknown, variable: string, nextId: () => string): Verdict {
  const { metadata, spec } = record(pod);
  const asked = record(record(metadata).annotations)[quicAnnotation];
  if (typeof asked !== "string") return allow;
  const wanted = asked
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const found = containersIn(spec).filter(({ name }) => wanted.includes(name));
  const unknown = wanted.filter((name) => !found.some((container) => container.name === name));
  const patch = found
    .filter(({ env }) => !env.some((entry) => record(entry).name === variable))
    .map(({ path, env }): JsonPatchOperation => {
      const entry = { name: variable, value: nextId() };
      return env.length > 0 ? { op: "add", path: `${path}/env/-`, value: entry } : { op: "add", path: `${path}/env`, value: [entry] };
    });
  const warnings = unknown.map((name) => `annotation ${quicAnnotation} names container ${name}, which the pod does not have`);
  return { kind: "allow", patch, warnings };
}

interface FoundContainer {
  /** Where it stands in the pod. */
  readonly path: string;
  readonly name: string;
  readonly env: readonly unknown[];
}

function containersIn(spec: unknown): readonly FoundContainer[] {
  return ["containers", "initContainers"].flatMap((field) => {
    const list = record(spec)[field];
    return (Array.isArray(list) ? list : []).map((container: unknown, i) => {
      const { name, env } = record(container);
      return { path: `/spec/${field}/${i}`, name: String(name), env: Array.isArray(env) ? env : [] };
    });
  });
}

const epochMs = Date.UTC(2020, 0, 1);
const workers = 131_071;
const sequences = 127;

/**
 * Ids that no two containers share: the millisecond, who gave it, and which one within it. Every process draws its number at
 * random out of 131,071, so that none has to be kept in the cluster. A clock that goes back is not followed.
 */
export class QuicIdSource {
  readonly #world: Pick<World, "clock" | "random">;
  readonly #worker: number;
  #ms = 0;
  #sequence = 0;

  constructor(world: Pick<World, "clock" | "random">, worker = Math.floor(world.random.number() * workers)) {
    this.#world = world;
    this.#worker = worker;
  }

  /** Eight bytes in base64. */
  next(): string {
    const now = this.#world.clock.now() - epochMs;
    if (now > this.#ms) this.#begin(now);
    else if (this.#sequence < sequences) this.#sequence++;
    else this.#begin(this.#ms + 1);
    return quicIdOf(this.#ms, this.#worker, this.#sequence);
  }

  #begin(ms: number): void {
    this.#ms = ms;
    // Drawn at random, as the reference does.
    this.#sequence = Math.floor(this.#world.random.number() * sequences);
  }
}

/** Big-endian: milliseconds since 2020, 17 bits of the worker, 7 of the sequence. */
export function quicIdOf(ms: number, worker: number, sequence: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE((BigInt(ms) << 24n) | (BigInt(worker) << 7n) | BigInt(sequence));
  return bytes.toString("base64");
}
