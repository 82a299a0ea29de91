/** Feature gates: the names the reference accepts, what each is by default, and which can still be changed. */
import type { Kind } from "../../runtime/flags.ts";
import { parseGoBool } from "../../runtime/flags-go.ts";

interface Gate {
  readonly stage: "alpha" | "beta" | "ga" | "deprecated";
  readonly initial: boolean;
  /** Takes its initial value only. */
  readonly locked?: true;
}

/** The gates somebody set, by name. */
export type GateSettings = Readonly<Record<string, boolean>>;

/** Gates that decide something in this program; the others are accepted so that command lines stay valid. */
export type EffectiveGate = "CloudControllerManagerWatchBasedRoutesReconciliation" | "LoggingAlphaOptions";

const alpha = (initial: boolean): Gate => ({ stage: "alpha", initial });
const beta = (initial: boolean): Gate => ({ stage: "beta", initial });

const gates: Readonly<Record<string, Gate>> = {
  APIResponseCompression: beta(true),
  APIServerIdentity: beta(true),
  APIServerWebhookAuthenticationToken: alpha(false),
  APIServingWithRoutine: alpha(false),
  AllowParsingUserUIDFromCertAuth: beta(true),
  AllowUnsafeMalformedObjectDeletion: beta(true),
  CBORServingAndStorage: alpha(false),
  CloudControllerManagerWatchBasedRoutesReconciliation: alpha(false),
  CloudControllerManagerWebhook: alpha(false),
  ComponentFlagz: beta(true),
  ComponentStatusz: beta(true),
  ConcurrentWatchObjectDecode: beta(true),
  ConsistentListFromCacheSkipTimeoutFallback: alpha(false),
  ConstrainedImpersonation: beta(true),
  ContextualLogging: beta(true),
  ControllerManagerReleaseLeaderElectionLockOnExit: alpha(false),
  CoordinatedLeaderElection: beta(false),
  DeclarativeValidationBeta: beta(true),
  DetectCacheInconsistency: beta(true),
  EtcdRangeStream: beta(true),
  ExcludeAdmissionWebhookVirtualResources: beta(true),
  ListFromCacheSnapshot: beta(true),
  LoggingAlphaOptions: alpha(false),
  LoggingBetaOptions: beta(true),
  ManifestBasedAdmissionControlConfig: beta(true),
  NativeHistograms: beta(true),
  OpenAPIEnums: beta(true),
  RemoteRequestHeaderUID: beta(true),
  ShardedListAndWatch: alpha(false),
  SizeBasedListCostEstimate: beta(true),
  StorageVersionAPI: alpha(false),
  StorageVersionHash: beta(true),
  StructuredAuthenticationConfigurationEgressSelector: beta(true),
  StructuredAuthenticationConfigurationJWKSMetrics: beta(true),
  TokenRequestServiceAccountUIDValidation: beta(true),
  UnauthenticatedHTTP2DOSMitigation: beta(true),
  UnknownVersionInteroperabilityProxy: beta(true),
  WatchList: beta(true),
  WatchListCompression: beta(true),
  WebhookRoundTripLoadBalancing: beta(true),
  AggregatedDiscoveryRemoveBetaType: { stage: "deprecated", initial: true, locked: true },
  DeclarativeValidation: { stage: "ga", initial: true, locked: true },
  DeclarativeValidationTakeover: { stage: "deprecated", initial: false, locked: true },
  KMSv1: { stage: "deprecated", initial: false },
  MutatingAdmissionPolicy: { stage: "ga", initial: true },
  SeparateCacheWatchRPC: { stage: "deprecated", initial: false, locked: true },
  WatchCacheInitializationPostStartHook: { stage: "ga", initial: true, locked: true },
};

/** `Gate=true,Other=false`; unknown gates and the wrong side of locked ones are refused. */
export const featureGates: Kind<GateSettings> = {
  type: "mapStringBool",
  holds: "map",
  parse(text, before) {
    const items = text.split(",").filter((item) => item !== "");
    return { ...before, ...Object.fromEntries(items.map(parseItem)) };
  },
  print: (value) =>
    Object.keys(value)
      .sort()
      .map((name) => `${name}=${value[name]}`)
      .join(","),
};

/** Whether a gate is open: set by name, by its group, or by default. */
export function gateOpen(settings: GateSettings, name: EffectiveGate): boolean {
  const { stage, initial } = gates[name]!;
  const group = stage === "alpha" ? settings.AllAlpha : stage === "beta" ? settings.AllBeta : undefined;
  return settings[name] ?? group ?? initial;
}

/** What to tell whoever sets gates that no longer decide anything. */
export function gateWarnings(settings: GateSettings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const stage = gates[name]?.stage;
    if (stage !== "ga" && stage !== "deprecated") return [];
    return [`Setting ${stage === "ga" ? "GA" : "deprecated"} feature gate ${name}=${value}. It will be removed in a future release.`];
  });
}

/** One line a gate for `--help`. */
export function gateList(): string {
  const shown = { AllAlpha: alpha(false), AllBeta: beta(false), ...gates };
  return Object.entries(shown)
    .filter(([, { stage }]) => stage === "alpha" || stage === "beta")
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { stage, initial }]) => `${name}=true|false (${stage.toUpperCase()} - default=${initial})`)
    .join("\n");
}

function parseItem(item: string): [string, boolean] {
  const equals = item.indexOf("=");
  const name = item.slice(0, equals < 0 ? undefined : equals).trim();
  if (equals < 0) throw new SyntaxError(`missing bool value for ${name}`);
  const text = item.slice(equals + 1).trim();
  const value = parseValue(name, text);
  if (name === "AllAlpha" || name === "AllBeta") return [name, value];
  const gate = Object.hasOwn(gates, name) ? gates[name] : undefined;
  if (!gate) throw new SyntaxError(`unrecognized feature gate: ${name}`);
  if (gate.locked && value !== gate.initial) {
    throw new SyntaxError(`cannot set feature gate ${name} to ${value}, feature is locked to ${gate.initial}`);
  }
  return [name, value];
}

function parseValue(name: string, text: string): boolean {
  try {
    return parseGoBool(text);
  } catch (cause) {
    throw new SyntaxError(`invalid value of ${name}=${text}, err: ${(cause as Error).message}`, { cause });
  }
}
