/** One process of the controller manager with its node controllers, on a machine of its own. */
import type { ControllerTable } from "../../src/commands/controller-manager/context.ts";
import { controllerTable } from "../../src/commands/controller-manager/controller-table.ts";
import { parseOptions } from "../../src/commands/controller-manager/flags.ts";
import { operate } from "../../src/commands/controller-manager/operate.ts";
import type { HttpRequest } from "../../src/runtime/http.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { Line } from "./line.ts";
import { type Machine, machineIn } from "./machine.ts";
import { clusterCidr } from "./nodes-routes.ts";
import type { NodesScene } from "./nodes-scene.ts";

export class NodesReplica {
  readonly name: string;
  readonly machine: Machine;
  readonly kubeLine: Line;
  readonly awsLine: Line;
  readonly #scene: NodesScene;
  readonly #stop = new AbortController();

  constructor(scene: NodesScene, name: string) {
    const { world, history } = scene;
    this.name = name;
    this.#scene = scene;
    this.machine = machineIn(world, name);
    const line = (server: Line["send"], describe: (request: HttpRequest) => { what: string; guarded: boolean }) =>
      new Line({
        world,
        machine: this.machine,
        server,
        onSend: (request) => {
          const { what, guarded } = describe(request);
          if (guarded) scene.checkLeads(name, what);
        },
        onAnswer: (request, how) => history.tell(name, `${describe(request).what} → ${how}`),
      });
    this.kubeLine = line(scene.serve, kubeRequest);
    this.awsLine = line(scene.cloud.handle, awsRequest);
  }

  /** Runs until it ends by itself, crashes or is told to leave; then `onExit` is called, unless it crashed. */
  run(onExit: () => void): void {
    const { history, world, network } = this.#scene;
    const { machine, name } = this;
    history.tell(name, "starts");
    const logs = openLogs(machine.clock, {
      format: "json",
      verbosity: 0,
      destination: { write: (line) => machine.alive && history.tell(name, `says: ${said(line)}`), flush() {} },
    });
    const place = `[Global]\nRegion=us-east-1\nVPC=${network.vpcId}\nSubnetID=${network.privateSubnetIds[0]}\nKubernetesClusterID=simulated\n`;
    const files = { ...machine.files, read: async () => Buffer.from(place) };
    const flags = ["--cloud-provider=aws", "--secure-port=0", "--master=http://cluster", "--cloud-config=/etc/cloud"];
    const controllers = [
      "--controllers=cloud-node,cloud-node-lifecycle,route",
      "--node-monitor-period=15s",
      "--node-status-update-frequency=2m",
      `--cluster-cidr=${clusterCidr}`,
      "--route-reconciliation-period=1m",
    ];
    // Modules are loaded from files, and a world stands still for that.
    const table: ControllerTable = Object.fromEntries(
      Object.entries(controllerTable).map(([controller, make]) => [controller, (context) => world.holding(make(context))]),
    ) as ControllerTable;
    const connections = { verbs: this.kubeLine.send, watches: this.kubeLine.send, close: async () => {} };
    operate({
      options: parseOptions([...flags, ...controllers]).values,
      version: "v0.0.0",
      host: { world: { ...machine, files }, log: logs.log, metrics: newRegistry() },
      logs,
      table,
      network: { aws: this.awsLine.send, kube: () => connections },
      stop: this.#stop.signal,
    }).then(
      () => this.#exit("in order", onExit),
      (error: Error) => this.#exit(error.message, onExit),
    );
  }

  /** Asks it to end in order. */
  leave(): void {
    this.#stop.abort(new Error("received SIGTERM"));
  }

  /** Nothing of it happens any more. */
  crash(): void {
    this.machine.crash();
    this.kubeLine.cut();
    this.awsLine.cut();
  }

  #exit(how: string, onExit: () => void): void {
    this.#scene.history.tell(this.name, `ends: ${how}`);
    this.crash();
    onExit();
  }
}

function kubeRequest(request: HttpRequest): { what: string; guarded: boolean } {
  const { pathname, searchParams } = request.url;
  const watch = searchParams.get("watch") === "true";
  const body = request.method === "PATCH" ? ` ${String(request.body)}` : "";
  const what = watch ? `watch ${pathname}` : `${request.method} ${pathname}${body}`;
  return { what, guarded: request.method !== "GET" && !/\/(leases|events)(\/|$)/.test(pathname) };
}

function awsRequest(request: HttpRequest): { what: string; guarded: boolean } {
  const form = new URLSearchParams(String(request.body ?? ""));
  const given = [...form].filter(([name]) => /^(InstanceId|Filter)\./.test(name)).map(([, value]) => value);
  return { what: `${form.get("Action")} ${given.join(" ")}`, guarded: false };
}

function said(line: string): string {
  const { message, node, cause, error } = JSON.parse(line) as Record<string, unknown>;
  return [message, node, cause, (error as { message?: string } | undefined)?.message].filter(Boolean).join(": ");
}
