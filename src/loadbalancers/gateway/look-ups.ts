/** What AWS has to be asked before anybody can say what a Gateway wants: only what it, or one of its routes, names. */
import type { Ask } from "../../aws/ask.ts";
import { type AwsError, isAwsError } from "../../aws/errors.ts";
import { reconcileAges } from "../inventory.ts";
import type { SurveyContext } from "./context.ts";
import type { GatewaySources, GatewayWish } from "./draft.ts";
import { GatewayFault, HeldFault } from "./fault.ts";
import { isValid } from "./listener-validation.ts";
import { needsDiscovery, portOf } from "./ports.ts";
import { withoutRequestId } from "./refused.ts";

export interface LookUps
  extends Pick<GatewaySources, "groups" | "backendGroup" | "vpcCidrs" | "certificates" | "trustStore" | "targetGroupArn"> {
  /** What AWS could not be asked about single listeners and rules. They are held back, nobody else is, and it is tried again. */
  readonly failures: readonly AwsError[];
}

export async function lookUp(wish: GatewayWish, context: SurveyContext, ask: Ask): Promise<LookUps> {
  const { inventory, settings } = context;
  const { config, flavour } = wish;
  const { trustStores, certificates, vpcs } = inventory.cloud;
  const given = config.securityGroups ?? [];
  const mayLackGroups = flavour.name === "nlb";
  const needsGroup = !(mayLackGroups && config.disableSecurityGroup) && (given.length === 0 || config.manageBackendSecurityGroupRules);
  const [backendGroup, groups, vpcCidrs, issued, stores, targetGroups] = await Promise.all([
    needsGroup ? context.backendGroup(ask) : undefined,
    inventory.groupsWith(
      given.filter((entry) => entry.startsWith("sg-")),
      ask,
    ),
    mayLackGroups ? vpcs.cidrs(settings.vpc, ask) : [],
    settled(async () => (discovers(wish) ? certificates.issued(settings.allowedAuthorities.length > 0, ask) : [])),
    answersFor(trustStoreNames(wish), (name) => trustStores.arn(name, ask)),
    answersFor(targetGroupNames(wish), async (name) => (await inventory.targetGroups.get(name, reconcileAges, ask))?.TargetGroupArn),
  ]);
  const failures = [issued, ...stores.values(), ...targetGroups.values()].flatMap((answer) => ("error" in answer ? [answer.error] : []));
  return {
    failures,
    ...(backendGroup !== undefined && { backendGroup }),
    groups,
    vpcCidrs: vpcCidrs ?? [],
    certificates: () => answered(issued, unaskedPort),
    trustStore: (name) => answered(stores.get(name), unaskedPort),
    targetGroupArn: (name) => answered(targetGroups.get(name), unaskedRule),
  };
}

const unaskedPort = ({ message }: AwsError) => new GatewayFault(withoutRequestId(message), { isUnknown: true });
const unaskedRule = ({ message }: AwsError) => new HeldFault(withoutRequestId(message), { isUnknown: true });

type Answer<T> = { readonly value: T } | { readonly error: AwsError };

async function settled<T>(find: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { value: await find() };
  } catch (error) {
    if (!isAwsError(error)) throw error;
    return { error };
  }
}

function answered<T>(answer: Answer<T>, faultOf: (error: AwsError) => Error): T;
function answered<T>(answer: Answer<T> | undefined, faultOf: (error: AwsError) => Error): T | undefined;
function answered<T>(answer: Answer<T> | undefined, faultOf: (error: AwsError) => Error): T | undefined {
  if (answer && "error" in answer) throw faultOf(answer.error);
  return answer?.value;
}

async function answersFor<T>(names: readonly string[], find: (name: string) => Promise<T>): Promise<ReadonlyMap<string, Answer<T>>> {
  return new Map(await Promise.all([...new Set(names)].map(async (name) => [name, await settled(() => find(name))] as const)));
}

/** Whether certificates have to be found by host names. */
function discovers(wish: GatewayWish): boolean {
  const ports = new Set(wish.listeners.filter(isValid).map(({ listener }) => listener.port));
  return [...ports].some((number) => {
    try {
      const port = portOf(wish, number);
      return port !== undefined && needsDiscovery(port);
    } catch (error) {
      // What contradicts itself is told elsewhere.
      if (error instanceof GatewayFault) return false;
      throw error;
    }
  });
}

const trustStoreNames = ({ config }: GatewayWish) =>
  (config.listenerConfigurations ?? []).flatMap(({ mutualAuthentication: { mode, trustStore = "" } = { mode: "off" } }) =>
    mode === "verify" && !trustStore.startsWith("arn:") ? [trustStore] : [],
  );

/** Target groups that somebody else made. */
const targetGroupNames = ({ attachment }: GatewayWish) =>
  [...attachment.byPort.values()].flatMap((routes) =>
    routes.flatMap(({ route }) =>
      route.rules.flatMap(({ backends }) => backends.flatMap(({ kind, name }) => (kind === "TargetGroupName" ? [name] : []))),
    ),
  );
