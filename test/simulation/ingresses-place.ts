/** The cluster that Ingresses live in: classes that people delete, make again and change. */
import { sleep } from "../../src/runtime/world.ts";
import { addNode, define, fillServices } from "./backends.ts";
import type { IngressesScene } from "./ingresses-scene.ts";

const classesPath = "/apis/networking.k8s.io/v1/ingressclasses";
export const paramsPath = "/apis/elbv2.k8s.aws/v1beta1/ingressclassparams";

const parameters = { apiGroup: "elbv2.k8s.aws", kind: "IngressClassParams", name: "tuned" };
const classes = {
  alb: { controller: "ingress.k8s.aws/alb" },
  tuned: { controller: "ingress.k8s.aws/alb", parameters },
  theirs: { controller: "example.com/theirs" },
} as const;

/** Everything that stands before the first Ingress. */
export async function prepare(scene: IngressesScene, definitions: readonly object[]): Promise<void> {
  await define(scene, definitions);
  const nodeName = await addNode(scene);
  await scene.say("world", "POST", paramsPath, {
    apiVersion: "elbv2.k8s.aws/v1beta1",
    kind: "IngressClassParams",
    metadata: { name: "tuned" },
    spec: { group: { name: scene.around.tunedGroup } },
  });
  for (const name of Object.keys(classes)) await createClass(scene, name as keyof typeof classes);
  await fillServices(scene, nodeName);
}

export async function createClass(scene: IngressesScene, name: keyof typeof classes): Promise<void> {
  await scene.say(scene.isOpen ? "admin" : "world", "POST", classesPath, { metadata: { name }, spec: classes[name] });
}

export async function deleteClass(scene: IngressesScene, name: keyof typeof classes): Promise<void> {
  await scene.say("admin", "DELETE", `${classesPath}/${name}`);
}

/** Those who own the classes, until the signal aborts: one is gone for a while, and the parameters of another change. */
export async function administrate(scene: IngressesScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  const wait = (least: number, most: number) => sleep(world.clock, chance.between(least, most), signal).catch(() => {});
  while (!signal.aborted) {
    await wait(20_000, 120_000);
    const deed = chance.pick(["vanishes", "regroups", "tags"] as const)!;
    const name = chance.pick(["alb", "tuned"] as const)!;
    if (deed === "vanishes") {
      await deleteClass(scene, name);
      await wait(5_000, 60_000);
      await createClass(scene, name);
    } else if (deed === "regroups") {
      const tunedGroup = chance.pick(["shop", "ops"])!;
      scene.change({ tunedGroup }, ({ className }) => className === "tuned");
      await scene.say("admin", "PATCH", `${paramsPath}/tuned`, { spec: { group: { name: tunedGroup } } });
    } else {
      const value = String(Math.floor(chance.between(1, 100)));
      await scene.say("admin", "PATCH", `${paramsPath}/tuned`, { spec: { tags: [{ key: "cost", value }] } });
    }
  }
}
