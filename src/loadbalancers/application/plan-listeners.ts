/** The listeners of an application load balancer: the steps from those that are seen to those that are wanted. Pure. */
import type { Action, MutualAuthenticationAttributes } from "@aws-sdk/client-elastic-load-balancing-v2";
import { addListenerCertificates, createListener, deleteListener, modifyListener } from "../../aws/elbv2-actions.ts";
import { type Made, made, type Step, step } from "../../aws/plan.ts";
import { type ArnOf, sameActions, sentActions } from "../elbv2/actions.ts";
import { planCertificates, planListenerAttributes } from "../elbv2/listener-parts.ts";
import { type ForeignTags, planTags } from "../elbv2/tags.ts";
import { tagList } from "../groups/managed.ts";
import type { ApplicationListener, ApplicationLoadBalancer, Attributes, Tags } from "../model.ts";
import type { MutualTls } from "../routing.ts";
import { leadsTo, planRules, type RulesContext, ruleDeletion, type SeenRule } from "./plan-rules.ts";

export interface SeenListener {
  readonly arn: string;
  readonly port: number;
  readonly protocol: string;
  readonly actions: readonly Action[];
  readonly certificate?: string;
  /** Beside the default one. Empty of a listener without TLS. */
  readonly furtherCertificates: readonly string[];
  readonly sslPolicy?: string;
  readonly mutualTls?: MutualAuthenticationAttributes;
  /** Read only while some are managed. */
  readonly attributes: Attributes;
  readonly tags: Tags;
  readonly rules: readonly SeenRule[];
}

export interface ListenersContext {
  readonly loadBalancer: string | Made;
  readonly arnOf: ArnOf;
  readonly isForeignTag: ForeignTags;
  /** Target groups that are not kept for somebody who cannot be understood. */
  readonly understood: ReadonlySet<string>;
}

/**
 * One listener per port; another protocol is no reason to make a new one. What is new stands before anything goes: AWS may refuse
 * it, and then whoever moves to it still has what they had.
 */
export function planListeners(model: ApplicationLoadBalancer, seen: readonly SeenListener[], context: ListenersContext): Step[] {
  const isUnclaimed = ({ port }: SeenListener) => !model.listeners.some((listener) => listener.port === port);
  const unwanted = model.keepsUnclaimed ? [] : seen.filter(isUnclaimed);
  const presentOf = (listener: ApplicationListener) => seen.find(({ port }) => port === listener.port);
  return [
    ...model.listeners.flatMap((listener) => (presentOf(listener) ? [] : creations(model, listener, context))),
    ...model.listeners.flatMap((listener) => {
      const present = presentOf(listener);
      return present ? changes(model, listener, present, context) : [];
    }),
    ...unwanted.map((listener) => deletion(model, listener)),
    ...(model.keepsUnclaimed ? seen.filter(isUnclaimed).flatMap((listener) => departures(model, listener, context)) : []),
  ];
}

/** On a listener that is kept for somebody who cannot be understood: the rules of everybody else, who no longer asks for it. */
function departures(model: ApplicationLoadBalancer, listener: SeenListener, { understood }: ListenersContext): Step[] {
  const isLeft = (rule: SeenRule) => leadsTo(rule).length > 0 && leadsTo(rule).every((arn) => understood.has(arn));
  return listener.rules.filter(isLeft).map((rule) => ruleDeletion(rule, { listener: titleOf(model, listener) }));
}

function creations(model: ApplicationLoadBalancer, listener: ApplicationListener, context: ListenersContext): Step[] {
  const name = `listener ${titleOf(model, listener)}`;
  const arn = made(name);
  return [
    step(
      createListener,
      {
        LoadBalancerArn: context.loadBalancer,
        ...settings(listener, context.arnOf),
        ...(!listener.untagged && { Tags: tagList(listener.tags ?? model.tags) }),
      },
      {
        what: `create ${name}`,
        why: listener.why,
        makes: { name, id: (output) => output.Listeners?.[0]?.ListenerArn },
        // It was made a moment ago and is not seen yet: look again.
        waitsOn: ["DuplicateListener"],
        by: listener.by,
      },
    ),
    ...planCertificates(name, arn, certificatesOf(listener), [], listener.certificatesBy),
    ...planListenerAttributes(name, arn, listener.attributes, {}, listener.by),
    ...planRules(listener.rules, [], rulesContext(model, listener, arn, context)),
  ];
}

function changes(model: ApplicationLoadBalancer, listener: ApplicationListener, present: SeenListener, context: ListenersContext): Step[] {
  const name = `listener ${titleOf(model, listener)}`;
  const isCareful = model.keepsUnclaimed !== undefined;
  // Attributes and further certificates do not outlast a change of the protocol.
  const isConverted = !isCareful && present.protocol !== listener.protocol;
  const further = isConverted ? [] : present.furtherCertificates;
  const certificates = planCertificates(name, present.arn, certificatesOf(listener), further, listener.certificatesBy);
  const settled =
    !isCareful && differs(listener, present, context.arnOf)
      ? [
          step(
            modifyListener,
            { ListenerArn: present.arn, ...settings(listener, context.arnOf) },
            { what: `change ${name}`, why: "it differs from what is wanted", by: listener.by },
          ),
        ]
      : [];
  const rules = planRules(listener.rules, present.rules, rulesContext(model, listener, present.arn, context));
  // AWS takes HTTPS from a listener only when none of its rules needs it any more.
  const rulesFirst = isConverted && !isSecure(listener);
  return [
    ...(isCareful || listener.untagged ? [] : planTags(name, present.arn, listener.tags ?? model.tags, present.tags, context.isForeignTag)),
    ...(rulesFirst ? rules : []),
    ...settled,
    ...certificates.filter(({ action }) => !isCareful || action === addListenerCertificates),
    ...planListenerAttributes(name, present.arn, listener.attributes, isConverted ? {} : present.attributes, listener.by),
    ...(rulesFirst ? [] : rules),
  ];
}

function deletion(model: ApplicationLoadBalancer, listener: SeenListener): Step {
  return step(
    deleteListener,
    { ListenerArn: listener.arn },
    {
      what: `delete listener ${titleOf(model, listener)}`,
      why: `the ${model.askedBy} no longer has this port`,
      settledBy: ["ListenerNotFound"],
    },
  );
}

function differs(listener: ApplicationListener, present: SeenListener, arnOf: ArnOf): boolean {
  if (present.protocol !== listener.protocol || !sameActions(listener.defaultActions, arnOf, present.actions)) return true;
  if (!isSecure(listener)) return false;
  return (
    present.certificate !== listener.certificates[0] ||
    (listener.sslPolicy !== undefined && present.sslPolicy !== listener.sslPolicy) ||
    (listener.mutualTls !== undefined && !sameMutualTls(listener.mutualTls, present.mutualTls))
  );
}

const isSecure = ({ protocol }: ApplicationListener) => protocol === "HTTPS";

const certificatesOf = (listener: ApplicationListener) => (isSecure(listener) ? listener.certificates : []);

function settings(listener: ApplicationListener, arnOf: ArnOf) {
  return {
    Port: listener.port,
    Protocol: listener.protocol,
    DefaultActions: sentActions(listener.defaultActions, arnOf),
    ...(isSecure(listener) && {
      Certificates: listener.certificates.slice(0, 1).map((CertificateArn) => ({ CertificateArn })),
      SslPolicy: listener.sslPolicy,
      ...(listener.mutualTls && { MutualAuthentication: sentMutualTls(listener.mutualTls) }),
    }),
  } as const;
}

function sentMutualTls(wanted: MutualTls): MutualAuthenticationAttributes {
  if (wanted.mode !== "verify") return { Mode: wanted.mode };
  return {
    Mode: wanted.mode,
    TrustStoreArn: wanted.trustStore,
    IgnoreClientCertificateExpiry: wanted.ignoresExpiry,
    AdvertiseTrustStoreCaNames: wanted.advertisesNames ? "on" : "off",
  };
}

/** AWS tells `off` by saying nothing, and of modes without a trust store some empty fields. */
function sameMutualTls(wanted: MutualTls, present: MutualAuthenticationAttributes | undefined): boolean {
  if ((present?.Mode ?? "off") !== wanted.mode) return false;
  if (wanted.mode !== "verify") return true;
  return (
    present?.TrustStoreArn === wanted.trustStore &&
    (present.IgnoreClientCertificateExpiry ?? false) === wanted.ignoresExpiry &&
    (present.AdvertiseTrustStoreCaNames ?? "off") === (wanted.advertisesNames ? "on" : "off")
  );
}

function rulesContext(
  model: ApplicationLoadBalancer,
  listener: ApplicationListener,
  arn: string | Made,
  { arnOf, isForeignTag }: ListenersContext,
): RulesContext {
  return { listener: titleOf(model, listener), listenerArn: arn, arnOf, tags: listener.tags ?? model.tags, isForeignTag };
}

const titleOf = ({ name }: ApplicationLoadBalancer, { protocol, port }: { readonly protocol: string; readonly port: number }) =>
  `${protocol}:${port} of load balancer ${name}`;
