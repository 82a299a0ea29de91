/** `fairlead dashboard`: a page about a cluster and its AWS account, served on this machine to who has its address. */
import { openDashboard, pasted } from "../dashboard/dashboard.ts";
import type { Endpoint } from "../dashboard/watching.ts";
import type { Access } from "../kube/config/access.ts";
import { exitStatus } from "../process/exit.ts";
import type { Now } from "../process/now.ts";
import { FlagError, type FlagSection, flag, type ParsedFlags, parseFlags, printValue } from "../runtime/flags.ts";
import { bool, int32, strings } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import { socketTransport } from "../runtime/http.ts";
import { wholeAnswer } from "../runtime/whole-answer.ts";
import type { Clock, World } from "../runtime/world.ts";
import type { Command, Console } from "./command.ts";
import { eventTable } from "./docs-events.ts";
import { failure } from "./failure.ts";
import { liveFlags, type Network, openLive } from "./live.ts";
import { plan } from "./plan.ts";

export const flags = {
  port: flag(int32, 0, "Port of the page, on the loopback interface. 0: any free one."),
  endpoint: flag(
    strings,
    [],
    "Where processes of Fairlead serve (https://host:10258), to see what they are doing, for example through port-forwards.",
  ),
  "endpoint-insecure-skip-tls-verify": flag(
    bool,
    false,
    "Accept any certificate of the endpoints. Your token of the cluster is sent to whoever listens there.",
  ),
  ...liveFlags,
};

const usage = `Serves a page about the cluster: what stands in AWS for which object, what is being done and why, what is wrong and what to
do about it, what would be done, and what it costs. It listens on this machine only, for one browser: the address that it prints is
good once. It reads with your kubeconfig and your AWS credentials, and changes nothing.

Usage:
  fairlead dashboard [flags]`;

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Dashboard", flags }];

/** Runs the command on this machine's sockets. */
export const run: Command = (invocation) => showDashboard(invocation);

/** Runs the command where the network says. */
export async function showDashboard({ argv, world, console, stopSignal }: Parameters<Command>[0], network: Network = {}): Promise<number> {
  try {
    const parsed = parseFlags(flags, argv);
    const { values, args } = parsed;
    if (values.help) {
      console.out(`${usage}\n\n${flagUsage(sections, console.columns)}`);
      return exitStatus.done;
    }
    if (args.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}`);
    if (values.port < 0 || values.port > 65_535) throw new FlagError(`--port must be from 0 to 65535, not ${values.port}`);
    for (const url of values.endpoint) {
      if (URL.parse(url)?.protocol !== "https:")
        throw new FlagError(`--endpoint must be like https://127.0.0.1:10258, not ${JSON.stringify(url)}`);
    }
    const stop = stopSignal();
    const live = await openLive(values, world, "fairlead dashboard", stop, network);
    try {
      for (const note of live.notes) console.err(`fairlead dashboard: ${note}\n`);
      const asked = values.endpoint.map((url) =>
        endpoint(url, values["endpoint-insecure-skip-tls-verify"], (signal) => live.kube.config.access(signal), world.clock),
      );
      const dashboard = await openDashboard(
        { world, live, remedies, port: values.port, endpoints: () => asked, plan: planner(placeWords(parsed), world, network) },
        stop,
      );
      console.out(`${dashboard.address()}\n`);
      await dashboard.ended.catch((error: unknown) => {
        if (!stop.aborted) throw error;
      });
      await dashboard.close();
      return exitStatus.done;
    } finally {
      await live.close();
    }
  } catch (error) {
    return failure("dashboard", error, console);
  }
}

/** The flags that say which cluster and which account, for a command that looks at the same. */
export function placeWords({ values, given }: ParsedFlags<typeof flags>): readonly string[] {
  const names = (Object.keys(liveFlags) as (keyof typeof liveFlags)[]).filter((name) => given.has(name));
  return names.map((name) => `--${name}=${printValue(liveFlags[name], values[name])}`);
}

/** What to do about each Event of Fairlead. */
export const remedies: ReadonlyMap<string, string> = new Map(eventTable.map(({ reason, todo }) => [reason, todo]));

/** How one proves who one is. */
type Proof = Pick<Access, "headers"> & Partial<Pick<Access, "tls">>;

/** A process that says what it does to who is allowed to ask. */
export function endpoint(url: string, insecure: boolean, access: (signal: AbortSignal) => Promise<Proof>, clock: Clock): Endpoint {
  return {
    url,
    async now(signal) {
      const { headers, tls: { cert, key } = {} } = await access(signal);
      // Who has a certificate shows it here too; the endpoint's own is checked by what this machine trusts.
      const sockets = socketTransport({
        tls: { ...(cert && key && { cert, key }), ...(insecure && { insecure }) },
        connectTimeoutMs: 1_000,
      });
      const limits = { clock, limitMs: 2_000, what: `GET ${url}`, signal, maxBytes: 16 * 1024 * 1024 };
      try {
        const answer = await wholeAnswer(sockets.send, { method: "GET", url: new URL("/debug/fairlead/now", url), headers }, limits);
        if (answer.status !== 200) throw new Error(`it answers ${answer.status}: ${refusal(answer.body)}`);
        return JSON.parse(answer.body) as Now;
      } finally {
        await sockets.close();
      }
    },
  };
}

/** What a Status says, else the beginning of whatever was answered. */
function refusal(body: string): string {
  try {
    return String((JSON.parse(body) as { readonly message?: string }).message);
  } catch {
    return body.slice(0, 200);
  }
}

/** Runs `fairlead plan` as it is, and keeps what it prints. */
export function planner(where: readonly string[], world: World, network: Network) {
  return async (words: readonly string[], manifest: string | undefined, signal: AbortSignal): Promise<string> => {
    const printed: string[] = [];
    const keep = (text: string) => void printed.push(text);
    const console: Console = { out: keep, err: keep, columns: 0, watched: false };
    const read = async (path: string) => (manifest !== undefined && path === pasted ? Buffer.from(manifest) : await world.files.read(path));
    await plan(
      { argv: [...where, ...words], world: { ...world, files: { ...world.files, read } }, console, stopSignal: () => signal },
      network,
    );
    return printed.join("");
  };
}
