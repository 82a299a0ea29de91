/** A user whose Service fails at first, and who lets fewer clients in once it is served. */
import { annotationKey } from "../../src/loadbalancers/service/annotations.ts";
import { sleep } from "../../src/runtime/world.ts";
import type { ServicesScene } from "./services-scene.ts";
import { servicesPath } from "./services-users.ts";

const name = "narrow";
const chosenName = "narrow-one";
/** How long it is waited for until it is served. */
const patienceMs = 2 * 60_000;

/** In some histories. Ends before the faults do, or with it. */
export async function letFewerIn(scene: ServicesScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  if (!chance.happens(0.5)) return;
  const rest = (ms: number) => sleep(world.clock, ms, signal).catch(() => {});
  await rest(chance.between(0, 4 * 60_000));
  const mend = chance.happens(0.5) ? await startAsWrongKind(scene) : await startDenied(scene);
  await rest(chance.between(10_000, 30_000));
  await mend();
  const isServed = () => scene.account.networks().some(({ tags }) => tags["kubernetes.io/service-name"] === `default/${name}`);
  for (let waited = 0; waited < patienceMs && !signal.aborted && !isServed(); waited += 5_000) await rest(5_000);
  await rest(chance.between(10_000, 30_000));
  await edit(scene, { spec: { loadBalancerSourceRanges: ["10.1.0.0/16"] } });
}

/** UDP is refused to a classic load balancer. */
async function startAsWrongKind(scene: ServicesScene): Promise<() => Promise<void>> {
  await create(scene, {}, "UDP");
  return () => edit(scene, { metadata: { annotations: { [annotationKey("type")]: "nlb" } } });
}

/** AWS refuses to make it, under the name of its user's choice. */
async function startDenied(scene: ServicesScene): Promise<() => Promise<void>> {
  const { faults } = scene.cloud.controls;
  const action = "elasticloadbalancing:CreateLoadBalancer";
  const id = faults.add({ action, containing: chosenName, effect: { kind: "fail", code: "AccessDenied", status: 403 } });
  await create(scene, { [annotationKey("type")]: "nlb", [annotationKey("name")]: chosenName }, "TCP");
  return async () => void faults.remove(id);
}

function create(scene: ServicesScene, annotations: Readonly<Record<string, string>>, protocol: "TCP" | "UDP"): Promise<void> {
  const spec = { type: "LoadBalancer", ports: [{ port: 53, protocol }] };
  return scene.touch(name, "POST", servicesPath, { metadata: { name, annotations }, spec });
}

function edit(scene: ServicesScene, body: object): Promise<void> {
  return scene.touch(name, "PATCH", `${servicesPath}/${name}`, body);
}
