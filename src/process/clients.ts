/** The Kubernetes clients of the process: one configuration, and for each part a client by its own name. */
import { KubeClient, type RateLimit, userAgent } from "../kube/client.ts";
import type { KubeConfig } from "../kube/config/access.ts";
import type { Connect } from "../kube/connections.ts";
import { asServiceAccount, serviceAccountUser } from "../kube/service-account-credentials.ts";
import { openGate, type WriteGate } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import { build } from "./build.ts";

const accountsNamespace = "kube-system";

export interface ClientOptions {
  /** The program, in the user agent. */
  readonly component: string;
  /** None: the API server's fairness decides. */
  readonly limit?: RateLimit;
  /** Whether each controller acts as a service account of its own. */
  readonly ownAccounts: boolean;
}

/** Clients on the same connections, told apart by name, gate and identity. */
export class KubeClients {
  readonly #base: KubeClient;
  readonly #ownAccounts: boolean;

  constructor(host: Host, config: KubeConfig, { component, limit, ownAccounts }: ClientOptions, connect?: Connect) {
    this.#ownAccounts = ownAccounts;
    this.#base = new KubeClient({ host, config, gate: openGate(), userAgent: agentOf(component), limit, connect });
  }

  /** A client for a part of the process itself. */
  named(name: string, gate: WriteGate): KubeClient {
    return this.#base.as({ userAgent: agentOf(name), gate });
  }

  /** A client for a controller: with a service account of its own if that is asked for. */
  forController(name: string, gate: WriteGate): KubeClient {
    if (!this.#ownAccounts) return this.named(name, gate);
    return asServiceAccount(this.named(name, gate), {
      namespace: accountsNamespace,
      name,
      userAgent: agentOf(serviceAccountUser(accountsNamespace, name)),
    });
  }

  close(): Promise<void> {
    return this.#base.close();
  }
}

/** The user agent of a part of this program. */
export function agentOf(name: string): string {
  return userAgent({ binary: "fairlead", version: build.version, commit: build.commit }, name);
}
