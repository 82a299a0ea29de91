/** What AWS has to be asked before anybody can say what a Gateway wants: only what it, or one of its routes, names. */
import type { Ask } from "../../aws/ask.ts";
import { reconcileAges } from "../inventory.ts";
import type { SurveyContext } from "./context.ts";
import type { GatewaySources, GatewayWish } from "./draft.ts";
import { GatewayFault } from "./fault.ts";
import { isValid } from "./listener-validation.ts";
import { needsDiscovery, portOf } from "./ports.ts";

export type LookUps = Pick<GatewaySources, "groups" | "backendGroup" | "vpcCidrs" | "certificates" | "trustStore" | "targetGroupArn">;

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
    discovers(wish) ? certificates.issued(settings.allowedAuthorities.length > 0, ask) : [],
    arnsOf(trustStoreNames(wish), (name) => trustStores.arn(name, ask)),
    arnsOf(targetGroupNames(wish), async (name) => (await inventory.targetGroups.get(name, reconcileAges, ask))?.TargetGroupArn),
  ]);
  return {
    ...(backendGroup !== undefined && { backendGroup }),
    groups,
    vpcCidrs: vpcCidrs ?? [],
    certificates: issued,
    trustStore: (name) => stores.get(name),
    targetGroupArn: (name) => targetGroups.get(name),
  };
}

async function arnsOf(
  names: readonly string[],
  arnOf: (name: string) => Promise<string | undefined>,
): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all([...new Set(names)].map(async (name) => [name, await arnOf(name)] as const));
  return new Map(found.flatMap(([name, arn]) => (arn === undefined ? [] : [[name, arn] as const])));
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
