/** Another program that has finalizers of its own on Services: it keeps them in deletion for as long as it likes. */
import { sleep } from "../../src/runtime/world.ts";
import type { ServicesScene, Stored } from "./services-scene.ts";
import { servicesPath } from "./services-users.ts";

const finalizer = "example.com/backup";

/** In some histories, until the signal aborts; what it holds then it goes on holding. */
export async function holdDeletions(scene: ServicesScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  if (!chance.happens(0.4)) return;
  while (!signal.aborted) {
    await sleep(world.clock, chance.between(2_000, 30_000), signal).catch(() => {});
    const service = chance.pick(scene.services());
    if (service === undefined) continue;
    if (isHeld(service)) {
      if (chance.happens(0.3)) await release(scene, service);
    } else if (service.metadata.deletionTimestamp === undefined) await patch(scene, service, { finalizers: [finalizer] });
  }
}

/** Lets all of them go. */
export async function releaseAll(scene: ServicesScene): Promise<void> {
  for (const service of scene.services()) if (isHeld(service)) await release(scene, service);
}

export const isHeld = ({ metadata }: Stored) => metadata.finalizers?.includes(finalizer) ?? false;

const release = (scene: ServicesScene, service: Stored) => patch(scene, service, { "$deleteFromPrimitiveList/finalizers": [finalizer] });

async function patch(scene: ServicesScene, { metadata }: Stored, change: object): Promise<void> {
  await scene.say("backup", "PATCH", `${servicesPath}/${metadata.name}`, { metadata: change });
}
