/** Somebody who uses a security group of ours for a while: AWS does not delete it then, and the Service has to say so. */
import type { ServicesScene } from "./services-scene.ts";

const finalizer = "service.kubernetes.io/load-balancer-cleanup";
/** What AWS needs to clear a load balancer away, what we wait before we speak, and the time between two looks. */
const patienceMs = 60_000;

/** Moves into one of our groups, if there is one. What is returned moves out, after a check that the removal was spoken of. */
export function squat(scene: ServicesScene): () => Promise<void> {
  const { cloud, history, chance, world } = scene;
  const { interfaces, securityGroups } = cloud.account.ec2;
  const group = chance.pick(securityGroups.values().filter(({ name }) => /^k8s-elb-a[0-9a-f]{31}$/.test(name)));
  const [id] = scene.steadyInterfaces();
  if (group === undefined || id === undefined) return async () => {};
  const { groupIds } = interfaces.get(id)!;
  interfaces.update(id, { groupIds: [...groupIds, group.id] });
  history.tell("user", `uses ${group.name}`);
  return async () => {
    await world.advance(patienceMs);
    // One that waits for somebody else's finalizer is no removal of ours any more.
    for (const { metadata, status } of scene.services().filter((service) => service.metadata.finalizers?.includes(finalizer))) {
      const conditions = status?.conditions?.filter((condition) => condition.status === "False") ?? [];
      if (conditions.length === 0) history.broken("a removal that lasts says so", `${metadata.name} says nothing`);
    }
    interfaces.update(id, { groupIds });
    history.tell("user", `uses ${group.name} no more`);
  };
}
