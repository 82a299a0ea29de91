/** Starts a server under the supervisor and waits until it serves, or says why it does not. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sleep, TimedOut, type World } from "../../../runtime/world.ts";
import type { Supervised, Supervision } from "./supervision.ts";

export interface ServerOptions {
  readonly world: World;
  readonly supervision: Supervision;
  /** For messages and the log's file name. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** Asked again and again until it says true; a rejection means "not yet". */
  readonly ready: () => Promise<boolean>;
}

/** The server ended before it served. */
export class ServerFailed extends Error {
  override readonly name = "ServerFailed";
  /** The last lines it wrote. */
  readonly output: string;
  constructor(message: string, output: string, options?: ErrorOptions) {
    super(`${message}\n${output}`, options);
    this.output = output;
  }
}

/** Machines that run several clusters at once are slow to start one; one that has not begun to serve by then never will. */
const readyLimitMs = 90_000;

/** Resolves with the running server when `ready` says so. */
export async function startServer(options: ServerOptions): Promise<Supervised> {
  const { world, name, folder } = options;
  const log = join(folder, `${name}.log`);
  const server = await options.supervision.start(options.command, options.args, { log, folder, environment: world.environment });
  const began = world.clock.monotonic();
  for (;;) {
    let lastFailure: unknown;
    const ready = await options.ready().catch((error) => {
      lastFailure = error;
      return false;
    });
    if (ready) return server;
    if (server.ended) {
      const { code, signal } = server.ended;
      throw new ServerFailed(`${name} ended before it served (${signal ?? `exit status ${code}`})`, await tail(log));
    }
    if (world.clock.monotonic() - began > readyLimitMs) {
      server.signal("SIGKILL");
      const cause = new TimedOut(`wait for ${name}`, readyLimitMs);
      throw new ServerFailed(`${name} did not serve in time: ${lastFailure ?? "it is not ready"}`, await tail(log), { cause });
    }
    await sleep(world.clock, 50);
  }
}

async function tail(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-15).join("\n");
}
