/** Listeners of a classic load balancer. */
import {
  type CreateLoadBalancerListenerInput,
  CreateLoadBalancerListeners$,
  type DeleteLoadBalancerListenerInput,
  DeleteLoadBalancerListeners$,
  type Listener as ListenerInput,
  SetLoadBalancerListenerSSLCertificate$,
  type SetLoadBalancerListenerSSLCertificateInput,
} from "@aws-sdk/client-elastic-load-balancing";
import { checkCertificate } from "../balancing/certificates.ts";
import { invalidConfiguration } from "../balancing/network.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, write } from "../service.ts";
import { DEFAULT_SECURITY_POLICY, securityPolicy } from "./policy-types.ts";
import { type ClassicLoadBalancer, type Elb, type Listener, loadBalancerNamed, type Policy, type Protocol } from "./state.ts";

/** The operations on listeners. */
export function listenerOperations(elb: Elb): Operations {
  return [
    write<CreateLoadBalancerListenerInput, object>(CreateLoadBalancerListeners$, (input) => {
      const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
      const listeners = addListeners(elb, loadBalancer.listeners, input.Listeners ?? []);
      elb.loadBalancers.update(loadBalancer.name, { listeners, policies: withDefaultPolicies(loadBalancer.policies, listeners) });
      return {};
    }),
    write<DeleteLoadBalancerListenerInput, object>(DeleteLoadBalancerListeners$, (input) => {
      const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
      const listeners = loadBalancer.listeners.filter((listener) => !input.LoadBalancerPorts?.includes(listener.port));
      elb.loadBalancers.update(loadBalancer.name, { listeners });
      return {};
    }),
    write<SetLoadBalancerListenerSSLCertificateInput, object>(SetLoadBalancerListenerSSLCertificate$, (input) => {
      const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
      const listener = listenerOn(loadBalancer, input.LoadBalancerPort!);
      if (!isSecure(listener.protocol)) throw invalidConfiguration(`Listener on port ${listener.port} does not use HTTPS or SSL`);
      const certificate = checkCertificate(elb.account, input.SSLCertificateId!);
      elb.loadBalancers.update(loadBalancer.name, { listeners: withListener(loadBalancer, { ...listener, certificate }) });
      return {};
    }),
  ];
}

/** The listener on a port. */
export function listenerOn(loadBalancer: ClassicLoadBalancer, port: number): Listener {
  const listener = loadBalancer.listeners.find((other) => other.port === port);
  if (listener === undefined) throw new ServiceError("ListenerNotFound", `Listener not found for port ${port}`);
  return listener;
}

/** All listeners, one of them replaced. */
export function withListener(loadBalancer: ClassicLoadBalancer, listener: Listener): readonly Listener[] {
  return loadBalancer.listeners.map((other) => (other.port === listener.port ? listener : other));
}

/** Whether a protocol needs a certificate. */
export function isSecure(protocol: Protocol): boolean {
  return protocol === "HTTPS" || protocol === "SSL";
}

/** The listeners with more of them; one that is there already must be the same. */
export function addListeners(elb: Elb, present: readonly Listener[], wished: readonly ListenerInput[]): readonly Listener[] {
  const listeners = [...present];
  for (const input of wished) {
    const listener = listenerFrom(elb, input);
    const twin = listeners.find((other) => other.port === listener.port);
    if (twin === undefined) {
      checkInstanceProtocol(listeners, listener);
      listeners.push(listener);
    } else if (!sameListener(twin, listener)) {
      throw new ServiceError("DuplicateListener", `A listener already exists for port ${listener.port} with different properties`);
    }
  }
  return listeners;
}

/** Whether two listeners were asked for in the same way; policies do not count. */
export function sameListener(one: Listener, other: Listener): boolean {
  return (
    one.port === other.port &&
    one.protocol === other.protocol &&
    one.instancePort === other.instancePort &&
    one.instanceProtocol === other.instanceProtocol &&
    one.certificate === other.certificate
  );
}

/** The policies, and those that secure listeners brought with them. */
export function withDefaultPolicies(policies: readonly Policy[], listeners: readonly Listener[]): readonly Policy[] {
  const needed = listeners.some((listener) => listener.policyNames.includes(DEFAULT_SECURITY_POLICY));
  const present = policies.some((policy) => policy.name === DEFAULT_SECURITY_POLICY);
  return needed && !present ? [...policies, securityPolicy(DEFAULT_SECURITY_POLICY, DEFAULT_SECURITY_POLICY)!] : policies;
}

function listenerFrom(elb: Elb, input: ListenerInput): Listener {
  const protocol = protocolNamed(input.Protocol ?? "");
  const instanceProtocol = input.InstanceProtocol === undefined ? plainOf(protocol) : protocolNamed(input.InstanceProtocol);
  const certificate = input.SSLCertificateId === "" ? undefined : input.SSLCertificateId;
  checkPort(input.LoadBalancerPort, "LoadBalancerPort");
  checkPort(input.InstancePort, "InstancePort");
  if (protocol.startsWith("HTTP") !== instanceProtocol.startsWith("HTTP")) {
    throw new ServiceError(
      "ValidationError",
      `Listener protocol ${protocol} and instance protocol ${instanceProtocol} are of different layers`,
    );
  }
  if (isSecure(protocol) && certificate === undefined) {
    throw new ServiceError("ValidationError", "Secure Listeners need to specify a SSLCertificateId");
  }
  if (!isSecure(protocol) && certificate !== undefined)
    throw invalidConfiguration("SSLCertificateId can only be set on HTTPS and SSL listeners");
  return {
    protocol,
    port: input.LoadBalancerPort!,
    instanceProtocol,
    instancePort: input.InstancePort!,
    certificate: certificate === undefined ? undefined : checkCertificate(elb.account, certificate),
    policyNames: isSecure(protocol) ? [DEFAULT_SECURITY_POLICY] : [],
  };
}

/** Listeners that share an instance port must agree on whether it is secure. */
function checkInstanceProtocol(listeners: readonly Listener[], listener: Listener): void {
  const other = listeners.find(({ instancePort }) => instancePort === listener.instancePort);
  if (other !== undefined && isSecure(other.instanceProtocol) !== isSecure(listener.instanceProtocol)) {
    throw invalidConfiguration(`Instance port ${listener.instancePort} cannot be both secure and not`);
  }
}

function protocolNamed(name: string): Protocol {
  const protocol = name.toUpperCase();
  if (protocol !== "HTTP" && protocol !== "HTTPS" && protocol !== "TCP" && protocol !== "SSL") {
    throw new ServiceError("UnsupportedProtocol", `Listener protocol '${name}' must be HTTP, HTTPS, TCP or SSL`);
  }
  return protocol;
}

function plainOf(protocol: Protocol): Protocol {
  return protocol.startsWith("HTTP") ? "HTTP" : "TCP";
}

function checkPort(port: number | undefined, parameter: string): void {
  if (port === undefined || port < 1 || port > 65_535) {
    throw new ServiceError("ValidationError", `${parameter} must be between 1 and 65535`);
  }
}
