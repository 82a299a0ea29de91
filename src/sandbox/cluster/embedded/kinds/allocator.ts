/** Cluster addresses and node ports. What is taken is read off the stored Services, so nothing can leak. */
import type { Random } from "../../../../runtime/world.ts";
import { asList, asObject, asText, type KubeObject, type Meta } from "../json.ts";

const firstNodePort = 30000;
const nodePorts = 2768;
const addresses = 65_533;

type Owner = Pick<Meta, "name" | "namespace">;

export class Allocator {
  readonly #services: () => readonly KubeObject[];
  readonly #random: Random;

  constructor(services: () => readonly KubeObject[], random: Random) {
    this.#services = services;
    this.#random = random;
  }

  /** A free address of 10.96.0.0/16. */
  address(self: Owner): string {
    const used = new Set(this.#others(self).map((service) => asText(asObject(service.spec).clusterIP)));
    return this.#pick(
      addresses,
      (n) => `10.96.${(n + 1) >> 8}.${(n + 1) & 255}`,
      (address) => !used.has(address),
      "cluster address",
    );
  }

  nodePort(self: Owner, alsoTaken: ReadonlySet<number>): number {
    const used = this.#used(self);
    return this.#pick(
      nodePorts,
      (n) => firstNodePort + n,
      (port) => !used.has(port) && !alsoTaken.has(port),
      "node port",
    );
  }

  /** Why this node port cannot be had; undefined when it can. */
  refusal(port: number, self: Owner): string | undefined {
    if (port < firstNodePort || port >= firstNodePort + nodePorts) {
      return `provided port is not in the valid range. The range of valid ports is ${firstNodePort}-${firstNodePort + nodePorts - 1}`;
    }
    return this.#used(self).has(port) ? "provided port is already allocated" : undefined;
  }

  #others(self: Owner): KubeObject[] {
    return this.#services().filter(({ metadata }) => metadata.name !== self.name || metadata.namespace !== self.namespace);
  }

  #used(self: Owner): Set<number> {
    const used = new Set<number>();
    for (const { spec } of this.#others(self)) {
      for (const port of asList(asObject(spec).ports)) used.add(Number(asObject(port).nodePort));
      used.add(Number(asObject(spec).healthCheckNodePort));
    }
    return used;
  }

  #pick<T>(count: number, candidate: (n: number) => T, free: (value: T) => boolean, what: string): T {
    const start = Math.floor(this.#random.number() * count);
    for (let i = 0; i < count; i++) {
      const value = candidate((start + i) % count);
      if (free(value)) return value;
    }
    throw new Error(`the embedded API has no free ${what} left`);
  }
}
