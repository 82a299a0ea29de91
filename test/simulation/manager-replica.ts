/** One process of the controller manager, whole, on a machine of its own. */
import type { ControllerTable } from "../../src/commands/controller-manager/context.ts";
import { controllerTable } from "../../src/commands/controller-manager/controller-table.ts";
import { parseOptions } from "../../src/commands/controller-manager/flags.ts";
import { operate } from "../../src/commands/controller-manager/operate.ts";
import type { HttpRequest } from "../../src/runtime/http.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { type Machine, machineIn } from "./machine.ts";
import { NetworkLink } from "./network-link.ts";
import type { NodesScene } from "./nodes-scene.ts";
import type { Resident } from "./replicas.ts";

export class ManagerReplica implements Resident {
  readonly name: string;
  readonly machine: Machine;
  readonly kubeLink: NetworkLink;
  readonly awsLink: NetworkLink;
  readonly #scene: NodesScene;
  readonly #stop = new AbortController();

  constructor(scene: NodesScene, name: string) {
    const { world, history } = scene;
    this.name = name;
    this.#scene = scene;
    this.machine = machineIn(world, name);
    const line = (server: NetworkLink["send"], describe: (request: HttpRequest) => { what: string; guarded: boolean }) =>
      new NetworkLink({
        world,
        machine: this.machine,
        server,
        onSend: (request) => {
          const { what, guarded } = describe(request);
          if (guarded) scene.checkLeads(name, what);
        },
        onAnswer: (request, how) => history.tell(name, `${describe(request).what} → ${how}`),
      });
    this.kubeLink = line(scene.serve, kubeRequest);
    this.awsLink = line(scene.serveAws, awsRequest);
  }

  get leading(): boolean {
    return this.machine.alive && this.#scene.leads(this.name);
  }

  run(onExit: () => void): void {
    const { history, world } = this.#scene;
    const { machine, name } = this;
    history.tell(name, "starts");
    const logs = openLogs(machine.clock, {
      format: "json",
      verbosity: 0,
      destination: { write: (line) => machine.alive && history.tell(name, `says: ${said(line)}`), flush() {} },
    });
    const files = { ...machine.files, read: async () => Buffer.from(this.#scene.config) };
    const flags = ["--cloud-provider=aws", "--secure-port=0", "--master=http://cluster", "--cloud-config=/etc/cloud"];
    // Modules are loaded from files, and a world stands still for that.
    const table: ControllerTable = Object.fromEntries(
      Object.entries(controllerTable).map(([controller, make]) => [controller, (context) => world.holding(make(context))]),
    ) as ControllerTable;
    const connections = { send: this.kubeLink.send, close: async () => {} };
    operate({
      options: parseOptions([...flags, ...this.#scene.flags]).values,
      version: "v0.0.0",
      host: { world: { ...machine, files }, log: logs.log, metrics: newRegistry() },
      logs,
      table,
      network: { aws: this.awsLink.send, kube: () => connections },
      stop: this.#stop.signal,
    }).then(
      () => this.#exit("in order", onExit),
      (error: Error) => this.#exit(error.message, onExit),
    );
  }

  leave(): void {
    this.#stop.abort(new Error("received SIGTERM"));
  }

  crash(): void {
    this.machine.crash();
    this.kubeLink.cut();
    this.awsLink.cut();
  }

  bury(): void {
    this.#stop.abort(new Error("the world ends"));
  }

  #exit(how: string, onExit: () => void): void {
    if (!this.machine.alive) return;
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
  const action = form.get("Action") ?? "";
  const reads = action.startsWith("Describe");
  const given = [...form].filter(([name]) => (reads ? /^(InstanceId|Filter)\./.test(name) : !/^(Action|Version)$/.test(name)));
  return { what: `${action} ${given.map(([, value]) => value).join(" ")}`, guarded: !reads };
}

function said(line: string): string {
  const { msg, node, service, cause, error } = JSON.parse(line) as Record<string, unknown>;
  return [msg, node, service, cause, (error as { message?: string } | undefined)?.message].filter(Boolean).join(": ");
}
