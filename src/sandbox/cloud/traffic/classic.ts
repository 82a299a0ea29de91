/** The ports of classic load balancers. */

import { letsIn, reaches } from "../balancing/firewall.ts";
import type { ClassicLoadBalancer, Elb, Listener } from "../elb/state.ts";
import { hash } from "./choice.ts";
import type { Front, Shared } from "./front.ts";
import type { HttpRouting } from "./http-front.ts";
import type { LoopbackAddress } from "./pods.ts";
import { failure } from "./replies.ts";
import type { Source } from "./tcp-front.ts";

/** Those of all of them. */
export function classicFronts(elb: Elb, shared: Shared): readonly Front[] {
  return elb.loadBalancers.values().flatMap(({ name, dnsName, listeners }) =>
    listeners.map((listener): Front => {
      const { protocol, port } = listener;
      const current = () => elb.loadBalancers.get(name);
      return {
        key: `classic ${name} ${protocol} ${port} ${listener.instanceProtocol} ${listener.instancePort}`,
        dnsName: dnsName.toLowerCase(),
        port,
        protocol,
        secure: protocol === "HTTPS" || protocol === "SSL",
        certificates: () => current()?.listeners.flatMap((each) => (each.port === port ? (each.certificate ?? []) : [])) ?? [],
        clientCertificates: "off",
        serving:
          protocol === "HTTP" || protocol === "HTTPS"
            ? { kind: "http", routing: () => httpRouting(elb, current(), listener, shared) }
            : { kind: "tcp", decide: (source) => connectionTo(elb, current(), listener, shared, source) },
      };
    }),
  );
}

function httpRouting(elb: Elb, loadBalancer: ClassicLoadBalancer | undefined, listener: Listener, shared: Shared): HttpRouting {
  return {
    now: () => elb.account.time.now(),
    responseHeaders: {},
    decide: (request) => {
      if (loadBalancer === undefined || !letsIn(elb.account, loadBalancer.groupIds, listener.port, request.sourceIp)) return undefined;
      const healthy = inService(loadBalancer);
      const key = `classic ${loadBalancer.name} ${listener.port}`;
      const id = healthy[shared.turn(key) % Math.max(1, healthy.length)];
      if (id === undefined) return failure(503, "Service Unavailable: Back-end server is at capacity");
      shared.used([key]);
      const headers = {
        ...request.headers,
        "x-forwarded-for": [[...(request.headers["x-forwarded-for"] ?? []), request.sourceIp].join(", ")],
        "x-forwarded-proto": [listener.protocol.toLowerCase()],
        "x-forwarded-port": [String(listener.port)],
      };
      const secure = listener.instanceProtocol === "HTTPS";
      return {
        to: reach(elb, loadBalancer, id, listener.instancePort, shared),
        secure,
        request: { ...request, headers },
        choice: undefined,
      };
    },
  };
}

function connectionTo(
  elb: Elb,
  loadBalancer: ClassicLoadBalancer | undefined,
  listener: Listener,
  shared: Shared,
  { sourceIp, sourcePort }: Source,
): LoopbackAddress | undefined {
  if (loadBalancer === undefined || !letsIn(elb.account, loadBalancer.groupIds, listener.port, sourceIp)) return undefined;
  const healthy = inService(loadBalancer);
  const id = healthy[hash(`${sourceIp}:${sourcePort}`) % Math.max(1, healthy.length)];
  return id === undefined ? undefined : reach(elb, loadBalancer, id, listener.instancePort, shared);
}

/** Unlike its successors a classic load balancer sends nothing to instances that are out of service. */
function inService({ instances }: ClassicLoadBalancer): readonly string[] {
  return instances.filter(({ verdict }) => verdict.kind === "healthy").map(({ id }) => id);
}

function reach(elb: Elb, loadBalancer: ClassicLoadBalancer, instanceId: string, port: number, shared: Shared): LoopbackAddress | undefined {
  const { account } = elb;
  const { ec2 } = account;
  const instance = ec2.instances.get(instanceId);
  const address = ec2.interfaces.get(instance?.interfaceIds[0] ?? "")?.privateAddresses[0] ?? "";
  const open = reaches(account, Object.values(loadBalancer.interfaceIds), address, port);
  return open ? shared.reach({ instanceId, address, port }) : undefined;
}
