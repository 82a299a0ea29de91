/** Models of application load balancers for tests. */
import type { ApplicationListener, ApplicationLoadBalancer, TargetGroup } from "../model.ts";
import { forwardTo, type ListenerRule } from "../routing.ts";
import { partTag } from "./account.fixture.ts";

export function applicationModel(given: Partial<ApplicationLoadBalancer> = {}): ApplicationLoadBalancer {
  return {
    kind: "application",
    name: "k8s-shop",
    askedBy: "Ingress",
    internal: false,
    addressType: "ipv4",
    subnets: [{ subnet: "subnet-a" }, { subnet: "subnet-b" }],
    securityGroups: { kind: "wanted", groups: [{ kind: "given", id: "sg-1" }] },
    tags: { stack: "shop", [partTag]: "LoadBalancer" },
    attributes: {},
    listeners: [listener({ rules: [rule(1, "/api", "api"), rule(2, "/*", "web")] })],
    targetGroups: [targetGroup("api"), targetGroup("web")],
    ...given,
  };
}

export function listener(given: Partial<ApplicationListener> = {}): ApplicationListener {
  return {
    port: 80,
    protocol: "HTTP",
    certificates: [],
    attributes: {},
    defaultActions: [{ kind: "fixed-response", status: "404", contentType: "text/plain" }],
    rules: [],
    why: "Ingress shop/web listens on HTTP:80",
    ...given,
  };
}

export function rule(priority: number, path: string, group: string, given: Partial<ListenerRule> = {}): ListenerRule {
  return {
    priority,
    conditions: [{ field: "path-pattern", match: "wildcard", values: [path] }],
    actions: [forwardTo(group)],
    transforms: [],
    tags: { stack: "shop", [partTag]: `80:${priority}` },
    why: `Ingress shop/web routes ${path} here`,
    ...given,
  };
}

export function targetGroup(name: string, given: Partial<TargetGroup> = {}): TargetGroup {
  return {
    name,
    part: `shop/web-${name}:80`,
    tags: { stack: "shop", [partTag]: `shop/web-${name}:80` },
    targetType: "ip",
    protocol: "HTTP",
    protocolVersion: "HTTP1",
    port: 8080,
    healthCheck: {
      protocol: "HTTP",
      port: "traffic-port",
      path: "/",
      interval: 15,
      timeout: 5,
      healthyThreshold: 2,
      unhealthyThreshold: 2,
      matcher: { kind: "http", codes: "200" },
      keepsAll: true,
    },
    attributes: {},
    ...given,
  };
}
