/** One process of a program, whole, on a machine of its own, with links to the API server and to AWS that can fail. */
import type { Host } from "../../src/runtime/host.ts";
import type { HttpRequest, Transport } from "../../src/runtime/http.ts";
import { type Logs, openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import type { VirtualWorld } from "../../src/sandbox/virtual-clock.ts";
import { actionOf, bodyOf, isRead } from "./aws-requests.ts";
import type { History } from "./history.ts";
import type { LeaseRule } from "./lease-rule.ts";
import { type Machine, machineIn } from "./machine.ts";
import { NetworkLink } from "./network-link.ts";
import type { Resident } from "./replicas.ts";

/** Where it runs. */
export interface ReplicaScene {
  readonly world: VirtualWorld;
  readonly history: History;
  /** The API server and AWS, as replicas reach them. */
  readonly serve: Transport;
  readonly serveAws: Transport;
  readonly lease: Pick<LeaseRule, "leads" | "check">;
}

/** What a program is started with. */
export interface Start {
  readonly host: Host;
  readonly logs: Logs;
  readonly network: { readonly aws: Transport; kube(): { readonly send: Transport; close(): Promise<void> } };
  readonly stop: AbortSignal;
}

export abstract class ProcessReplica<Scene extends ReplicaScene> implements Resident {
  readonly name: string;
  readonly machine: Machine;
  readonly kubeLink: NetworkLink;
  readonly awsLink: NetworkLink;
  protected readonly scene: Scene;
  readonly #stop = new AbortController();

  constructor(scene: Scene, name: string) {
    const { world, history } = scene;
    this.name = name;
    this.scene = scene;
    this.machine = machineIn(world, name);
    const line = (server: NetworkLink["send"], describe: (request: HttpRequest) => { what: string; guarded: boolean }) =>
      new NetworkLink({
        world,
        machine: this.machine,
        server,
        onSend: (request) => {
          const { what, guarded } = describe(request);
          if (guarded) scene.lease.check(name, what);
        },
        onAnswer: (request, how) => history.tell(name, `${describe(request).what} → ${how}`),
      });
    this.kubeLink = line(scene.serve, kubeRequest);
    this.awsLink = line(scene.serveAws, awsRequest);
  }

  /** Runs the program; resolves when it has ended in order. */
  protected abstract operate(start: Start): Promise<void>;

  get leading(): boolean {
    return this.machine.alive && this.scene.lease.leads(this.name);
  }

  run(onExit: () => void): void {
    const { history } = this.scene;
    const { machine, name } = this;
    history.tell(name, "starts");
    const logs = openLogs(machine.clock, {
      format: "json",
      verbosity: 0,
      destination: { write: (line) => machine.alive && history.tell(name, `says: ${said(line)}`), flush() {} },
    });
    const connections = { send: this.kubeLink.send, close: async () => {} };
    this.operate({
      host: { world: machine, log: logs.log, metrics: newRegistry() },
      logs,
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
    this.scene.history.tell(this.name, `ends: ${how}`);
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
  const form = new URLSearchParams(bodyOf(request));
  const action = actionOf(request);
  const reads = isRead(request);
  const given = [...form].filter(([name]) => (reads ? /^(InstanceId|Filter)\./.test(name) : !/^(Action|Version)$/.test(name)));
  return { what: `${action} ${given.map(([, value]) => value).join(" ")}`, guarded: !reads };
}

function said(line: string): string {
  const { msg, node, service, cause, error } = JSON.parse(line) as Record<string, unknown>;
  return [msg, node, service, cause, (error as { message?: string } | undefined)?.message].filter(Boolean).join(": ");
}
