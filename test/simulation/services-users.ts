/** Those who use Services: they create them, change their minds about everything, and delete them. */
import type { ServiceSpec } from "../../src/kube/types.ts";
import { type AnnotationName, annotationKey, sourceRangesAnnotation } from "../../src/loadbalancers/service/annotations.ts";
import { sleep } from "../../src/runtime/world.ts";
import { certificate } from "../bed/service-world.ts";
import type { Chance } from "./chance.ts";
import { takenName } from "./services-foreign.ts";
import { otherClass } from "./services-other-controller.ts";
import type { ServicesScene } from "./services-scene.ts";

const names = ["a", "b", "c", "d"];
export const servicesPath = "/api/v1/namespaces/default/services";

/** Users, until the signal aborts. */
export async function useServices(scene: ServicesScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  while (!signal.aborted) {
    const name = one(chance, names);
    const there = scene.services().find(({ metadata }) => metadata.name === name);
    if (chance.happens(0.1)) await favour(scene);
    else if (there === undefined) await create(scene, name);
    else if (there.metadata.deletionTimestamp === undefined) {
      if (chance.happens(0.2)) await scene.touch(name, "DELETE", `${servicesPath}/${name}`);
      else await edit(scene, name, there.spec?.type);
    }
    await sleep(world.clock, chance.between(1_000, 25_000), signal).catch(() => {});
  }
}

/** Looks every few seconds which Services have all they want. */
export async function lookAround(scene: ServicesScene, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    scene.settle();
    await sleep(scene.world.clock, 3_000, signal).catch(() => {});
  }
}

/** Everybody leaves. */
export async function deleteAll(scene: ServicesScene): Promise<void> {
  for (const { metadata } of scene.services())
    if (metadata.deletionTimestamp === undefined) await scene.touch(metadata.name, "DELETE", `${servicesPath}/${metadata.name}`);
}

/** What people write behind each annotation, good and bad; null takes it away. */
function values({ network, lent }: ServicesScene): Readonly<Record<AnnotationName, readonly (string | null)[]>> {
  const [first, second] = network.publicSubnetIds;
  return {
    type: ["nlb", null, "nlb", null, "external", "nlb-ip", "NLB", "none"],
    "type-change": ["replace", "replace", null, "at once"],
    name: ["chosen", "Also-Chosen", null, null, takenName, "-no-name"],
    internal: ["true", "false", null],
    subnets: [null, null, `${first}`, `${first},${second}`, "subnet-none"],
    "ssl-cert": [certificate, null],
    "ssl-ports": ["80", "*", "p1", null],
    "ssl-negotiation-policy": ["ELBSecurityPolicy-TLS-1-2-2017-01", null],
    "backend-protocol": ["tcp", "ssl", "http", null, "bacon"],
    "proxy-protocol": ["*", null, null, "yes"],
    "access-log-enabled": ["true", "false", null],
    "access-log-emit-interval": ["5", "60", null],
    "access-log-s3-bucket-name": ["logs", null],
    "access-log-s3-bucket-prefix": ["web", null],
    "connection-draining-enabled": ["true", "false", null],
    "connection-draining-timeout": ["30", null],
    "connection-idle-timeout": ["30", "300", null, "soon"],
    "cross-zone-load-balancing-enabled": ["true", "false", null],
    "extra-security-groups": [null, null, lent.groups[1]!],
    "security-groups": [null, null, lent.groups[0]!, lent.groups.join(",")],
    "additional-resource-tags": ["team=a", "team=b,stage=x", null],
    "target-node-labels": ["pool=a", "pool=b", "pool=", null, null, null],
    "healthcheck-protocol": ["TCP", "HTTP", null],
    "healthcheck-port": ["traffic-port", "32100", null, "web"],
    "healthcheck-path": ["/ready", null],
    "healthcheck-healthy-threshold": ["3", "5", null],
    "healthcheck-unhealthy-threshold": ["3", "4", null],
    "healthcheck-interval": ["10", "30", null],
    "healthcheck-timeout": ["4", null],
    "eip-allocations": [null, null, lent.addresses.join(","), lent.addresses[0]!],
    "private-ipv4-addresses": [null, null, null, "10.0.0.77,10.0.1.77"],
    "target-group-attributes": ["proxy_protocol_v2.enabled=true", "preserve_client_ip.enabled=false", null, null],
  };
}

/** Who wants access logs mostly says where to. */
function annotations(scene: ServicesScene, most: number): Record<string, string | null> {
  const { chance } = scene;
  const all = values(scene);
  const keys = Object.keys(all) as AnnotationName[];
  const picked = Array.from({ length: Math.round(chance.between(0, most)) }, () => one(chance, keys));
  const given = picked.map((key): [string, string | null] => [annotationKey(key), one(chance, all[key])]);
  const ranges: [string, string | null][] = chance.happens(0.1) ? [[sourceRangesAnnotation, one(chance, ["10.1.0.0/16", null])]] : [];
  const edited = Object.fromEntries([...given, ...ranges]);
  return edited[annotationKey("access-log-enabled")] === "true"
    ? { ...edited, [annotationKey("access-log-s3-bucket-name")]: "logs" }
    : edited;
}

async function create(scene: ServicesScene, name: string): Promise<void> {
  const { chance } = scene;
  // Another controller's, under a name that we would take for ours.
  const theirs = chance.happens(0.15) && {
    [annotationKey("type")]: one(chance, ["external", "nlb-ip"]),
    [annotationKey("name")]: one(chance, ["chosen", "theirs"]),
  };
  const all = { ...annotations(scene, 4), ...(chance.happens(0.4) && { [annotationKey("type")]: "nlb" }), ...theirs };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  const spec = { type: "LoadBalancer", ...shape(chance), ...(chance.happens(0.1) && { loadBalancerClass: otherClass }) };
  await scene.touch(name, "POST", servicesPath, { metadata: { name, annotations: given }, spec });
}

async function edit(scene: ServicesScene, name: string, type: string | undefined): Promise<void> {
  const { chance } = scene;
  const next = type === "LoadBalancer" && chance.happens(0.15) ? "ClusterIP" : "LoadBalancer";
  const kind = chance.happens(0.15) && { [annotationKey("type")]: one(chance, ["nlb", null]) };
  const spec =
    next === "ClusterIP"
      ? { type: next, externalTrafficPolicy: null, healthCheckNodePort: null }
      : { type: next, ...(chance.happens(0.3) && shape(chance)) };
  const body = { metadata: { annotations: { ...annotations(scene, 3), ...kind } }, spec };
  await scene.touch(name, "PATCH", `${servicesPath}/${name}`, body);
}

type Shape = Pick<ServiceSpec, "ports" | "externalTrafficPolicy"> & { loadBalancerSourceRanges: string[] | null };

function shape(chance: Chance): Shape {
  const count = Math.round(chance.between(1, 3));
  const protocol = () => (chance.happens(0.1) ? "UDP" : "TCP");
  return {
    ports: Array.from({ length: count }, (_, i) => ({ name: `p${i}`, port: 80 + i, protocol: protocol() })),
    externalTrafficPolicy: chance.happens(0.2) ? "Local" : "Cluster",
    loadBalancerSourceRanges: one(chance, [null, null, ["10.0.0.0/8"], ["192.168.0.0/16", "10.0.0.0/8"]]),
  };
}

/** A node that may not take traffic any more, or may again. */
async function favour(scene: ServicesScene): Promise<void> {
  const { chance } = scene;
  const node = chance.pick(scene.nodes().filter(({ metadata }) => metadata.name !== "steady"));
  if (node === undefined) return;
  const label = "node.kubernetes.io/exclude-from-external-load-balancers";
  const labels = { [label]: node.metadata.labels?.[label] === undefined ? "" : null };
  await scene.say("user", "PATCH", `/api/v1/nodes/${node.metadata.name}`, { metadata: { labels } });
}

/** One of some. */
function one<T>(chance: Chance, items: readonly T[]): T {
  return chance.pick(items)!;
}
