/** `fairlead cluster` and `fairlead node` in the interruptions' world. */
import { clusterPrograms } from "../../src/commands/host/cluster-programs.ts";
import { processFlags } from "../../src/commands/host/flags.ts";
import type { HostedPrograms } from "../../src/commands/host/hosted.ts";
import { nodePrograms } from "../../src/commands/host/node-programs.ts";
import { operate } from "../../src/commands/host/operate.ts";
import { check, settle } from "../../src/commands/host/settle.ts";
import "../../src/commands/node-termination-handler/handler.ts";
import "../../src/commands/node-termination-handler/surroundings.ts";
import "../../src/interruptions/holders.ts";
import { parseFlags } from "../../src/runtime/flags.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import type { InterruptionWorld, RunningHandler } from "./interruption-world.ts";

/** Starts `fairlead cluster` with this file. */
export function startCluster(w: InterruptionWorld, config: string, hostname: string, ...flags: readonly string[]): RunningHandler {
  return startHost(w, { component: "fairlead-cluster", lease: "fairlead-cluster", programs: clusterPrograms }, config, {
    hostname,
    flags: ["--cloud-config=/etc/cloud", ...flags],
    aws: w.aws.handle,
  });
}

/** Starts `fairlead node` with this file on a machine. It may ask its metadata service, and nobody else. */
export function startNode(w: InterruptionWorld, config: string, instance: Instance): RunningHandler {
  const hostname = instance.privateDnsName;
  return startHost(w, { component: "fairlead-node", lease: undefined, programs: nodePrograms }, config, {
    hostname,
    flags: [],
    aws: w.aws.imds(instance.id),
  });
}

interface Kind {
  readonly component: string;
  readonly lease: string | undefined;
  readonly programs: HostedPrograms;
}

function startHost(
  w: InterruptionWorld,
  { component, lease, programs }: Kind,
  config: string,
  {
    hostname,
    flags,
    aws,
  }: { readonly hostname: string; readonly flags: readonly string[]; readonly aws: InterruptionWorld["aws"]["handle"] },
): RunningHandler {
  const table = processFlags(lease);
  const file = `/etc/${hostname}.yaml`;
  const argv = [`--config=${file}`, "--secure-port=0", "--master=http://cluster", ...flags];
  const run: Parameters<InterruptionWorld["start"]>[2] = async (life) => {
    await w.world.files.write(file, config, 0o600);
    await w.world.files.write("/etc/cloud", cloudConfig(w), 0o600);
    const settled = await settle(parseFlags(table, argv), table, programs, w.world.files);
    check(settled);
    await operate(component, settled, life, { onNode: lease === undefined });
  };
  return w.start(hostname, aws, run, { NODE_NAME: hostname });
}

function cloudConfig({ network, aws }: InterruptionWorld): string {
  const { region } = aws.account;
  return `[Global]\nRegion=${region}\nVPC=${network.vpcId}\nSubnetID=${network.privateSubnetIds[0]}\nKubernetesClusterID=test\n`;
}
