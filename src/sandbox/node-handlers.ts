/**
 * The termination handler as its DaemonSet and its Deployment run it: a process of `fairlead node-termination-handler` that asks the metadata
 * service of its own machine or reads a queue, started again when it ends. The sandbox has one only where somebody wants to see it.
 */
import { join } from "node:path";
import { sleep, type World } from "../runtime/world.ts";
import type { Cloud } from "./cloud/cloud.ts";
import type { Instance } from "./cloud/ec2/state.ts";
import type { Supervised, Supervision } from "./cluster/real/supervision.ts";
import { mainFile } from "./program-files.ts";
import { serveTransport } from "./serve.ts";
import { region } from "./settings.ts";

export interface NodeHandlersOptions {
  readonly world: World;
  readonly supervision: Supervision;
  readonly folder: string;
  readonly cloud: Cloud;
  /** Of the handler's service account, with the roles that it has in this mode. */
  readonly kubeconfig: (mode: "metadata" | "queue") => Promise<string>;
  readonly environment: Readonly<Record<string, string>>;
  /** What programs that call AWS have besides. */
  readonly aws: Readonly<Record<string, string>>;
}

/** A handler that runs. */
export interface NodeHandler {
  readonly pid: number | undefined;
  /** Ends it with SIGKILL, as a crash would; it is started again. */
  kill(): void;
  /** Ends it for good. */
  close(): Promise<void>;
}

interface HandlerProgram {
  readonly name: string;
  readonly flags: readonly string[];
  readonly kubeconfig: string;
  readonly environment: Readonly<Record<string, string>>;
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
    const { cloud, environment } = this.#options;
    const metadata = await serveTransport(cloud.imds(id));
    const flags = [`--node-name=${node}`, `--metadata-url=${metadata.url}`, "--enable-rebalance-monitoring"];
    return this.#run({ name: node, flags, kubeconfig: await this.#options.kubeconfig("metadata"), environment }, () => metadata.close());
  }

  /** Starts a handler that reads a queue, for all machines. */
  async startOnQueue(queueUrl: string): Promise<NodeHandler> {
    const { environment, aws } = this.#options;
    const flags = ["--node-name=queue", "--enable-sqs-termination-draining", `--queue-url=${queueUrl}`, `--aws-region=${region}`];
    const kubeconfig = await this.#options.kubeconfig("queue");
    return this.#run({ name: "queue", flags, kubeconfig, environment: { ...environment, ...aws } }, async () => {});
  }

  /** Runs `fairlead interruptions setup` to its end. */
  async setUp(...flags: readonly string[]): Promise<void> {
    const { supervision, folder, environment, aws } = this.#options;
    const args = [mainFile, "interruptions", "setup", `--region=${region}`, "--yes", ...flags];
    const log = join(folder, "interruptions-setup.log");
    const command = await supervision.start(process.execPath, args, { log, folder, environment: { ...environment, ...aws } });
    const { code } = await command.exit();
    if (code !== 0) throw new Error(`fairlead interruptions setup ended with status ${code}; see ${log}`);
  }

  async #run(program: HandlerProgram, after: () => Promise<void>): Promise<NodeHandler> {
    const { world, supervision, folder } = this.#options;
    const { name, flags, environment } = program;
    const kubeconfig = join(folder, `handler-${name}.kubeconfig`);
    await world.files.write(kubeconfig, program.kubeconfig, 0o600);
    const args = [mainFile, "node-termination-handler", `--kubeconfig=${kubeconfig}`, "--json-logging", ...flags];
    const life = new AbortController();
    let starts = 0;
    const spawn = () =>
      supervision.start(process.execPath, args, { log: join(folder, `handler-${name}.${++starts}.log`), folder, environment });
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
        await after();
      },
    };
    this.#open.add(handler);
    return handler;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((handler) => handler.close()));
  }
}
