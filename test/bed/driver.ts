/** The whole driver in this process behind its socket: a simulated account, and a node whose disks are loop devices. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Clouds } from "../../src/aws/cloud.ts";
import { noSettings } from "../../src/aws/settings.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { Transport } from "../../src/runtime/http.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { ec2Check } from "../../src/volumes/controller/health.ts";
import { controllerMethods, modifyMethods } from "../../src/volumes/controller/methods.ts";
import { controllerContext } from "../../src/volumes/controller/service.ts";
import { identityMethods } from "../../src/volumes/csi/identity.ts";
import { serveCsi } from "../../src/volumes/csi/server.ts";
import { InFlight } from "../../src/volumes/in-flight.ts";
import { nodeMethods } from "../../src/volumes/node/methods.ts";
import { linuxSystem } from "../../src/volumes/node/system.ts";
import { booted } from "./booted.ts";
import { LoopDisks } from "./loop-disks.ts";
import { fastWorld } from "./world.ts";

export interface RunningDriver {
  readonly socket: string;
  readonly folder: string;
  readonly aws: Cloud;
  close(): Promise<void>;
}

/** Starts it. For the driver and for AWS time passes `speed` times as fast as for everybody else. */
export async function startDriver(speed: number): Promise<RunningDriver> {
  const world = { ...fastWorld(speed), environment: { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret" } };
  const aws = createCloud({ world });
  const [node] = launchNodes(aws, standardNetwork(aws, { clusterId: "test" }), 1, "m5.large") as [Instance];
  await booted(aws, [node]);
  const disks = new LoopDisks();
  const host = { world, log: silentLog, metrics: newRegistry() };
  const transport: Transport = async (request) => {
    const answer = await aws.handle(request);
    plug(aws, node, disks);
    return answer;
  };
  const { region } = aws.account;
  const cloud = new Clouds({ host, transport, gate: openGate(), settings: { ...noSettings, region }, version: "0.0.0-test" }).in(region);
  const controller = controllerContext(host, cloud, {
    tags: { extraTags: {}, clusterId: "test", warnOnInvalid: false },
    nodeLocalVolumes: false,
    modifyWindowMs: 50,
    ownZone: node.zone,
  });
  const socket = join(disks.folder, "csi.sock");
  const server = await serveCsi(
    { kind: "unix", path: socket },
    {
      "csi.v1.Identity": identityMethods("0.0.0-test", ec2Check(controller)),
      "csi.v1.Controller": controllerMethods(controller),
      "modify.v1.Modify": modifyMethods(controller),
      "csi.v1.Node": nodeMethods({
        host,
        system: linuxSystem(),
        settings: { legacyXfs: false, limits: { attachLimit: -1, reserved: -1 } },
        inFlight: new InFlight(),
        facts: async () => ({
          instanceId: node.id,
          instanceType: node.type,
          region,
          zone: node.zone,
          outpostArn: undefined,
          networkInterfaces: 1,
          otherVolumes: 0,
        }),
      }),
    },
    silentLog,
  );
  return {
    socket,
    folder: disks.folder,
    aws,
    async close() {
      const now = new AbortController();
      const stopped = server.stop(now.signal);
      now.abort();
      await stopped;
      disks.close();
      await rm(socket, { force: true });
    },
  };
}

/** Brings the node's disks in line with what EC2 has attached. */
function plug(aws: Cloud, node: Instance, disks: LoopDisks): void {
  for (const volume of aws.account.ec2.volumes.values()) {
    const attachment = volume.attachments.find(({ instanceId }) => instanceId === node.id);
    if (attachment?.deleteOnTermination) continue;
    const bytes = volume.spec.sizeGiB * 2 ** 30;
    if (attachment?.state === "attached" && !disks.has(volume.id)) disks.attach(volume.id, attachment.device, bytes);
    else if (attachment?.state === "attached") disks.grow(volume.id, bytes);
    else if (disks.has(volume.id)) disks.detach(volume.id);
  }
}
