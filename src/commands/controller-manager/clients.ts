/** The Kubernetes clients of the process: one configuration, and for each part a client by its own name. */
import { KubeClient, type RateLimit, userAgent } from "../../kube/client.ts";
import type { KubeConfig } from "../../kube/config/access.ts";
import type { Connect } from "../../kube/connections.ts";
import { asServiceAccount, serviceAccountUser } from "../../kube/service-account-credentials.ts";
import { openGate, type WriteGate } from "../../runtime/gate.ts";
import type { Host } from "../../runtime/host.ts";
import { build } from "../build.ts";
import type { Options } from "./flags.ts";

const accountsNamespace = "kube-system";

/** Clients on the same connections, told apart by name, gate and identity. */
export class KubeClients {
  readonly #base: KubeClient;
  readonly #options: Options;

  constructor(host: Host, config: KubeConfig, options: Options, connect?: Connect) {
    this.#options = options;
    this.#base = new KubeClient({
      host,
      config,
      gate: openGate(),
      userAgent: agentOf("cloud-controller-manager"),
      limit: limitOf(options),
      connect,
    });
  }

  /** A client for a part of the process itself. */
  named(name: string, gate: WriteGate): KubeClient {
    return this.#base.as({ userAgent: agentOf(name), gate });
  }

  /** A client for a controller: with a service account of its own if that is asked for. */
  forController(name: string, gate: WriteGate): KubeClient {
    // A dry run makes no service accounts; what it reads it reads as itself.
    if (!this.#options["use-service-account-credentials"] || this.#options["dry-run"]) return this.named(name, gate);
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

/** No limit unless one is given; a rate of 0 or less is none either. */
function limitOf(options: Options): RateLimit | undefined {
  const qps = options["kube-api-qps"];
  const burst = options["kube-api-burst"];
  if ((qps === undefined && burst === undefined) || (qps !== undefined && qps <= 0)) return undefined;
  return { qps: qps ?? 20, burst: burst ?? 30 };
}
