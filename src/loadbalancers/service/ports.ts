/** Which ports of a Service get a listener, and what is wrong with those that cannot. */
import type { Problem } from "../model.ts";
import { annotationKey } from "./annotations.ts";
import { type Kind, kindTable } from "./kinds.ts";
import type { ServiceOptions } from "./options.ts";
import type { ServicePort, ServiceView } from "./view.ts";

export interface UsablePorts {
  readonly ports: readonly ServicePort[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

const carriedByNetwork = `: a network load balancer carries it, set ${annotationKey("type")}: nlb`;

/** The ports that have a node port, after the checks that concern the Service as a whole. */
export function usablePorts(service: ServiceView, kind: Kind): UsablePorts {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  if (service.sessionAffinity !== "None") problems.push({ message: `unsupported load balancer affinity: ${service.sessionAffinity}` });
  if (service.ports.length === 0) problems.push({ message: "requested load balancer with no ports" });
  const protocols = new Set(service.ports.map(({ protocol }) => protocol));
  const carries = (by: Kind, protocol: string) => kindTable[by].protocols.includes(protocol);
  const allCarriedBy = (by: Kind) => [...protocols].every((protocol) => carries(by, protocol));
  const hint = !allCarriedBy(kind) && allCarriedBy("network") ? carriedByNetwork : "";
  if (!kindTable[kind].mixesProtocols && protocols.size > 1)
    problems.push({ message: `mixed protocol is not supported for LoadBalancer${hint}` });
  for (const protocol of protocols) {
    if (!carries(kind, protocol)) problems.push({ message: `Protocol ${protocol} not supported by LoadBalancer${hint}` });
  }
  if (service.loadBalancerIP !== "") problems.push({ message: "LoadBalancerIP cannot be specified for AWS ELB" });
  const ports = service.ports.filter(({ nodePort }) => nodePort !== 0);
  for (const { port } of service.ports.filter(({ nodePort }) => nodePort === 0)) {
    warnings.push({ message: `port ${port} has no node port and gets no listener: set allocateLoadBalancerNodePorts to true` });
  }
  if (service.ports.length > 0 && ports.length === 0)
    problems.push({ message: "no port of the Service has a node port: nothing could be reached" });
  return { ports, problems, warnings };
}

/** Whether the certificate covers this port. */
export function usesCertificate(options: ServiceOptions, port: ServicePort, kind: Kind): boolean {
  if (options.certificate === undefined) return false;
  if (options.sslPorts === "all") return true;
  const name = kindTable[kind].portName(port.name);
  return options.sslPorts.has(String(port.port)) || (name !== "" && options.sslPorts.has(name));
}
