/**
 * The bed a test lies in: a real cluster with what we ship installed, and Fairlead in it. A cluster is started once a
 * test file, because files run in processes of their own and Nodes belong to no namespace.
 */
import { basename } from "node:path";
import { after, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { ControllerTable } from "../../src/commands/controller-manager/context.ts";
import { nodes } from "../../src/kube/builtin.ts";
import { obtainAssets } from "../../src/sandbox/cluster/assets/assets.ts";
import { startCluster } from "../../src/sandbox/cluster/real/cluster.ts";
import { TestCluster } from "./cluster.ts";
import { type ControllerManager, type ControllerManagerOptions, startControllerManager } from "./controller-manager.ts";
import { mainFile, type ProcessOptions, startProcess, type TestProcess } from "./process.ts";
import { type Running, type RunOptions, runControllers } from "./run.ts";
import { assertNoSecrets, type Readable } from "./secrets.ts";
import { testHost } from "./world.ts";

export { type Account, TestCluster, type Write } from "./cluster.ts";
export type { ControllerManager } from "./controller-manager.ts";
export { eventually } from "./eventually.ts";
export type { TestNode } from "./nodes.ts";
export type { TestProcess } from "./process.ts";
export { assertNoSecrets, plant } from "./secrets.ts";
export { hurriedWorld, testHost } from "./world.ts";

export interface Bed {
  readonly cluster: TestCluster;
  /** Runs `fairlead <args>` as a process of its own; killed when the test ends. */
  fairlead(args: readonly string[], options?: ProcessOptions): Promise<TestProcess>;
  /** Runs controllers inside the test process, wired as the product wires them; stopped when the test ends. */
  run(table: ControllerTable, options?: RunOptions): Promise<Running>;
  /** Runs `fairlead controller-manager` with the roles that we ship. */
  controllerManager(flags?: readonly string[], options?: ControllerManagerOptions): Promise<ControllerManager>;
  /** Runs another program of ours the same way. */
  process(file: URL, args: readonly string[], options?: ProcessOptions): Promise<TestProcess>;
}

/** The cluster of this test file, free of what earlier tests left. */
export async function bed(t: TestContext): Promise<Bed> {
  shared ??= start();
  const cluster = await shared;
  // A test that failed while its apiserver was down must not take the next ones with it.
  if (!cluster.real.apiserver.running) await cluster.real.apiserver.start();
  const running: TestProcess[] = [];
  t.after(async () => {
    for (const process of running) process.signal("SIGKILL");
    await Promise.all(running.map((process) => process.exit()));
    if (!cluster.real.apiserver.running) return;
    for (const name of await cluster.nodeNames()) await cluster.admin.delete(nodes, { name });
  });
  const run = async (name: string, file: string, args: readonly string[], options?: ProcessOptions) => {
    const { supervision, folder } = cluster.real;
    const process = await startProcess(supervision, folder, `${name}-${everRun.length + 1}`, file, args, options);
    running.push(process);
    everRun.push(process);
    return process;
  };
  const fairlead: Bed["fairlead"] = (args, options) => run(`fairlead-${args[0]}`, mainFile, args, options);
  return {
    cluster,
    fairlead,
    async run(table, options) {
      const controllers = await runControllers(cluster, `controllers-${everRun.length + 1}`, table, options);
      t.after(() => controllers.stop());
      everRun.push(controllers);
      return controllers;
    },
    controllerManager: (flags, options) => startControllerManager(cluster, fairlead, flags, options),
    process: (file, args, options) => run(basename(file.pathname, ".ts"), fileURLToPath(file), args, options),
  };
}

let shared: Promise<TestCluster> | undefined;
/** Everything that wrote a log. */
const everRun: { readonly name: string; logs(): Promise<string> }[] = [];

async function start(): Promise<TestCluster> {
  const host = testHost();
  const obtained = await obtainAssets({ world: host.world, say: (line) => process.stderr.write(`${line}\n`) });
  // `npm run versions` names another API server.
  const assets = { ...obtained, kubeApiserver: process.env.FAIRLEAD_KUBE_APISERVER ?? obtained.kubeApiserver };
  return TestCluster.install(await startCluster({ world: host.world, assets }), host);
}

/** Nothing that anybody can read after the run may hold a secret. */
after(async () => {
  const cluster = await shared?.catch(() => undefined);
  if (!cluster) return;
  try {
    assertNoSecrets(await readables(cluster));
  } finally {
    await cluster.close();
    await cluster.real.stop();
  }
});

/** Every log and Event of this test process so far. */
export async function readables(cluster: TestCluster): Promise<readonly Readable[]> {
  const logs = everRun.map(async (writer) => ({ name: `log of ${writer.name}`, text: await writer.logs() }));
  const events = (await cluster.events()).map((event) => ({ name: `Event ${event.metadata.name}`, text: JSON.stringify(event) }));
  return [...(await Promise.all(logs)), ...events];
}
