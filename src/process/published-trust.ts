/** Whom the server of this process believes: from flags, and from the ConfigMap in which the API server publishes its own trust. */
import { type AuthenticationConfig, readAuthenticationConfig } from "../kube/authentication-config.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { RequestHeaderTrust } from "../runtime/delegated-auth.ts";
import type { Host } from "../runtime/host.ts";
import { sleep } from "../runtime/world.ts";
import type { SecurePortFlags } from "./secure-port-flags.ts";

const retryMs = 2_000;
const refreshMs = 60_000;

/** The API server's trust cannot be read, and waiting will not help. */
export class TrustUnreadable extends Error {
  override readonly name = "TrustUnreadable";
}

/** Authorities of client certificates, and the proxy that may name users; kept as fresh as their sources. */
export class PublishedTrust {
  readonly #host: Host;
  readonly #options: SecurePortFlags;
  /** Undefined when nobody can be asked. */
  readonly #client: KubeClient | undefined;
  #clientCa: string | undefined;
  #requestHeaderCa: string | undefined;
  #published: AuthenticationConfig | undefined;

  constructor(host: Host, options: SecurePortFlags, client: KubeClient | undefined) {
    this.#host = host;
    this.#options = options;
    this.#client = options["authentication-skip-lookup"] ? undefined : client;
  }

  clientAuthorities(): string | undefined {
    return this.#clientCa ?? this.#published?.clientCa;
  }

  requestHeader(): RequestHeaderTrust | undefined {
    if (this.#requestHeaderCa !== undefined) return { authorities: this.#requestHeaderCa, ...headersOf(this.#options) };
    if (!this.#published?.requestHeader) return undefined;
    const { ca, ...headers } = this.#published.requestHeader;
    return { authorities: ca, ...headers };
  }

  /** Reads the files that flags name. */
  async readFiles(): Promise<void> {
    await this.#readClientCa();
    await this.#readRequestHeaderCa();
  }

  /**
   * Reads the ConfigMap for the first time, then keeps up with it and the files until the signal aborts. Waits while the API
   * server cannot be reached; throws when it refuses, unless that is to be tolerated. A missing ConfigMap is no error: it may come.
   */
  async follow(signal: AbortSignal): Promise<void> {
    while (!(await this.#lookedUp(signal))) await sleep(this.#host.world.clock, retryMs, signal);
    void this.#keepUp(signal);
  }

  async #lookedUp(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#lookUp(signal);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (this.#options["authentication-tolerate-lookup-failure"]) {
        this.#host.log.warn("client certificates may not be recognised: the API server's CA configuration cannot be read", { error });
        return true;
      }
      if (isApiError(error, "forbidden", "unauthorized")) throw refused(error);
      this.#host.log.warn("cannot read the API server's CA configuration; retrying", { error, retryInMs: retryMs });
      return false;
    }
  }

  async #keepUp(signal: AbortSignal): Promise<void> {
    const sources = [() => this.#readClientCa(), () => this.#readRequestHeaderCa(), () => this.#lookUp(signal)];
    while (!signal.aborted) {
      await sleep(this.#host.world.clock, refreshMs, signal).catch(() => {});
      // Each by itself: one that cannot be read must not keep the others from being rotated.
      for (const read of sources) {
        if (signal.aborted) return;
        try {
          await read();
        } catch (error) {
          // What was read before stays in use.
          if (!signal.aborted) this.#host.log.v(2)?.warn("cannot read the trusted CAs again", { error });
        }
      }
    }
  }

  async #readClientCa(): Promise<void> {
    this.#clientCa = await this.#file("client-ca-file");
  }

  async #readRequestHeaderCa(): Promise<void> {
    this.#requestHeaderCa = await this.#file("requestheader-client-ca-file");
  }

  async #lookUp(signal: AbortSignal): Promise<void> {
    if (this.#client) this.#published = await readAuthenticationConfig(this.#client, { signal });
  }

  async #file(flag: "client-ca-file" | "requestheader-client-ca-file"): Promise<string | undefined> {
    const path = this.#options[flag];
    if (path === "") return undefined;
    try {
      return Buffer.from(await this.#host.world.files.read(path)).toString("utf8");
    } catch (cause) {
      throw new TrustUnreadable(`unable to load --${flag}: ${(cause as Error).message}`, { cause });
    }
  }
}

function refused(cause: Error): TrustUnreadable {
  return new TrustUnreadable(
    `unable to read the API server's CA configuration: ${cause.message}. Bind Role extension-apiserver-authentication-reader in kube-system to this ` +
      "identity, or set --authentication-tolerate-lookup-failure or --authentication-skip-lookup",
    { cause },
  );
}

function headersOf(options: SecurePortFlags): Omit<RequestHeaderTrust, "authorities"> {
  return {
    allowedNames: options["requestheader-allowed-names"],
    usernameHeaders: options["requestheader-username-headers"],
    uidHeaders: options["requestheader-uid-headers"],
    groupHeaders: options["requestheader-group-headers"],
    extraHeaderPrefixes: options["requestheader-extra-headers-prefix"],
  };
}
