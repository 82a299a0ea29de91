/** The classic load balancer a Service asks for. Pure: the same inputs always give the same model. */
import type { ClassicHealthCheck, ClassicListener, ClassicLoadBalancer, GroupOnLoadBalancer, Problem, SecurityGroups } from "../model.ts";
import { classicSecurityGroupName } from "../names.ts";
import { parseInteger } from "../values.ts";
import { annotationKey } from "./annotations.ts";
import type { ServiceOptions } from "./options.ts";
import { serviceNoun } from "./owner.ts";
import { usesCertificate } from "./ports.ts";
import type { LoadBalancerSettings, ServicePort, ServiceView } from "./view.ts";
import { clientRules, type Desired, type Wish } from "./wish.ts";

export function desireClassic(wish: Wish): Desired<ClassicLoadBalancer> {
  const problems: Problem[] = [];
  const listeners = wish.ports.flatMap((port) => {
    const listener = listenerFor(port, wish.options);
    if (listener === undefined) {
      const key = annotationKey("backend-protocol");
      problems.push({
        annotation: key,
        message: `Invalid backend protocol ${wish.options.backendProtocol} for ${wish.options.certificate} in ${key}`,
      });
      return [];
    }
    return [listener];
  });
  const healthCheck = healthCheckFor(wish);
  problems.push(...healthCheckProblems(wish.name, healthCheck, wish.options));
  return {
    problems,
    model: {
      kind: "classic",
      name: wish.name,
      askedBy: serviceNoun,
      internal: wish.options.internal,
      subnets: wish.subnets,
      securityGroups: groupsFor(wish),
      listeners,
      proxyProtocol: wish.options.proxyProtocol,
      sslPolicy: wish.options.sslPolicy,
      healthCheck,
      attributes: {
        accessLog: wish.options.accessLog,
        connectionDraining: wish.options.connectionDraining,
        idleTimeout: wish.options.idleTimeout,
        crossZone: wish.options.crossZone,
      },
      instances: wish.instances.toSorted(),
      tags: wish.tags,
    },
  };
}

/** What the listener speaks to clients and to nodes, by the backend protocol; undefined when there is no such one. */
const withCertificate: Readonly<Record<string, readonly [ClassicListener["protocol"], ClassicListener["instanceProtocol"]]>> = {
  "": ["ssl", "tcp"],
  tcp: ["ssl", "tcp"],
  ssl: ["ssl", "ssl"],
  http: ["https", "http"],
  https: ["https", "https"],
};

function listenerFor(port: ServicePort, options: ServiceOptions): ClassicListener | undefined {
  const ports = { port: port.port, instancePort: port.nodePort };
  const backend = options.backendProtocol ?? "";
  if (!usesCertificate(options, port, "classic")) {
    const protocol = backend === "http" ? "http" : "tcp";
    return { ...ports, protocol, instanceProtocol: protocol };
  }
  const protocols = Object.hasOwn(withCertificate, backend) ? withCertificate[backend] : undefined;
  return protocols && { ...ports, protocol: protocols[0], instanceProtocol: protocols[1], certificate: options.certificate };
}

function groupsFor({ name, service, options, settings, sourceRanges, groupTags, ownership }: Wish): SecurityGroups {
  const wanted = (groups: readonly GroupOnLoadBalancer[]): SecurityGroups => ({ kind: "wanted", groups });
  const given = (ids: readonly string[]) => ids.map((id) => ({ kind: "given", id }) as const);
  const extra = given(options.extraSecurityGroups);
  if (options.securityGroups.length > 0) return wanted(given([...new Set([...options.securityGroups, ...options.extraSecurityGroups])]));
  if (settings.elbSecurityGroup) return wanted([...given([settings.elbSecurityGroup]), ...extra]);
  const group = {
    name: classicSecurityGroupName(name),
    description: `Security group for Kubernetes ELB ${name} (${service.namespace}/${service.name})`,
    tags: groupTags,
    ownership,
    rules: clientRules(service.ports, sourceRanges),
  };
  return wanted([{ kind: "managed", group }, ...extra]);
}

function healthCheckFor({ service, options, settings, ports }: Wish): ClassicHealthCheck {
  const { healthCheck } = options;
  const firstPort = ports[0]?.nodePort ?? 0;
  const base = baseCheck(service, options, settings, firstPort);
  const protocol = healthCheck.protocol ?? base.protocol;
  const port = healthCheck.port === undefined || healthCheck.port === "traffic-port" ? base.port : Number(healthCheck.port);
  const path = /^https?$/i.test(protocol) ? (healthCheck.path ?? (base.path || "/")) : "";
  return {
    target: `${protocol}:${port}${path}`,
    healthyThreshold: healthCheck.healthyThreshold ?? 2,
    unhealthyThreshold: healthCheck.unhealthyThreshold ?? 6,
    interval: healthCheck.interval ?? 10,
    timeout: healthCheck.timeout ?? 5,
  };
}

function baseCheck(service: ServiceView, options: ServiceOptions, settings: LoadBalancerSettings, firstPort: number) {
  if (service.local && service.healthCheckNodePort !== 0) {
    const port = options.healthCheck.port === "traffic-port" ? firstPort : service.healthCheckNodePort;
    return { protocol: "HTTP", port, path: "/healthz" };
  }
  if (settings.sharedProbe) return { protocol: "HTTP", ...settings.sharedProbe };
  const secure = ["https", "ssl"].includes(options.backendProtocol?.toLowerCase() ?? "");
  return { protocol: secure ? "SSL" : "TCP", port: firstPort, path: "" };
}

const smallest = [
  ["healthyThreshold", "HealthyThreshold", 2],
  ["interval", "Interval", 5],
  ["timeout", "Timeout", 2],
  ["unhealthyThreshold", "UnhealthyThreshold", 2],
] as const;

function healthCheckProblems(loadBalancer: string, check: ClassicHealthCheck, options: ServiceOptions): Problem[] {
  const problems: Problem[] = [];
  const { port } = options.healthCheck;
  if (port !== undefined && port !== "traffic-port" && parseInteger(port) === undefined) {
    problems.push({
      annotation: annotationKey("healthcheck-port"),
      message: `annotation ${annotationKey("healthcheck-port")}=${JSON.stringify(port)} is not valid: it takes traffic-port or a port number`,
    });
  }
  const faults = smallest.filter(([field, , least]) => check[field] < least).map(([, name, least]) => `${name} must be at least ${least}`);
  if (faults.length > 0) {
    const cause = `some of the load balancer health check parameters are invalid: HealthCheck validation errors: ${faults.join("; ")}`;
    problems.push({ message: `cannot update health check for load balancer "${loadBalancer}": "${cause}"` });
  }
  return problems;
}
