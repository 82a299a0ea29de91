/** What a run lies in: a new real cluster and a new simulated AWS, with one program in them at a time. */
import { open, stat } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { nodes } from "../../src/kube/builtin.ts";
import type { Node } from "../../src/kube/types.ts";
import { obtainAssets } from "../../src/sandbox/cluster/assets/assets.ts";
import { startCluster } from "../../src/sandbox/cluster/real/cluster.ts";
import { type Account, TestCluster } from "../../test/bed/cluster.ts";
import { testHost } from "../../test/bed/world.ts";
import { BenchCloud, type CloudWish } from "./cloud.ts";
import type { Machine } from "./cloud-process.ts";
import type { Entrant } from "./entrants.ts";
import type { Figures } from "./figures.ts";
import { cpuSeconds, forgetPeak, memory } from "./machine.ts";
import { type NodeStage, nodeOf } from "./nodes.ts";
import { inParallel } from "./parallel.ts";
import { type Program, type StartProgram, startControllerManager } from "./program.ts";

/** Work that is put off a little still counts. */
const settleMs = 10_000;

/** One program, measured step by step. */
export class Bed implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly cloud: BenchCloud;
  readonly #entrant: Entrant;
  readonly #account: Account;
  readonly #start: StartProgram;
  #program: Program | undefined;

  private constructor(cluster: TestCluster, cloud: BenchCloud, entrant: Entrant, account: Account, start: StartProgram) {
    this.cluster = cluster;
    this.cloud = cloud;
    this.#entrant = entrant;
    this.#account = account;
    this.#start = start;
  }

  /** Controller managers of ours run with the roles that we ship, all else with all rights. */
  static async make(entrant: Entrant, wish: CloudWish, start: StartProgram = startControllerManager): Promise<Bed> {
    const host = testHost();
    const assets = await obtainAssets({ world: host.world, say: console.error });
    const cluster = await TestCluster.install(await startCluster({ world: host.world, assets }), host);
    const everything = [
      { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
      { nonResourceURLs: ["*"], verbs: ["*"] },
    ];
    const isShipped = entrant.name === "fairlead" && start === startControllerManager;
    const account = isShipped ? await cluster.fairlead() : await cluster.account("measured", ...everything);
    return new Bed(cluster, await BenchCloud.open(wish), entrant, account, start);
  }

  /** New machines and their Nodes. */
  async join(count: number, stage: (number: number) => NodeStage): Promise<readonly Machine[]> {
    const machines = await this.cloud.launch(count);
    const objects = machines.map((machine, number) => nodeOf(machine, stage(number)));
    await inParallel(objects, (node: Node) => this.cluster.admin.create(nodes, node));
    return machines;
  }

  /** Starts the program and measures until what `end` waits for; `end` gives the moment. */
  async fromStart(flags: readonly string[], end: (program: Program) => Promise<number>): Promise<Figures> {
    await this.endProgram();
    const { cluster, cloud } = this;
    return this.#measure(async () => {
      this.#program = await this.#start(this.#entrant, { cluster, cloud, account: this.#account, flags });
      return this.#program;
    }, end);
  }

  /** Measures the running program, from what `begin` does until what `end` waits for. */
  async step(begin: (program: Program) => Promise<void>, end: (program: Program) => Promise<number>): Promise<Figures> {
    const program = this.#program;
    if (program === undefined) throw new Error("no program runs in this bed");
    await forgetPeak(program.pid);
    return this.#measure(async () => {
      await begin(program);
      return program;
    }, end);
  }

  async endProgram(signal?: NodeJS.Signals): Promise<void> {
    await this.#program?.end(signal);
    this.#program = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endProgram();
    this.cloud.stop();
    await this.cluster.close();
    await this.cluster.real.stop();
  }

  async #measure(begin: () => Promise<Program>, end: (program: Program) => Promise<number>): Promise<Figures> {
    const cpuBefore = this.#program ? await cpuSeconds(this.#program.pid) : 0;
    const { auditLog } = this.cluster.real.apiserver;
    const auditFrom = (await stat(auditLog)).size;
    await this.cloud.resetCalls();
    const began = performance.now();
    const program = await begin();
    const delays = program.entrant.name === "fairlead" ? new LongestDelay(program) : undefined;
    const seconds = ((await end(program)) - began) / 1000;
    await pause(settleMs);
    await program.mustRun();
    const [{ byAction, throttled }, audit, cpu, { nowMb, peakMb }] = await Promise.all([
      this.cloud.calls(),
      readAudit(auditLog, auditFrom),
      cpuSeconds(program.pid),
      memory(program.pid),
    ]);
    return {
      seconds,
      calls: byAction,
      throttled,
      writes: writesBy(this.#account.name, audit.toString()),
      cpuSeconds: cpu - cpuBefore,
      peakMb,
      settledMb: nowMb,
      ...(delays && { longestDelayMs: await delays.stop() }),
    };
  }
}

async function readAudit(path: string, from: number): Promise<Buffer> {
  await using file = await open(path);
  const { size } = await file.stat();
  const { buffer } = await file.read({ buffer: Buffer.alloc(size - from), position: from });
  return buffer;
}

interface AuditLine {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly subresource?: string };
}

function writesBy(user: string, audit: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const text of audit.split("\n")) {
    if (!text.includes(user)) continue;
    const line = JSON.parse(text) as AuditLine;
    const { resource = "", subresource } = line.objectRef ?? {};
    if (line.user.username !== user || resource === "leases" || resource.endsWith("reviews")) continue;
    const what = `${line.verb} ${subresource ? `${resource}/${subresource}` : resource}`;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

/** Asks Fairlead again and again how long its event loop was held up: the metric covers five seconds. */
class LongestDelay {
  readonly #over = new AbortController();
  readonly #asking: Promise<number>;

  constructor(program: Program) {
    this.#asking = this.#ask(program);
  }

  stop(): Promise<number> {
    this.#over.abort();
    return this.#asking;
  }

  async #ask(program: Program): Promise<number> {
    let longest = 0;
    const { signal } = this.#over;
    while (!signal.aborted) {
      const seconds = /^fairlead_event_loop_longest_delay_seconds (\S+)$/m.exec(await program.metrics())?.[1];
      longest = Math.max(longest, Number(seconds ?? 0) * 1000);
      await pause(2_000, undefined, { signal }).catch(() => {});
    }
    return longest;
  }
}
