/** What users see of a load balancer on its Service: finalizer, status, Events. */
import { services } from "../../kube/builtin.ts";
import { ControllerReport, type ReportParts } from "../controller-report.ts";
import { checkpointAnnotation, type PublishedAddress, type SeenService } from "../service-state.ts";
import type { ServicePortView } from "./view.ts";

export class Report extends ControllerReport<SeenService> {
  constructor(parts: ReportParts) {
    super(services, parts);
  }

  /** The address of the load balancer with all ports of the Service. Says nothing that is said already; told whether it said something. */
  async publish(service: SeenService, hostname: string, signal: AbortSignal): Promise<boolean> {
    const { ports } = service.view;
    if (isPublished(service.published, hostname, ports)) return false;
    const entry = { hostname, ports: ports.map(({ port, protocol }) => ({ port, protocol })) };
    return this.patch(service, { status: { loadBalancer: { ingress: [entry] } } }, "status", signal);
  }

  /** False when the Service has changed since it was seen. */
  recordCheckpoint(service: SeenService, checkpoint: string, signal: AbortSignal): Promise<boolean> {
    return this.patch(service, { metadata: { annotations: { [checkpointAnnotation]: checkpoint || null } } }, undefined, signal);
  }

  /** Tells that another load balancer serves it from now on. */
  replaced(service: SeenService, message: string): void {
    this.event(service, "Normal", "LoadBalancerReplacement", message);
  }

  /** Takes the address back. */
  async unpublish(service: SeenService, signal: AbortSignal): Promise<void> {
    if (service.published.length > 0) await this.patch(service, { status: { loadBalancer: { ingress: null } } }, "status", signal);
  }
}

/** In which order ports are told makes no difference, and their protocols are not compared. */
function isPublished([only, ...more]: readonly PublishedAddress[], hostname: string, ports: readonly ServicePortView[]): boolean {
  if (only === undefined || more.length > 0 || only.ip !== "" || only.hostname !== hostname) return false;
  return only.ports.length === ports.length && ports.every(({ port }) => only.ports.includes(port));
}
