/**
 * The termination handler as its DaemonSet runs it: a process of `fairlead node-termination-handler` that asks the metadata service of its
 * own machine, started again when it ends. The sandbox has one only on machines where somebody wants to see it.
 */
import { join } from "node:path";
import { sleep, type World } from "../runtime/world.ts";
import type { Cloud } from "./cloud/cloud.ts";
import type { Instance } from "./cloud/ec2/state.ts";
import type { Supervised, Supervision } from "./cluster/real/supervision.ts";
import { mainFile } from "./program-files.ts";
import { serveTransport } from "./serve.ts";

export interface NodeHandlersOptions {
  readonly world: World;
  readonly supervision: Supervision;
  readonly folder: string;
  readonly cloud: Cloud;
  /** Of the handler's service account. */
  readonly kubeconfig: () => Promise<string>;
  readonly environment: Readonly<Record<string, string>>;
}

/** A handler on one machine. */
export interface NodeHandler {
  readonly pid: number | undefined;
  /** Ends it with SIGKILL, as a crash would; it is started again. */
  kill(): void;
  /** Ends it for good. */
  close(): Promise<void>;
}

const restartAfterMs = 1_000;
const lookEveryMs = 100;

export class NodeHandlers {
  readonly #options: NodeHandlersOptions;
  readonly #open = new Set<NodeHandler>();

  constructor(options: NodeHandlersOptions) {
    this.#options = options;
  }

  /** Starts the handler of a machine. */
  async start({ id, privateDnsName: node }: Instance): Promise<NodeHandler> {
    const { world, supervision, folder, cloud, environment } = this.#options;
    const metadata = await serveTransport(cloud.imds(id));
    const kubeconfig = join(folder, `handler-${node}.kubeconfig`);
    await world.files.write(kubeconfig, await this.#options.kubeconfig(), 0o600);
    const args = [
      "node-termination-handler",
      `--node-name=${node}`,
      `--metadata-url=${metadata.url}`,
      `--kubeconfig=${kubeconfig}`,
      "--enable-rebalance-monitoring",
      "--json-logging",
    ];
    const life = new AbortController();
    let starts = 0;
    const spawn = () =>
      supervision.start(process.execPath, [mainFile, ...args], {
        log: join(folder, `handler-${node}.${++starts}.log`),
        folder,
        environment,
      });
    let running: Supervised = await spawn();
    void (async () => {
      while (!life.signal.aborted) {
        if (running.ended) {
          await sleep(world.clock, restartAfterMs, life.signal).catch(() => {});
          if (!life.signal.aborted) running = await spawn().catch(() => running);
        }
        await sleep(world.clock, lookEveryMs, life.signal).catch(() => {});
      }
    })();
    const handler: NodeHandler = {
      get pid() {
        return running.ended === undefined ? running.pid : undefined;
      },
      kill: () => running.signal("SIGKILL"),
      close: async () => {
        this.#open.delete(handler);
        life.abort(new Error("the handler is not needed any more"));
        running.signal("SIGTERM");
        await metadata.close();
      },
    };
    this.#open.add(handler);
    return handler;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((handler) => handler.close()));
  }
}
