/** How the API server is reached and how we prove who we are. */
import type { TlsOptions } from "../../runtime/http.ts";
import { type Clock, unlessAborted } from "../../runtime/world.ts";

/** What one connection and one request carry. */
export interface Access {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsOptions;
  /** What they were made of, to say which it was when the server refuses it. */
  readonly credential?: object;
}

/** An API server and the right to talk to it. */
export interface KubeConfig {
  readonly server: URL;
  /** Where this came from, for messages: `kubeconfig /etc/fairlead/config, context admin`. */
  readonly origin: string;
  /** The namespace that goes with it: the context's, or that of the pod. */
  readonly namespace?: string | undefined;
  /** Whether it is that of a kubeconfig file, as people have it, and not of the pod that this process runs in. */
  readonly fromFile?: boolean;
  /** What holds at this moment: tokens and certificates rotate, so this is asked before every request. */
  access(signal: AbortSignal): Promise<Access>;
  /** The server answered 401 to this: what it was made of is worth nothing, get it anew. */
  refused(access: Access): void;
  /** TLS failed: certificates may have been replaced since they were read. */
  tlsFailed(): void;
  /** Why what stands in the files now is not used; undefined when it is. */
  readonly concern?: string;
}

/** The configuration is unusable; the message names the file, the key and the remedy. */
export class KubeConfigError extends Error {
  override readonly name = "KubeConfigError";
}

interface Renewal<T> {
  readonly value: T;
  readonly expiresAtMs: number;
}

interface Making<T> {
  readonly result: Promise<Renewal<T>>;
  /** Of whoever began it. */
  readonly signal: AbortSignal;
}

/** Keeps the result of `make` until it expires (wall clock) or is forgotten; callers at the same moment share one making. */
export class Renewed<T> {
  readonly #clock: Clock;
  readonly #make: (signal: AbortSignal) => Promise<Renewal<T>>;
  #held: Renewal<T> | undefined;
  #making: Making<T> | undefined;

  constructor(clock: Clock, make: (signal: AbortSignal) => Promise<Renewal<T>>) {
    this.#clock = clock;
    this.#make = make;
  }

  async get(signal: AbortSignal): Promise<T> {
    for (;;) {
      if (this.#held !== undefined && this.#clock.now() < this.#held.expiresAtMs) return this.#held.value;
      this.#making ??= this.#begin(signal);
      const making = this.#making;
      try {
        // Who began it may have more time than we have.
        return (await unlessAborted(signal, making.result)).value;
      } catch (error) {
        // Whoever began it gave up; that is no answer to those who still wait.
        if (signal.aborted || !making.signal.aborted) throw error;
      }
    }
  }

  #begin(signal: AbortSignal): Making<T> {
    const result = this.#make(signal)
      .then((made) => {
        this.#held = made;
        return made;
      })
      .finally(() => {
        this.#making = undefined;
      });
    return { result, signal };
  }

  /** Drops this value; when it was replaced meanwhile, whoever used it was only late to hear of it. */
  forget(value: unknown): void {
    if (this.#held?.value === value) this.#held = undefined;
  }
}

/** The system's code of a failure (`ENOENT`), which unlike its message holds nothing but that. */
export function codeOf(error: unknown): string {
  if (typeof error === "object" && error !== null && "code" in error && typeof error.code === "string") return error.code;
  return error instanceof Error ? error.message : "unknown error";
}
