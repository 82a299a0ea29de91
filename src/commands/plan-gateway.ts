/** `fairlead plan gateway/NAME`, and the Gateways of a manifest: what would be done for them. */
import { planJson } from "../aws/plan.ts";
import { isApiError } from "../kube/errors.ts";
import type { KubeObject } from "../kube/resource.ts";
import type { GatewayPreview } from "../loadbalancers/gateway/preview.ts";
import type { SeenGateway } from "../loadbalancers/gateway/report.ts";
import { keyOf, type ObjectName } from "../loadbalancers/gateway/view.ts";
import { unknownUid } from "../loadbalancers/service/manifest.ts";
import { exitStatus } from "../process/exit.ts";
import type { Clock } from "../runtime/world.ts";
import type { Console } from "./command.ts";
import { type Live, NotPossible } from "./live.ts";
import { openGatewaysOf } from "./live-gateway.ts";
import { painter, stepLines } from "./plan-text.ts";

/** `gateway/edge`, `gtw/shop/edge`: namespace and name; undefined where another kind is named. */
export function gatewayNamed(word: string, namespace: string): ObjectName | undefined {
  const [, path] = /^(?:gateways?|gtw)\/(.+)$/.exec(word) ?? [];
  if (path === undefined) return undefined;
  const [first = "", second, ...more] = path.split("/");
  if (first === "" || second === "" || more.length > 0)
    throw new NotPossible(`${JSON.stringify(word)} names no Gateway: write gateway/NAME`);
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}

/** Kinds of a manifest that Gateways follow from. */
export const gatewayKinds: readonly string[] = [
  "Gateway",
  "GatewayClass",
  "ListenerSet",
  "HTTPRoute",
  "GRPCRoute",
  "TLSRoute",
  "TCPRoute",
  "UDPRoute",
  "ReferenceGrant",
  "LoadBalancerConfiguration",
  "TargetGroupConfiguration",
  "ListenerRuleConfiguration",
];

export type PlannedGateways = readonly GatewayPreview[];

/** Those that are named, and those of a manifest. */
export async function planGateways(
  names: readonly ObjectName[],
  written: readonly KubeObject[],
  live: Live,
  clock: Clock,
): Promise<PlannedGateways> {
  const { all, preview } = await openGatewaysOf(live, clock, written);
  const ofManifest = written.flatMap(({ kind, metadata }) =>
    kind === "Gateway" ? [{ namespace: metadata?.namespace ?? live.namespace, name: metadata?.name ?? "" }] : [],
  );
  const keys = [...new Set([...names, ...ofManifest].map(keyOf))];
  // Routes alone concern the Gateways that they name.
  const chosen = keys.length > 0 ? keys.map((key) => found(key, all)) : all;
  return (await Promise.all(chosen.map(preview))).flat();
}

function found(key: string, all: readonly SeenGateway[]): SeenGateway {
  const gateway = all.find(({ view }) => keyOf(view) === key);
  if (gateway === undefined) throw new NotPossible(`there is no Gateway ${key}`);
  return gateway;
}

/** Those of the whole cluster; a text says why nobody can tell. */
export async function planAllGateways(live: Live, clock: Clock): Promise<PlannedGateways | string> {
  try {
    return await planGateways([], [], live, clock);
  } catch (error) {
    if (isApiError(error, "forbidden")) return `Gateways are left out: ${error.message}`;
    throw error;
  }
}

/** The status that the command ends with, by what would be done. */
export function gatewaysStatus(previews: PlannedGateways): number {
  if (previews.some(({ problems, faults }) => problems.length > 0 || faults.size > 0)) return exitStatus.failed;
  return previews.some(({ steps }) => steps.length > 0) ? exitStatus.changes : exitStatus.done;
}

export const gatewaysAsJson = (previews: PlannedGateways): readonly object[] =>
  previews.map(({ gateway, steps, problems, faults, warnings }) => ({
    gateway: keyOf(gateway.view),
    steps: planJson(steps),
    problems,
    faults: Object.fromEntries(faults),
    warnings,
  }));

export function gatewaysAsText(previews: PlannedGateways, console: Console): string {
  const paint = painter(console);
  const lines = previews.flatMap(({ gateway, steps, problems, faults, warnings }) => [
    `Gateway ${keyOf(gateway.view)}: ${problems.length > 0 ? "is wrong and is not applied; what exists in AWS stays as it is" : counted(steps.length)}`,
    ...problems.map((message) => paint(`  ! ${message}`, "delete")),
    ...[...faults].flatMap(([key, texts]) => texts.map((text) => paint(`  ! ${key}: ${text}`, "delete"))),
    ...warnings.map((text) => paint(`  ? ${text}`, "change")),
    ...stepLines(steps, paint, (text) => withoutHash(text, gateway)),
  ]);
  return lines.map((line) => `${line}\n`).join("");
}

/** Names of load balancers and of their security groups have a hash of the Gateway's UID in them, which nobody knows of one that is only written down. */
function withoutHash(text: string, { metadata }: SeenGateway): string {
  if (metadata.uid !== unknownUid) return text;
  return text.replace(/\b((?:load balancer|security group) k8s-[^\s,:]*-)[0-9a-f]{10}\b/g, "$1<hash>");
}

const counted = (steps: number) => (steps === 0 ? "nothing to do" : steps === 1 ? "1 step" : `${steps} steps`);
