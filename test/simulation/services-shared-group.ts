/** A Service moves to a group that another has used until now, AWS refuses to delete the group it leaves, and the other goes. */
import { annotationKey } from "../../src/loadbalancers/service/annotations.ts";
import { sleep } from "../../src/runtime/world.ts";
import type { ServicesScene } from "./services-scene.ts";
import { servicesPath } from "./services-users.ts";

const comes = "comes";
const goes = "goes";

/** In some histories. Ends before the faults do, or with it. */
export async function handOverGroup(scene: ServicesScene, signal: AbortSignal): Promise<void> {
  const { chance, world, cloud } = scene;
  if (!chance.happens(0.4)) return;
  const rest = (ms: number) => sleep(world.clock, ms, signal).catch(() => {});
  const shared = { [annotationKey("security-groups")]: scene.lent.groups[1]! };
  await create(scene, comes, {});
  await create(scene, goes, shared);
  await rest(chance.between(30_000, 2 * 60_000));
  const effect = { kind: "fail", code: "AccessDenied", status: 403 } as const;
  const refusal = cloud.controls.faults.add({ action: "ec2:DeleteSecurityGroup", effect });
  await scene.touch(comes, "PATCH", `${servicesPath}/${comes}`, { metadata: { annotations: shared } });
  await rest(chance.between(5_000, 60_000));
  await scene.touch(goes, "DELETE", `${servicesPath}/${goes}`);
  await rest(chance.between(20_000, 2 * 60_000));
  cloud.controls.faults.remove(refusal);
}

function create(scene: ServicesScene, name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
  return scene.touch(name, "POST", servicesPath, { metadata: { name, annotations }, spec });
}
