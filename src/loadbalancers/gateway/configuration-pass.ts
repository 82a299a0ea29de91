/** Keeps configurations from going while something uses them, and judges those of rules. */
import type { Frozen, KubeObject, Resource } from "../../kube/resource.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import { listenerRuleConfigurations, loadBalancerConfigurations, targetGroupConfigurations } from "./api.ts";
import type { ListenerRuleSettings, TargetGroupConfiguration } from "./config.ts";
import { configurationKind } from "./configuration.ts";
import type { ConfigurationContext } from "./configuration-context.ts";
import type { SeenConfiguration } from "./configuration-report.ts";
import { flavourOf } from "./flavours.ts";
import { oidcSecret } from "./rule-actions.ts";
import type { Objects, Readable } from "./seen.ts";
import type { ConfigurationState } from "./states.ts";
import { keyOf, type ObjectName } from "./view.ts";
import { gatewaysOfRule, gatewaysOfService } from "./wakes.ts";

const staleMs = 1_000;

interface Guarded {
  readonly resource: Resource<KubeObject>;
  readonly finalizer: string;
  readonly store: (objects: Objects) => Readable<ConfigurationState<object>>;
  /** What still uses it, in words; undefined: nothing does. */
  readonly use: (state: SeenConfiguration, objects: Objects) => string | undefined;
}

/** By the kinds of objects, with which keys begin. */
export const guardedKinds = {
  LoadBalancerConfiguration: {
    resource: loadBalancerConfigurations,
    finalizer: "gateway.k8s.aws/loadbalancerconfigurations",
    store: ({ loadBalancers }) => loadBalancers,
    use: ({ metadata }, objects) =>
      isLoadBalancerUsed(metadata, objects) ? `loadbalancer configuration [${keyOf(metadata)}] is still in use` : undefined,
  },
  TargetGroupConfiguration: {
    resource: targetGroupConfigurations,
    finalizer: "gateway.k8s.aws/targetgroupconfigurations",
    store: ({ targetGroups }) => targetGroups,
    use: (state, objects) => targetGroupUse(state as Frozen<ConfigurationState<TargetGroupConfiguration>>, objects),
  },
  ListenerRuleConfiguration: {
    resource: listenerRuleConfigurations,
    finalizer: "gateway.k8s.aws/listenerruleconfigurations",
    store: ({ rules }) => rules,
    use: ({ metadata }, objects) =>
      gatewaysOfRule(metadata, objects).length > 0
        ? `failed to remove finalizers as listener rule configuration [${keyOf(metadata)}] is still in use`
        : undefined,
  },
} as const satisfies Readonly<Record<string, Guarded>>;

export type GuardedKind = keyof typeof guardedKinds;

export async function reconcileConfiguration(
  kind: GuardedKind,
  key: string,
  context: ConfigurationContext,
  signal: AbortSignal,
): Promise<Outcome> {
  const { objects, host } = context;
  const { resource, finalizer, store, use }: Guarded = guardedKinds[kind];
  const state = store(objects).get(key);
  if (state === undefined) {
    if (kind === "ListenerRuleConfiguration") await context.secrets.follow(key, new Set(), signal);
    return done;
  }
  const used = state.view.isDeleted ? use(state, objects) : undefined;
  // Whatever uses it wakes it when it does no more.
  if (used !== undefined) host.log.info(used);
  const isWanted = !state.view.isDeleted || used !== undefined;
  if (!isWanted && !state.view.finalizers.includes(finalizer)) return done;
  const isSet =
    (state.view.isDeleted && isWanted) || (await context.report.configurations.setFinalizer(resource, state, finalizer, isWanted, signal));
  if (!isSet) return again(staleMs, `the ${kind} has changed in the meantime`);
  if (kind !== "ListenerRuleConfiguration" || !isWanted) return done;
  return judgeRule(state as Frozen<ConfigurationState<ListenerRuleSettings>>, context, signal);
}

async function judgeRule(
  rule: Frozen<ConfigurationState<ListenerRuleSettings>>,
  { secrets, report }: ConfigurationContext,
  signal: AbortSignal,
): Promise<Outcome> {
  const verdict = await ruleVerdict(rule, secrets, signal);
  const isTold = await report.configurations.judge(listenerRuleConfigurations, rule, verdict, signal);
  return isTold ? done : again(staleMs, "the ListenerRuleConfiguration has changed in the meantime");
}

/** A rule's configuration can be used when the Secret of its log-in is there. */
export async function ruleVerdict(
  rule: Frozen<ConfigurationState<ListenerRuleSettings>>,
  secrets: Pick<ConfigurationContext["secrets"], "follow" | "read">,
  signal: AbortSignal,
): Promise<{ readonly accepted: boolean; readonly message: string }> {
  const { namespace, name, uid } = rule.metadata;
  const secret = oidcSecret({ settings: rule.view.spec });
  const key = keyOf({ namespace, name });
  await secrets.follow(key, new Set(secret === undefined ? [] : [keyOf({ namespace, name: secret })]), signal);
  const read = secret === undefined ? undefined : secrets.read(secret, { namespace, name, uid }, {});
  if (read === undefined || "data" in read) return { accepted: true, message: "Accepted" };
  // What was said of it last stays said until the Secret can be read; whoever follows it wakes it then.
  if (read.isUnread && rule.accepted !== undefined) return { accepted: rule.accepted, message: rule.message ?? "" };
  return { accepted: false, message: `secret [${namespace}/${secret}] ${read.isUnread ? "cannot be read" : "not found"}` };
}

/** Whether a class or a Gateway of ours refers to it. */
function isLoadBalancerUsed({ namespace, name }: ObjectName, { classes, gateways }: Objects): boolean {
  const ofClass = classes
    .list()
    .some(
      ({ view: { controllerName, parametersRef: ref } }) =>
        flavourOf(controllerName) !== undefined && ref?.kind === configurationKind && ref.name === name && ref.namespace === namespace,
    );
  const isOurs = (className: string) => flavourOf(classes.get(className)?.view.controllerName ?? "") !== undefined;
  return (
    ofClass ||
    gateways
      .list()
      .some(
        ({ view }) =>
          view.namespace === namespace &&
          isOurs(view.className) &&
          view.parametersRef?.kind === configurationKind &&
          view.parametersRef.name === name,
      )
  );
}

function targetGroupUse(
  { metadata, view: { spec } }: Frozen<ConfigurationState<TargetGroupConfiguration>>,
  objects: Objects,
): string | undefined {
  const { namespace, name } = metadata;
  if (spec.targetReference) {
    const service = { namespace, name: spec.targetReference.name };
    const isUsed = objects.services.get(keyOf(service)) !== undefined && usesOurs(gatewaysOfService(service, objects), objects);
    return isUsed ? `targetgroup configuration [${keyOf(metadata)}] is still in use` : undefined;
  }
  const users = objects.loadBalancers
    .list()
    .filter((each) => each.metadata.namespace === namespace && each.view.spec.defaultTargetGroupConfiguration?.name === name)
    .filter((each) => isLoadBalancerUsed(each.metadata, objects))
    .map((each) => keyOf(each.metadata));
  if (users.length === 0) return undefined;
  return `default targetgroup configuration [${keyOf(metadata)}] is still in use by LoadBalancerConfiguration [${users.join(", ")}]`;
}

/** Whether one of these Gateways is of a class of ours. */
const usesOurs = (keys: readonly string[], { gateways, classes }: Objects) =>
  keys.some((key) => {
    const className = gateways.get(key)?.view.className ?? "";
    return flavourOf(classes.get(className)?.view.controllerName ?? "") !== undefined;
  });
