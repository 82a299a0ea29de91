/** Pods of scenes, which run on the machine that a scene is about. */
import { pods } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Instance } from "../cloud/ec2/state.ts";
import type { Picture } from "../view/picture.ts";

export const namespace = "default";

/** Starts pods of an app on a machine; they are ready at once. */
export async function runPodsOn(kube: KubeClient, { privateDnsName }: Instance, app: string, names: readonly string[]): Promise<void> {
  const spec = { nodeName: privateDnsName, automountServiceAccountToken: false, containers: [{ name: app, image: `${app}:1` }] };
  for (const name of names) {
    await kube.create(pods, { metadata: { namespace, name, labels: { app } }, spec });
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    await kube.patch(pods, { namespace, name, subresource: "status" }, { strategic: { status } });
  }
}

/** How many pods are on a machine. */
export function podsOn({ privateDnsName }: Instance): (picture: Picture) => number {
  return (picture) => picture.pods.filter(({ node }) => node === privateDnsName).length;
}
