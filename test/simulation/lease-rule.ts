/** Rule 5, as a scene watches it: whoever starts a write must hold the lease at that moment. */
import type { EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import type { History } from "./history.ts";

export class LeaseRule {
  readonly #scene: { readonly cluster: EmbeddedCluster; readonly history: History };
  readonly #leaseName: string;

  constructor(scene: { readonly cluster: EmbeddedCluster; readonly history: History }, leaseName: string) {
    this.#scene = scene;
    this.#leaseName = leaseName;
  }

  leads(hostname: string): boolean {
    return this.#holder().startsWith(`${hostname}_`);
  }

  /** Breaks the history when somebody else holds it. */
  check(hostname: string, doing: string): void {
    if (this.leads(hostname)) return;
    const holder = this.#holder() || "nobody";
    this.#scene.history.broken("no write starts without the lease", `${hostname} sends ${doing} while the lease is held by ${holder}`);
  }

  #holder(): string {
    const lease = this.#scene.cluster.objects("leases.coordination.k8s.io").find(({ metadata }) => metadata.name === this.#leaseName);
    return String((lease as { spec?: { holderIdentity?: string } } | undefined)?.spec?.holderIdentity ?? "");
  }
}
