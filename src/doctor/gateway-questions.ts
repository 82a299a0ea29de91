/** Reads what serving Gateways takes in the cluster: definitions, classes, and what Gateways and routes were told. */
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { configurationGroup, flavours, type GatewayFacts, gatewayFacts, gatewayGroup, type Item, type Listed } from "./gateway-facts.ts";

const versions = [`${gatewayGroup}/v1`, `${gatewayGroup}/v1beta1`, `${configurationGroup}/v1`] as const;
const routeKinds = Object.values(flavours).flat();

export async function askGateways(kube: KubeClient, signal: AbortSignal): Promise<GatewayFacts> {
  const raw = async (path: string) =>
    kube.raw(path, { signal }).catch((error: unknown) => {
      if (isApiError(error, "not-found")) return "{}";
      throw error;
    });
  const list = async (path: string) => (JSON.parse(await raw(path)) as Listed).items ?? [];
  const kindsOf = async (api: string) => {
    const { resources = [] } = JSON.parse(await raw(`/apis/${api}`)) as { readonly resources?: readonly { readonly kind: string }[] };
    return resources.map(({ kind }) => `${kind}.${api}`);
  };
  const kinds = (await Promise.all(versions.map(kindsOf))).flat();
  // Nothing is asked of a server that does not know the kind.
  const all = async (api: string, kind: string, plural: string) => (kinds.includes(`${kind}.${api}`) ? list(`/apis/${api}/${plural}`) : []);
  const own = `${gatewayGroup}/v1`;
  const [definitions, classes, gateways, routes, configurations] = await Promise.all([
    kinds.length === 0 ? [] : definitionsIn(list),
    all(own, "GatewayClass", "gatewayclasses"),
    all(own, "Gateway", "gateways"),
    Promise.all(routeKinds.map(async (kind) => (await all(own, kind, `${kind.toLowerCase()}s`)).map((item) => ({ ...item, kind })))),
    all(`${configurationGroup}/v1`, "LoadBalancerConfiguration", "loadbalancerconfigurations"),
  ]);
  return gatewayFacts({ kinds, definitions, classes, gateways, routes: routes.flat(), configurations });
}

/** Few may read them: all else is told without. */
async function definitionsIn(list: (path: string) => Promise<readonly Item[]>): Promise<readonly Item[] | undefined> {
  try {
    return await list("/apis/apiextensions.k8s.io/v1/customresourcedefinitions");
  } catch (error) {
    if (isApiError(error)) return undefined;
    throw error;
  }
}
