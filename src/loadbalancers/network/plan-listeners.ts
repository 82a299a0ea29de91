/** The listeners of a network load balancer: the steps from those that are seen to those that are wanted. Pure. */
import type { Action } from "@aws-sdk/client-elastic-load-balancing-v2";
import { createListener, deleteListener, modifyListener } from "../../aws/elbv2-actions.ts";
import { type Made, made, type Step, step } from "../../aws/plan.ts";
import { type ArnOf, sameActions, sentActions } from "../elbv2/actions.ts";
import { planCertificates, planListenerAttributes } from "../elbv2/listener-parts.ts";
import { type ForeignTags, planTags } from "../elbv2/tags.ts";
import { tagList } from "../groups/managed.ts";
import type { Attributes, NetworkListener, NetworkLoadBalancer, Tags } from "../model.ts";

export interface SeenListener {
  readonly arn: string;
  readonly port: number;
  readonly protocol: string;
  readonly certificate?: string;
  readonly sslPolicy?: string;
  readonly actions: readonly Action[];
  readonly alpnPolicy?: string;
  /** Further things that are kept as wanted; absent: they are left alone once it is made. */
  readonly kept?: {
    readonly tags: Tags;
    /** Beside the default one. Empty of a listener without TLS. */
    readonly furtherCertificates: readonly string[];
    /** Read only while some are managed. */
    readonly attributes: Attributes;
  };
}

/**
 * One listener a port. A listener that differs is changed in place, also in its protocol: a second one on the same port
 * is refused by AWS, and deleting the first would cut its clients off. Only TCP and TLS can be turned into each other.
 */
export function planListeners(
  model: NetworkLoadBalancer,
  lb: string | Made,
  arnOf: ArnOf,
  seen: readonly SeenListener[],
  isForeignTag?: ForeignTags,
): Step[] {
  const before: Step[] = [];
  const steps: Step[] = [];
  for (const listener of model.listeners) {
    const present = seen.find(({ port }) => port === listener.port);
    const replace = present && present.protocol !== listener.protocol && !(convertible(present.protocol) && convertible(listener.protocol));
    if (replace) before.push(listenerDeletion(model.name, present, "its protocol cannot be changed in place"));
    if (!present || replace) steps.push(...creations(model, lb, listener, arnOf));
    else steps.push(...changes(model, listener, arnOf, present, isForeignTag));
  }
  const unwanted = seen.filter(({ port }) => !model.listeners.some((listener) => listener.port === port));
  return [
    ...before,
    ...steps,
    ...unwanted.map((listener) => listenerDeletion(model.name, listener, `the ${model.askedBy} no longer has this port`)),
  ];
}

function creations(model: NetworkLoadBalancer, lb: string | Made, listener: NetworkListener, arnOf: ArnOf): Step[] {
  const where = titleOf(model, listener);
  return [
    listenerCreation(model, lb, listener, arnOf),
    ...planCertificates(where, made(where), certificatesOf(listener), [], listener.certificatesBy),
    ...planListenerAttributes(where, made(where), listener.attributes, {}, listener.by),
  ];
}

function changes(
  model: NetworkLoadBalancer,
  listener: NetworkListener,
  arnOf: ArnOf,
  present: SeenListener,
  isForeignTag: ForeignTags | undefined,
): Step[] {
  const { arn, kept } = present;
  const where = titleOf(model, listener);
  const changed = listenerDiffers(listener, arnOf, present) ? [listenerChange(model.name, listener, arnOf, present)] : [];
  if (kept === undefined) return changed;
  // Attributes and further certificates do not outlast a change of the protocol.
  const isConverted = present.protocol !== listener.protocol;
  const retagged =
    listener.untagged || isForeignTag === undefined ? [] : planTags(where, arn, listener.tags ?? model.tags, kept.tags, isForeignTag);
  return [
    ...retagged,
    ...changed,
    ...planCertificates(where, arn, certificatesOf(listener), isConverted ? [] : kept.furtherCertificates, listener.certificatesBy),
    ...planListenerAttributes(where, arn, listener.attributes, isConverted ? {} : kept.attributes, listener.by),
  ];
}

const titleOf = ({ name }: NetworkLoadBalancer, { protocol, port }: NetworkListener) =>
  `listener ${protocol}:${port} of load balancer ${name}`;

const certificatesOf = ({ protocol, certificates }: NetworkListener) => (protocol === "TLS" ? certificates : []);

const convertible = (protocol: string) => protocol === "TCP" || protocol === "TLS";

function listenerDiffers(listener: NetworkListener, arnOf: ArnOf, present: SeenListener): boolean {
  if (present.protocol !== listener.protocol || !sameActions([listener.forward], arnOf, present.actions)) return true;
  if (listener.protocol !== "TLS") return false;
  return (
    present.certificate !== listener.certificates[0] ||
    (listener.sslPolicy !== undefined && present.sslPolicy !== listener.sslPolicy) ||
    (listener.alpnPolicy !== undefined && (present.alpnPolicy ?? "None") !== listener.alpnPolicy)
  );
}

function listenerSettings(listener: NetworkListener, arnOf: ArnOf) {
  const [certificate] = listener.certificates;
  return {
    Port: listener.port,
    Protocol: listener.protocol,
    ...(listener.protocol === "TLS" && {
      Certificates: [{ CertificateArn: certificate }],
      SslPolicy: listener.sslPolicy,
      ...(listener.alpnPolicy !== undefined && { AlpnPolicy: [listener.alpnPolicy] }),
    }),
    DefaultActions: sentActions([listener.forward], arnOf),
  } as const;
}

/** The groups that it forwards to, in words. */
const destinations = ({ forward }: NetworkListener) => forward.to.map(({ group, arn }) => group ?? arn).join(", ");

function listenerCreation(model: NetworkLoadBalancer, lb: string | Made, listener: NetworkListener, arnOf: ArnOf): Step {
  return step(
    createListener,
    {
      LoadBalancerArn: lb,
      ...listenerSettings(listener, arnOf),
      ...(!listener.untagged && { Tags: tagList(listener.tags ?? model.tags) }),
    },
    {
      what: `create listener ${listener.protocol}:${listener.port} on load balancer ${model.name} to ${destinations(listener)}`,
      why: listener.why,
      makes: { name: titleOf(model, listener), id: (output) => output.Listeners?.[0]?.ListenerArn },
      by: listener.by,
    },
  );
}

function listenerChange(name: string, listener: NetworkListener, arnOf: ArnOf, present: SeenListener): Step {
  return step(
    modifyListener,
    { ListenerArn: present.arn, ...listenerSettings(listener, arnOf) },
    {
      what: `change listener ${present.protocol}:${present.port} on load balancer ${name} to ${listener.protocol}, ${destinations(listener)}`,
      why: "it differs from what is wanted",
      by: listener.by,
    },
  );
}

function listenerDeletion(name: string, { arn, protocol, port }: SeenListener, why: string): Step {
  return step(
    deleteListener,
    { ListenerArn: arn },
    { what: `delete listener ${protocol}:${port} of load balancer ${name}`, why, settledBy: ["ListenerNotFound"] },
  );
}
