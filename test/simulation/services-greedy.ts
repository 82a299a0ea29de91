/** A user of more source ranges than a security group may have rules, and of fewer again. */
import { annotationKey } from "../../src/loadbalancers/service/annotations.ts";
import { sleep } from "../../src/runtime/world.ts";
import type { ServicesScene } from "./services-scene.ts";
import { servicesPath } from "./services-users.ts";

const name = "greedy";

/** In some histories, until the signal aborts. The others at the same nodes must be served all the same. */
export async function askForTooMuch(scene: ServicesScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  if (!chance.happens(0.4)) return;
  while (!signal.aborted) {
    await sleep(world.clock, chance.between(5_000, 60_000), signal).catch(() => {});
    const there = scene.services().find(({ metadata }) => metadata.name === name);
    const loadBalancerSourceRanges = rangesOf(chance.pick([70, 70, 40, 20, 5])!);
    if (there === undefined) {
      const spec = { type: "LoadBalancer", ports: [{ port: 80 }], loadBalancerSourceRanges };
      await scene.touch(name, "POST", servicesPath, { metadata: { name, annotations: { [annotationKey("type")]: "nlb" } }, spec });
    } else if (there.metadata.deletionTimestamp === undefined) {
      if (chance.happens(0.2)) await scene.touch(name, "DELETE", `${servicesPath}/${name}`);
      else await scene.touch(name, "PATCH", `${servicesPath}/${name}`, { spec: { loadBalancerSourceRanges } });
    }
  }
}

const rangesOf = (count: number) => Array.from({ length: count }, (_, i) => `172.16.${i}.0/24`);
