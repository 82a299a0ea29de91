/** How the API server is reached and how we prove who we are. */
import type { TlsOptions } from "../../runtime/http.ts";
import type { Clock, World } from "../../runtime/world.ts";

/** What one connection and one request carry. */
export interface Access {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsOptions;
}

/** An API server and the right to talk to it. */
export interface KubeConfig {
  readonly server: URL;
  /** Where this came from, for messages: `kubeconfig /etc/fairlead/config, context admin`. */
  readonly origin: string;
  /** What holds at this moment: tokens and certificates rotate, so this is asked before every request. */
  access(signal: AbortSignal): Promise<Access>;
  /** The server answered 401: whatever is remembered is worth nothing, get it anew. */
  refused(): void;
}

/** The configuration is unusable; the message names the file, the key and the remedy. */
export class KubeConfigError extends Error {
  override readonly name = "KubeConfigError";
}

/** Rotated files are seen within this time: kubelet replaces a projected token long before the old one ends. */
const rereadAfterMs = 60_000;

/** A text file that others rotate: read again once a minute, and at once after `forget`. */
export class RotatedFile {
  readonly #world: World;
  readonly #path: string;
  readonly #use: string;
  #text: string | undefined;
  #readAt = 0;
  #stale = true;

  /** `use` says what the file is for: `users[0].user.tokenFile of kubeconfig /etc/k`. */
  constructor(world: World, path: string, use: string) {
    this.#world = world;
    this.#path = path;
    this.#use = use;
  }

  async read(): Promise<string> {
    const { clock } = this.#world;
    if (!this.#stale && this.#text !== undefined && clock.monotonic() - this.#readAt < rereadAfterMs) return this.#text;
    try {
      this.#text = Buffer.from(await this.#world.files.read(this.#path)).toString("utf8");
      this.#readAt = clock.monotonic();
      this.#stale = false;
    } catch (cause) {
      // A file that is being replaced may be missing for a moment; what was read before may well still hold.
      if (this.#text === undefined) {
        throw new KubeConfigError(
          `cannot read ${this.#path}, named by ${this.#use}: ${codeOf(cause)}; check the path and its permissions`,
          {
            cause,
          },
        );
      }
    }
    return this.#text;
  }

  forget(): void {
    this.#stale = true;
  }
}

/** A text that is given outright, or in a file. */
export type Text = { readonly given: string } | { readonly file: RotatedFile };

/** The text as it is now. */
export async function textOf(text: Text): Promise<string> {
  return "given" in text ? text.given : text.file.read();
}

interface Renewal<T> {
  readonly value: T;
  readonly expiresAtMs: number;
}

/** Keeps the result of `make` until it expires (wall clock) or is forgotten; callers at the same moment share one making. */
export class Renewed<T> {
  readonly #clock: Clock;
  readonly #make: (signal: AbortSignal) => Promise<Renewal<T>>;
  #held: Renewal<T> | undefined;
  #making: { readonly result: Promise<Renewal<T>>; readonly signal: AbortSignal } | undefined;

  constructor(clock: Clock, make: (signal: AbortSignal) => Promise<Renewal<T>>) {
    this.#clock = clock;
    this.#make = make;
  }

  async get(signal: AbortSignal): Promise<T> {
    for (;;) {
      if (this.#held !== undefined && this.#clock.now() < this.#held.expiresAtMs) return this.#held.value;
      this.#making ??= { result: this.#make(signal), signal };
      const making = this.#making;
      try {
        const made = await making.result;
        if (this.#making === making) this.#held = made;
        return made.value;
      } catch (error) {
        // Whoever began it gave up; that is no answer to those who still wait.
        if (signal.aborted || !making.signal.aborted) throw error;
      } finally {
        if (this.#making === making) this.#making = undefined;
      }
    }
  }

  forget(): void {
    this.#held = undefined;
  }
}

/** The system's code of a failure (`ENOENT`), which unlike its message holds nothing but that. */
export function codeOf(error: unknown): string {
  if (typeof error === "object" && error !== null && "code" in error && typeof error.code === "string") return error.code;
  return error instanceof Error ? error.message : "unknown error";
}
