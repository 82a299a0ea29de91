/** Runs a one-shot command where a world on virtual time is, and collects what it says. */
import type { Command } from "../../src/commands/command.ts";
import type { Network } from "../../src/commands/live.ts";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import type { VirtualWorld } from "../../src/sandbox/virtual-clock.ts";

/** A command that can be told how cluster and AWS are reached. */
type LiveCommand = (invocation: Parameters<Command>[0], network: Network) => Promise<number>;

export interface Place {
  readonly world: VirtualWorld;
  readonly aws: Cloud;
  readonly cluster: EmbeddedCluster;
  /** How the command is told where it is; a cloud config that says all, unless told otherwise. */
  readonly flags?: readonly string[];
}

export async function command(
  { world, aws, cluster, flags = ["--master=http://cluster", "--cloud-config=/etc/cloud"] }: Place,
  which: LiveCommand,
  ...argv: readonly string[]
): Promise<{ status: number; out: string; err: string }> {
  let [out, err] = ["", ""];
  const console = {
    columns: 0,
    watched: false,
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
  };
  const network = { aws: aws.handle, kube: () => ({ send: cluster.send, close: async () => {} }) };
  const stopSignal = () => new AbortController().signal;
  let status: number | undefined;
  void which({ argv: [...argv, ...flags], world, console, stopSignal }, network).then((value) => {
    status = value;
  });
  await world.runUntil(() => status !== undefined, 120_000, "the command has ended");
  return { status: status!, out, err };
}
