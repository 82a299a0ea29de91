/** Listeners: a port of a load balancer, and the target groups behind it. */

import { isDeepStrictEqual } from "node:util";
import {
  CreateListener$,
  type CreateListenerInput,
  type CreateListenerOutput,
  DeleteListener$,
  type DeleteListenerInput,
  DescribeListeners$,
  type DescribeListenersInput,
  type DescribeListenersOutput,
  type Listener as ListenerAnswer,
  ModifyListener$,
  type ModifyListenerInput,
  type ModifyListenerOutput,
  type ProtocolEnum,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { arn } from "../account.ts";
import { checkCertificate } from "../balancing/certificates.ts";
import { invalidConfiguration } from "../balancing/network.ts";
import { markerPage } from "../balancing/pages.ts";
import { needsAddTags, withTags } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { checkedActions, needsUserPool, shownActions } from "./actions.ts";
import { checkedMutualAuthentication } from "./mutual-authentication.ts";
import { checkQuic, checkUdp } from "./network.ts";
import { checkedSslPolicy, DEFAULT_SSL_POLICY } from "./ssl-policies.ts";
import { type Elbv2, type Listener, type LoadBalancer, listenerAt, listenersOf, loadBalancerAt, rulesOf } from "./state.ts";
import { put } from "./target-health.ts";
import { TYPES } from "./types.ts";

const ALPN_POLICIES = ["HTTP1Only", "HTTP2Only", "HTTP2Optional", "HTTP2Preferred", "None"];

/** The operations on listeners themselves. */
export function listenerOperations(elbv2: Elbv2): Operations {
  return [
    write<CreateListenerInput, CreateListenerOutput>(
      CreateListener$,
      (input) => ({ Listeners: [describe(createListener(elbv2, input))] }),
      (input) => [...needsAddTags(input), ...needsUserPool(input.DefaultActions)],
    ),
    write<ModifyListenerInput, ModifyListenerOutput>(
      ModifyListener$,
      (input) => ({ Listeners: [describe(modifyListener(elbv2, listenerAt(elbv2, input.ListenerArn), input))] }),
      (input) => needsUserPool(input.DefaultActions),
    ),
    write<DeleteListenerInput, object>(DeleteListener$, (input) => {
      removeListener(elbv2, listenerAt(elbv2, input.ListenerArn));
      return {};
    }),
    read<DescribeListenersInput, DescribeListenersOutput>(DescribeListeners$, (input) => {
      const { items, NextMarker } = markerPage(elbv2.account, asked(elbv2, input), (listener) => listener.arn, input);
      return { Listeners: items.map(describe), NextMarker };
    }),
  ];
}

/** What a listener needs besides its load balancer; wishes that are not given are as they were. */
type ListenerWish = Pick<Listener, "port" | "protocol" | "certificate" | "sslPolicy" | "alpnPolicy" | "mutualAuthentication" | "actions">;

function asked(elbv2: Elbv2, { LoadBalancerArn: owner, ListenerArns: arns = [] }: DescribeListenersInput): readonly Listener[] {
  if ((owner === undefined) === (arns.length === 0)) {
    throw new ServiceError("ValidationError", "You must specify either listener ARNs or a load balancer ARN");
  }
  if (owner !== undefined) return listenersOf(elbv2, loadBalancerAt(elbv2, owner).arn);
  return [...new Set(arns)].map((one) => listenerAt(elbv2, one));
}

function createListener(elbv2: Elbv2, input: CreateListenerInput): Listener {
  const loadBalancer = loadBalancerAt(elbv2, input.LoadBalancerArn);
  if (input.Protocol === undefined || input.Port === undefined) {
    throw new ServiceError("ValidationError", "A protocol and a port must be specified");
  }
  const wish = checked(elbv2, loadBalancer, input, undefined);
  const tags = withTags({}, input.Tags);
  const others = listenersOf(elbv2, loadBalancer.arn);
  const twin = others.find((listener) => listener.port === wish.port);
  if (twin !== undefined) {
    if (isDeepStrictEqual(wishOf(twin), wish)) return twin;
    throw duplicate(wish.port);
  }
  if (others.length >= elbv2.account.settings().quotas.listenersPerLoadBalancer) {
    throw new ServiceError("TooManyListeners", "The maximum number of listeners has been reached on this load balancer");
  }
  const place = loadBalancer.arn.slice(loadBalancer.arn.indexOf(":loadbalancer/") + ":loadbalancer/".length);
  const listener: Listener = {
    ...wish,
    arn: arn(elbv2.account, "elasticloadbalancing", `listener/${place}/${elbv2.account.ids.hex(16)}`),
    loadBalancerArn: loadBalancer.arn,
    moreCertificates: [],
    attributes: {},
    tags,
  };
  return put(elbv2, elbv2.listeners, listener);
}

/** Its rules go with it. */
export function removeListener(elbv2: Elbv2, listener: Listener): void {
  for (const rule of rulesOf(elbv2, listener.arn)) elbv2.rules.delete(rule.arn);
  elbv2.listeners.delete(listener.arn);
}

function modifyListener(elbv2: Elbv2, listener: Listener, input: ModifyListenerInput): Listener {
  const loadBalancer = loadBalancerAt(elbv2, listener.loadBalancerArn);
  const wish = checked(elbv2, loadBalancer, input, listener);
  if (listenersOf(elbv2, loadBalancer.arn).some((other) => other.port === wish.port && other.arn !== listener.arn))
    throw duplicate(wish.port);
  if (wish.protocol !== "HTTPS" && rulesOf(elbv2, listener.arn).some(({ actions }) => actions.length > 1)) {
    throw new ServiceError("InvalidLoadBalancerAction", "The listener has rules that authenticate users: they need protocol HTTPS");
  }
  return put(elbv2, elbv2.listeners, {
    ...listener,
    ...wish,
    moreCertificates: isSecure(wish.protocol) ? listener.moreCertificates : [],
    attributes: wish.protocol === listener.protocol ? listener.attributes : {},
  });
}

function checked(
  elbv2: Elbv2,
  loadBalancer: LoadBalancer,
  input: Omit<CreateListenerInput, "LoadBalancerArn" | "DefaultActions"> & Pick<ModifyListenerInput, "DefaultActions">,
  before: Listener | undefined,
): ListenerWish {
  const protocol = input.Protocol ?? before!.protocol;
  const port = input.Port ?? before!.port;
  if (TYPES[loadBalancer.type].protocols[protocol] === undefined) {
    const possible = Object.keys(TYPES[loadBalancer.type].protocols).join(", ");
    throw new ServiceError("ValidationError", `Listener protocol '${protocol}' must be one of '${possible}'`);
  }
  if (port < 1 || port > 65_535) throw new ServiceError("ValidationError", `The port must be between 1 and 65535, not ${port}`);
  checkUdp(loadBalancer, [protocol]);
  checkQuic(loadBalancer, protocol);
  const actions = input.DefaultActions?.length ? input.DefaultActions : before?.actions;
  return {
    port,
    protocol,
    ...tlsSettings(elbv2, protocol, input, before !== undefined && isSecure(before.protocol) ? before : undefined),
    mutualAuthentication: checkedMutualAuthentication({ elbv2, loadBalancer, protocol }, input, before),
    actions: checkedActions({ elbv2, loadBalancer, protocol, before: before?.actions ?? [] }, actions ?? []),
  };
}

/** Certificate, security policy and ALPN policy: what TLS needs, and what nothing else may have. */
function tlsSettings(
  elbv2: Elbv2,
  protocol: ProtocolEnum,
  input: Pick<CreateListenerInput, "Certificates" | "SslPolicy" | "AlpnPolicy">,
  before: Listener | undefined,
): Pick<Listener, "certificate" | "sslPolicy" | "alpnPolicy"> {
  const { Certificates: certificates = [], SslPolicy: sslPolicy, AlpnPolicy: alpn = [] } = input;
  if (!isSecure(protocol)) {
    if (certificates.length > 0) throw invalidConfiguration(`Certificates cannot be specified for protocol ${protocol}`);
    if (sslPolicy) throw invalidConfiguration(`A security policy cannot be specified for protocol ${protocol}`);
    if (alpn.length > 0) throw new ServiceError("ALPNPolicyNotFound", `ALPN is not supported for protocol ${protocol}`);
    return { certificate: undefined, sslPolicy: undefined, alpnPolicy: undefined };
  }
  if (certificates.length > 1) throw new ServiceError("TooManyCertificates", "Exactly one default certificate must be specified");
  const certificate = certificates[0]?.CertificateArn;
  if (certificate === undefined && before === undefined) {
    throw new ServiceError("ValidationError", `A certificate must be specified for ${protocol} listeners`);
  }
  if (alpn.length > 0 && protocol !== "TLS") {
    throw new ServiceError("ALPNPolicyNotFound", `ALPN policies are not supported for protocol ${protocol}`);
  }
  if (alpn.length > 1 || alpn.some((name) => !ALPN_POLICIES.includes(name))) {
    throw new ServiceError("ALPNPolicyNotFound", `The ALPN policy '${alpn.join(", ")}' is not supported`);
  }
  return {
    certificate: certificate === undefined ? before?.certificate : checkCertificate(elbv2.account, certificate),
    sslPolicy: sslPolicy ? checkedSslPolicy(sslPolicy) : (before?.sslPolicy ?? DEFAULT_SSL_POLICY),
    alpnPolicy: alpn[0] ?? before?.alpnPolicy,
  };
}

function isSecure(protocol: ProtocolEnum): boolean {
  return protocol === "TLS" || protocol === "HTTPS";
}

function wishOf({ port, protocol, certificate, sslPolicy, alpnPolicy, mutualAuthentication, actions }: Listener): ListenerWish {
  return { port, protocol, certificate, sslPolicy, alpnPolicy, mutualAuthentication, actions };
}

function duplicate(port: number): ServiceError {
  return new ServiceError("DuplicateListener", `A listener already exists on port ${port} for this load balancer`);
}

function describe(listener: Listener): ListenerAnswer {
  return {
    ListenerArn: listener.arn,
    LoadBalancerArn: listener.loadBalancerArn,
    Port: listener.port,
    Protocol: listener.protocol,
    Certificates: listener.certificate === undefined ? undefined : [{ CertificateArn: listener.certificate }],
    SslPolicy: listener.sslPolicy,
    AlpnPolicy: listener.alpnPolicy === undefined ? undefined : [listener.alpnPolicy],
    MutualAuthentication: listener.mutualAuthentication,
    DefaultActions: shownActions(listener.actions),
  };
}
