/** What a Gateway is configured with: by its class and by itself. Pure. */
import type { LoadBalancerSettings, TargetGroupConfiguration } from "./config.ts";
import { GatewayFault } from "./fault.ts";
import { mergeLoadBalancers, mergingModeOf } from "./merge.ts";
import { sharesTargetGroups } from "./sharing.ts";
import { mergeDefaults } from "./target-settings.ts";
import { type ClassView, type GatewayView, keyOf, type ObjectName, type ParametersRef } from "./view.ts";

export const configurationKind = "LoadBalancerConfiguration";
export const configurationGroup = "gateway.k8s.aws";

/** An object and the version in which it was read. */
export interface Versioned<Spec> {
  readonly spec: Spec;
  readonly resourceVersion: string;
}

export interface ConfigurationSources {
  loadBalancer(key: string): Versioned<LoadBalancerSettings> | undefined;
  targetGroup(key: string): Versioned<TargetGroupConfiguration> | undefined;
}

/** Where the version is noted in which a class has processed its configuration. */
export const processedAnnotation = "elbv2.k8s.aws/last-processed-config";

export interface GatewayConfiguration {
  readonly config: LoadBalancerSettings;
  readonly targets?: TargetGroupConfiguration;
  readonly sharesTargetGroups?: boolean;
}

/** Throws a `GatewayFault` for what is missing, or not as it has to be. */
export function configurationOf(gateway: GatewayView, of: ClassView, sources: ConfigurationSources): GatewayConfiguration {
  const accepted = of.conditions.find(({ type }) => type === "Accepted");
  if (accepted?.status !== "True") throw new GatewayFault(`Unable to materialize gateway when gateway class [${of.name}] is not accepted`);
  const ofClass = readClass(of, sources);
  if ("fault" in ofClass) throw new GatewayFault(ofClass.message);
  const processed = of.annotations[processedAnnotation] ?? "";
  if (ofClass.version !== "" && processed !== ofClass.version)
    throw new GatewayFault(
      `GatewayClass [${of.name}] hasn't processed latest loadbalancer config. Processed version ${processed}, Latest version ${ofClass.version}`,
    );
  const own = gateway.parametersRef && checked(gateway.parametersRef, { namespace: gateway.namespace, name: gateway.name });
  const ofGateway = own && sources.loadBalancer(keyOf({ namespace: gateway.namespace, name: own.name }));
  if (own && ofGateway === undefined) throw new GatewayFault(`${configurationKind} (${own.name},${gateway.namespace}) not found`);
  const defaults = ofGateway && defaultTargets(ofGateway.spec, gateway.namespace, sources);
  const targets = mergeDefaults(mergingModeOf(ofClass.settings), ofClass.targets, defaults?.spec);
  return {
    config: mergeLoadBalancers(ofClass.settings, ofGateway?.spec),
    ...(targets && { targets }),
    ...(sharesTargetGroups(gateway, of) && { sharesTargetGroups: true }),
  };
}

/** What a class is configured with, and the version of it that is to be noted; or why it cannot be accepted. */
export type ClassReading =
  | { readonly settings?: LoadBalancerSettings; readonly targets?: TargetGroupConfiguration; readonly version: string }
  | { readonly fault: "InvalidParametersRef" | "NotFound" | "InvalidParameters"; readonly message: string };

export function readClass({ parametersRef }: ClassView, sources: ConfigurationSources): ClassReading {
  if (parametersRef === undefined) return { version: "" };
  const { namespace, name } = parametersRef;
  if (!namespace)
    return { fault: "InvalidParametersRef", message: `Namespace must be specified in ParametersRef for ${configurationKind}` };
  try {
    checked(parametersRef, { namespace, name });
    const found = sources.loadBalancer(keyOf({ namespace, name }));
    if (found === undefined) return { fault: "NotFound", message: `${configurationKind} (${name},${namespace}) not found` };
    const targets = defaultTargets(found.spec, namespace, sources);
    const version = targets ? `${found.resourceVersion}-${targets.resourceVersion}` : found.resourceVersion;
    return { settings: found.spec, ...(targets && { targets: targets.spec }), version };
  } catch (error) {
    if (error instanceof GatewayFault) return { fault: "InvalidParameters", message: error.message };
    throw error;
  }
}

function checked(ref: ParametersRef, of: ObjectName): ParametersRef {
  if (ref.group === configurationGroup && ref.kind === configurationKind) return ref;
  throw new GatewayFault(
    `parametersRef of ${keyOf(of)} is a ${ref.group}/${ref.kind}: it takes a ${configurationGroup}/${configurationKind}`,
  );
}

function defaultTargets({ defaultTargetGroupConfiguration: ref }: LoadBalancerSettings, namespace: string, sources: ConfigurationSources) {
  if (ref === undefined) return undefined;
  const key = keyOf({ namespace, name: ref.name });
  const found = sources.targetGroup(key);
  const fault = (why: string) => new GatewayFault(`failed to resolve default TargetGroupConfiguration ${key}: ${why}`);
  if (found === undefined) throw fault("not found");
  if (found.spec.targetReference) throw fault("it has a targetReference, and a default has none");
  return found;
}
