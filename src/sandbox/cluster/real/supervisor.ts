/**
 * The parent of every process that must not outlive the one who asked for it.
 *
 * It runs on its own, in its own process group, at the other end of a channel. However its owner ends (a crash, SIGKILL, the
 * end of a test run), the channel closes; then everything started here is killed and the folder removed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";

/** What the owner asks. */
export type Order =
  | {
      readonly kind: "start";
      readonly id: number;
      readonly command: string;
      readonly args: readonly string[];
      readonly options: StartOptions;
    }
  | { readonly kind: "signal"; readonly id: number; readonly signal: NodeJS.Signals };

export interface StartOptions {
  /** Standard output and error are appended here. */
  readonly log: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What the owner is told. */
export type Report =
  | { readonly kind: "started"; readonly id: number; readonly pid: number }
  | { readonly kind: "failed"; readonly id: number; readonly reason: string }
  | { readonly kind: "exited"; readonly id: number; readonly exit: Exit };

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

if (import.meta.main) supervise(process.argv[2]!);

function supervise(folder: string): void {
  const running = new Map<number, ChildProcess>();
  const report = (message: Report) => {
    if (process.connected) process.send?.(message, () => {});
  };

  process.on("message", (order: Order) => {
    if (order.kind === "signal") running.get(order.id)?.kill(order.signal);
    else start(order);
  });

  process.on("disconnect", async () => {
    const ends = [...running.values()].map((child) => once(child, "exit"));
    for (const child of running.values()) child.kill("SIGKILL");
    await Promise.all(ends);
    await rm(folder, { recursive: true, force: true });
    process.exit();
  });

  function start({ id, command, args, options }: Extract<Order, { kind: "start" }>): void {
    const log = openSync(options.log, "a", 0o600);
    const child = spawn(command, args, {
      stdio: ["ignore", log, log],
      cwd: options.folder,
      env: options.environment as NodeJS.ProcessEnv,
    });
    closeSync(log);
    // At once, not when it says so: the owner may end in between.
    if (child.pid !== undefined) running.set(id, child);
    child.once("spawn", () => report({ kind: "started", id, pid: child.pid! }));
    child.once("error", (error) => report({ kind: "failed", id, reason: error.message }));
    child.once("exit", (code, signal) => {
      running.delete(id);
      report({ kind: "exited", id, exit: { code, signal } });
    });
  }
}
