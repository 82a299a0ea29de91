/** What users see of a group on its Ingresses: finalizers, status, Events. */
import { ControllerReport, type ReportParts } from "../controller-report.ts";
import { ingresses, type SeenIngress } from "./seen.ts";

export type { FailureReason } from "../controller-report.ts";

export class Report extends ControllerReport<SeenIngress> {
  constructor(parts: ReportParts) {
    super(ingresses, parts);
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
