/** Whether the API server serves what Gateways need: asked again while it does not, so that nobody has to restart anything. */
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import { configurationGroup } from "./configuration.ts";
import type { Flavour } from "./flavours.ts";
import { gatewayGroup } from "./grants.ts";

/** Kinds by group and version. */
export type Served = ReadonlyMap<string, ReadonlySet<string>>;

const apis = [`${gatewayGroup}/v1`, `${gatewayGroup}/v1beta1`, `${configurationGroup}/v1`] as const;
const configurations = ["LoadBalancerConfiguration", "TargetGroupConfiguration", "ListenerRuleConfiguration"];

export async function discover(kube: KubeClient, signal: AbortSignal): Promise<Served> {
  const found = await Promise.all(apis.map(async (api) => [api, await kindsOf(api, kube, signal)] as const));
  return new Map(found);
}

async function kindsOf(api: string, kube: KubeClient, signal: AbortSignal): Promise<ReadonlySet<string>> {
  try {
    const { resources = [] } = JSON.parse(await kube.raw(`/apis/${api}`, { signal })) as { resources?: { kind: string }[] };
    return new Set(resources.map(({ kind }) => kind));
  } catch (error) {
    if (isApiError(error, "not-found")) return new Set();
    throw error;
  }
}

/** Kinds that are not served and that a kind of Gateway cannot do without. */
export function missingKinds({ routeKinds }: Pick<Flavour, "routeKinds">, served: Served): readonly string[] {
  const needs: readonly (readonly [(typeof apis)[number], readonly string[]])[] = [
    [`${gatewayGroup}/v1`, ["Gateway", "GatewayClass", ...routeKinds]],
    [`${gatewayGroup}/v1beta1`, ["ReferenceGrant"]],
    [`${configurationGroup}/v1`, configurations],
  ];
  return needs.flatMap(([api, kinds]) => kinds.filter((kind) => !served.get(api)?.has(kind)).map((kind) => `${kind}.${api}`));
}

export const servesSets = (served: Served) => served.get(`${gatewayGroup}/v1`)?.has("ListenerSet") ?? false;
