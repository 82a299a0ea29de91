/** The cluster and the account of Services with a class: pods have addresses of their node's interface, and slices name all ports. */
import type { PodWish } from "../bed/binding-world.ts";
import { ClassWorld } from "../bed/class-world.ts";
import { loadClients } from "../bed/service-world.ts";
import { streamedListsOf } from "./streamed-lists.ts";

export const allPorts = [80, 81, 443] as const;

export async function classesWorld(seed: number): Promise<ClassesWorld> {
  await loadClients();
  const world = new ClassesWorld({ seed, zones: 2, cluster: { historyLimit: 500, streamedLists: streamedListsOf(seed) } });
  await world.prepare(2);
  return world;
}

export class ClassesWorld extends ClassWorld {
  /** Pods can be behind a Service before it is there: its slice is, with all ports that it may have. */
  async backend(name: string): Promise<void> {
    await this.service(name, { type: "ClusterIP" });
    const ports = allPorts.map((port) => ({ name: `p${port}`, port: 8080, protocol: "TCP" }));
    await this.say("PATCH", `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/${name}-1`, { ports }, "merge");
    await this.drop(name);
  }

  override async pods(service: string, count: number, wish: PodWish = {}): Promise<readonly string[]> {
    const names = await super.pods(service, count, wish);
    const made = this.addressesOf(service, names).map((address) => address.replace(/:\d+$/, ""));
    this.#assign((addresses) => [...addresses, ...made]);
    return names;
  }

  override async remove(service: string, name: string): Promise<void> {
    const [gone = ""] = this.addressesOf(service, [name]).map((address) => address.replace(/:\d+$/, ""));
    await super.remove(service, name);
    this.#assign((addresses) => addresses.filter((address) => address !== gone));
  }

  /** As the VPC's network plugin does it, on the one node that has all pods. */
  #assign(change: (addresses: readonly string[]) => readonly string[]): void {
    const { instances, interfaces } = this.aws.account.ec2;
    const [node = ""] = this.nodes.values();
    const [own = ""] = instances.get(node)!.interfaceIds;
    interfaces.update(own, { privateAddresses: [...change(interfaces.get(own)!.privateAddresses)] });
  }
}
