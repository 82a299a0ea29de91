/** Controllers inside the test process, wired as `fairlead controller-manager` wires them. */
import type { ControllerTable } from "../../src/commands/controller-manager/context.ts";
import { parseOptions } from "../../src/commands/controller-manager/flags.ts";
import { operate } from "../../src/commands/controller-manager/operate.ts";
import type { Transport } from "../../src/runtime/http.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { realWorld } from "../../src/runtime/world.ts";
import type { Account, TestCluster } from "./cluster.ts";
import { placeFlags } from "./controller-manager.ts";

export interface RunOptions {
  readonly flags?: readonly string[];
  /** Where AWS is: the simulated cloud's gateway. Without one, every call to AWS fails. */
  readonly aws?: Transport;
}

/** Controllers that are running. */
export interface Running {
  readonly name: string;
  /** Who they are to the API server. */
  readonly account: Account;
  logs(): Promise<string>;
  /** Ends them as SIGTERM would; rejects with what ended them before. */
  stop(): Promise<void>;
}

/** Runs every controller of the table, as the service account with the roles that we ship, without election or server. */
export async function runControllers(
  cluster: TestCluster,
  name: string,
  table: ControllerTable,
  { flags = [], aws = noCloud }: RunOptions = {},
): Promise<Running> {
  const world = realWorld();
  const account = await cluster.fairlead();
  const args = [...(await placeFlags(cluster, await account.kubeconfig())), "--leader-elect=false", "--secure-port=0", ...flags];
  const { values: options } = parseOptions([`--controllers=${Object.keys(table).join(",")}`, ...args]);
  let text = "";
  const destination = {
    write(line: string) {
      text += line;
    },
    flush() {},
  };
  const logs = openLogs(world.clock, { format: "json", verbosity: options.v, vmodule: "", colour: false, destination });
  const host = { world, log: logs.log, metrics: newRegistry() };
  const stopping = new AbortController();
  const running = operate({ options, version: "v0.0.0-test", host, logs, table, network: { aws }, stop: stopping.signal });
  // Whoever stops it learns how it ended; until then nobody listens.
  running.catch(() => {});
  return {
    name,
    account,
    logs: async () => text,
    stop() {
      stopping.abort(new Error("the test ends"));
      return running;
    },
  };
}

const noCloud: Transport = async ({ url }) => {
  throw new Error(`there is no cloud in this bed to ask for ${url.host}`);
};
