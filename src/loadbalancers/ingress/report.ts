/** What users see of a group on its Ingresses: finalizers, status, Events. */
import { type FailureReason as AnyReason, ControllerReport, type ReportParts } from "../controller-report.ts";
import type { SecretDigests } from "./secrets.ts";
import { ingresses, type SeenIngress, sentSecretsAnnotation } from "./seen.ts";

/** Those of an Ingress. */
export type FailureReason = Exclude<AnyReason, "FailedCleanupStatus">;

export class Report extends ControllerReport<SeenIngress> {
  constructor(parts: ReportParts) {
    super(ingresses, parts);
  }

  /** Which Secrets AWS has: whoever comes later sees whether one was changed meanwhile. */
  async recordSecrets(ingress: SeenIngress, digests: SecretDigests, signal: AbortSignal): Promise<void> {
    const text = (pairs: SecretDigests) =>
      Object.entries(pairs)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map((pair) => pair.join("="))
        .join();
    const wanted = text(digests);
    if (wanted === text(ingress.sentSecrets)) return;
    await this.patch(ingress, { metadata: { annotations: { [sentSecretsAnnotation]: wanted || null } } }, undefined, signal);
  }

  /** The address of the load balancer, with all ports of the group. Says nothing that is said already. */
  async publish(ingress: SeenIngress, hostname: string, ports: readonly number[], signal: AbortSignal): Promise<void> {
    const [only, ...more] = ingress.published;
    const isPublished = only?.hostname === hostname && only.ip === "" && more.length === 0 && samePorts(only.ports, ports);
    if (isPublished) return;
    const entry = { hostname, ports: ports.map((port) => ({ port, protocol: "TCP" })) };
    await this.patch(ingress, { status: { loadBalancer: { ingress: [entry] } } }, "status", signal);
  }
}

const samePorts = (a: readonly number[], b: readonly number[]) => a.toSorted((x, y) => x - y).join() === b.toSorted((x, y) => x - y).join();
