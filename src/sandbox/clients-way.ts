/**
 * The way of clients into the sandbox: load balancers listen on loopback, and behind them something answers on every port that a
 * Service opens on a machine, telling which Service and machine it is.
 */
import type { Random } from "../runtime/world.ts";
import type { Probe, ProbeResult, ProbeTarget } from "./cloud/account.ts";
import type { Cloud } from "./cloud/cloud.ts";
import { DataPlane } from "./cloud/traffic/plane.ts";
import { echo, SimulatedPods } from "./cloud/traffic/pods.ts";
import type { Machines } from "./machines.ts";

export interface ClientsWayOptions {
  readonly cloud: Cloud;
  readonly random: Random;
  readonly machines: Machines;
  /** Who answers health checks also says which ports of a machine are open. */
  readonly probe: Probe;
  /** The Services that open ports on machines, by port. */
  readonly openPorts: () => ReadonlyMap<number, string>;
  /** Ports of pods that have addresses of the VPC. */
  readonly podPorts: () => readonly OpenPort[];
}

/** Where something answers, and under which name. */
export interface OpenPort {
  readonly address: string;
  readonly port: number;
  readonly name: string;
}

/** A port of a load balancer, and where it is on this machine. */
export interface LocalPort {
  readonly dnsName: string;
  readonly port: number;
  readonly url: string;
}

/** Sockets for load balancers and machines, which follow the account and the cluster when told to. */
export class ClientsWay {
  readonly #options: ClientsWayOptions;
  readonly #behind = new SimulatedPods();
  readonly #plane: DataPlane;
  readonly #started = new Map<string, { readonly address: string; readonly port: number }>();

  constructor(options: ClientsWayOptions) {
    this.#options = options;
    this.#plane = new DataPlane({ cloud: options.cloud, random: options.random, reach: this.#behind.reach });
  }

  /** Opens and closes what came and went. */
  async follow(): Promise<void> {
    const wanted = new Map(this.#answering().map((each) => [`${each.address} ${each.port}`, each]));
    for (const [key, { address, port }] of this.#started) {
      if (wanted.has(key)) continue;
      this.#started.delete(key);
      await this.#behind.stop(address, port);
    }
    for (const [key, { address, port, name }] of wanted) {
      if (this.#started.has(key)) continue;
      await this.#behind.start(address, port, echo(name));
      this.#started.set(key, { address, port });
    }
    await this.#plane.sync();
  }

  /** A health check on its way to a pod. */
  probePod(target: ProbeTarget): ProbeResult {
    return this.#behind.probe(target);
  }

  /** Where load balancers listen now. */
  ports(): readonly LocalPort[] {
    // What runs here answers connections alone.
    const connections = this.#plane.ports().filter(({ protocol }) => protocol !== "UDP");
    return connections.map(({ dnsName, port, protocol, local }) => {
      const scheme = { HTTP: "http", HTTPS: "https", TCP: "http", TLS: "https", SSL: "https" }[protocol] ?? "tcp";
      return { dnsName, port, url: `${scheme}://${local.host}:${local.port}` };
    });
  }

  async close(): Promise<void> {
    await this.#plane.close();
    await this.#behind.close();
  }

  /** Every open port of every machine that answers, and of every pod. */
  #answering(): readonly OpenPort[] {
    const { cloud, machines, probe, openPorts, podPorts } = this.#options;
    const ofMachines = machines.list().flatMap((machine) => {
      const address = cloud.account.ec2.interfaces.get(machine.interfaceIds[0] ?? "")?.privateAddresses[0];
      if (machine.state !== "running" || address === undefined) return [];
      return [...openPorts()].flatMap(([port, service]) => {
        const answer = probe({ instanceId: machine.id, address, port, protocol: "TCP", path: undefined });
        return answer.kind === "answered" ? [{ address, port, name: `${service} on ${machine.privateDnsName}` }] : [];
      });
    });
    return [...ofMachines, ...podPorts()];
  }
}
