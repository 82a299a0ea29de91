/**
 * Fairlead as a Deployment runs it: two replicas of `fairlead controller-manager`, each a process of its own behind a
 * proxy of its own, started again when it ends. One leads, the other stands by.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sleep, type World } from "../runtime/world.ts";
import { freePort } from "./cluster/real/free-port.ts";
import type { Supervised, Supervision } from "./cluster/real/supervision.ts";
import { type CuttableProxy, startCuttableProxy } from "./cuttable-proxy.ts";
import { LogTail } from "./log-tail.ts";
import { mainFile } from "./program-files.ts";
import { entryOf, StepLog, type StepTaken } from "./steps.ts";

export type ReplicaState = "starting" | "leading" | "standing by" | "down";

export interface ReplicaView {
  /** `a`, `b` */
  readonly name: string;
  readonly state: ReplicaState;
  readonly pid: number | undefined;
  /** Whether it is cut off from the API server. */
  readonly cutOff: boolean;
  /** How often it was started again. */
  readonly restarts: number;
  /** Where it serves health, metrics and what it is doing. */
  readonly url: string;
}

export interface ReplicasOptions {
  readonly world: World;
  readonly supervision: Supervision;
  readonly folder: string;
  /** The API server. */
  readonly server: URL;
  /** Of the controller manager's service account, for whatever stands at this address. */
  readonly kubeconfig: (server: URL) => string;
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Who holds the lease. */
  readonly holder: () => string | undefined;
}

const names = ["a", "b"];
const restartAfterMs = 1_000;

export class Replicas {
  readonly #all: readonly Replica[];
  readonly #options: ReplicasOptions;

  constructor(options: ReplicasOptions) {
    this.#options = options;
    this.#all = names.map((name) => new Replica(name, options));
  }

  /** Starts all of them; resolves when each has been started once. */
  async start(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#all.map((replica) => replica.start(signal)));
  }

  list(): readonly ReplicaView[] {
    return this.#all.map((replica) => replica.view(this.#options.holder()));
  }

  /** The one that leads, if any does. */
  leader(): ReplicaView | undefined {
    return this.list().find(({ state }) => state === "leading");
  }

  /** The newest last. */
  steps(): readonly StepTaken[] {
    return this.#all.flatMap((replica) => replica.steps).sort((a, b) => a.at - b.at);
  }

  /** Ends a replica with SIGKILL, as a crash would. */
  kill(name: string): void {
    this.#named(name).kill();
  }

  /** Cuts a replica off from the API server, or lets it back. */
  cutOff(name: string, cut: boolean): void {
    this.#named(name).proxy?.setCut(cut);
  }

  /** The last lines that a replica wrote in this life of its process. */
  async tail(name: string, lines: number): Promise<string> {
    const text = await this.#named(name).log();
    return text.trimEnd().split("\n").slice(-lines).join("\n");
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((replica) => replica.proxy?.close()));
  }

  #named(name: string): Replica {
    const found = this.#all.find((replica) => replica.name === name);
    if (found === undefined) throw new Error(`there is no replica ${name}`);
    return found;
  }
}

class Replica {
  readonly name: string;
  proxy: CuttableProxy | undefined;
  readonly #options: ReplicasOptions;
  #process: Supervised | undefined;
  #starts = 0;
  #port = 0;
  /** What this life of the process calls itself in the lease, once it has held it. */
  #identity: string | undefined;
  #competes = false;
  #tail: LogTail | undefined;
  readonly #steps: StepLog;

  constructor(name: string, options: ReplicasOptions) {
    this.name = name;
    this.#options = options;
    this.#steps = new StepLog(name);
  }

  async start(signal: AbortSignal): Promise<void> {
    this.proxy = await startCuttableProxy(this.#options.server);
    await this.#spawn();
    void this.#keepAlive(signal);
  }

  view(holder: string | undefined): ReplicaView {
    const running = this.#process !== undefined && this.#process.ended === undefined;
    const leads = holder !== undefined && holder === this.#identity;
    return {
      name: this.name,
      state: !running ? "down" : leads ? "leading" : this.#competes ? "standing by" : "starting",
      pid: running ? this.#process?.pid : undefined,
      cutOff: this.proxy?.cut ?? false,
      restarts: Math.max(0, this.#starts - 1),
      url: `https://127.0.0.1:${this.#port}`,
    };
  }

  get steps(): readonly StepTaken[] {
    return this.#steps.taken;
  }

  kill(): void {
    this.#process?.signal("SIGKILL");
  }

  log(): Promise<string> {
    return readFile(this.#logFile, "utf8").catch(() => "");
  }

  get #logFile(): string {
    return join(this.#options.folder, `fairlead-${this.name}.${this.#starts}.log`);
  }

  async #spawn(): Promise<void> {
    const { world, supervision, folder, flags, environment } = this.#options;
    this.#starts++;
    this.#identity = undefined;
    this.#competes = false;
    this.#tail = new LogTail(this.#logFile);
    const kubeconfig = join(folder, `fairlead-${this.name}.kubeconfig`);
    await world.files.write(kubeconfig, this.#options.kubeconfig(this.proxy!.url), 0o600);
    this.#port = await freePort(world);
    const args = [
      "controller-manager",
      ...["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"].map((flag) => `--${flag}=${kubeconfig}`),
      "--bind-address=127.0.0.1",
      `--secure-port=${this.#port}`,
      ...flags,
    ];
    this.#process = await supervision.start(process.execPath, [mainFile, ...args], { log: this.#logFile, folder, environment });
  }

  async #keepAlive(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.world;
    while (!signal.aborted) {
      for (const each of (await this.#tail?.lines()) ?? []) this.#read(each);
      if (this.#process?.ended) {
        await sleep(clock, restartAfterMs, signal).catch(() => {});
        if (!signal.aborted) await this.#spawn().catch(() => {});
      }
      await sleep(clock, 100, signal).catch(() => {});
    }
  }

  /** A replica says in its log that it competes for the lease, under which name it has won, and each step of a plan. */
  #read(logged: string): void {
    const entry = entryOf(logged);
    if (entry.msg === "attempting to acquire the leader lease") this.#competes = true;
    else if (entry.msg === "acquired the leader lease") this.#identity = entry.identity;
    else this.#steps.read(entry);
  }
}
