/**
 * What runs on every node, with volumes: `fairlead node` with the termination handler and the driver's node service in it, beside the
 * reference's driver. The reference's handler is measured by `npm run bench interruptions memory`.
 *
 *     node bench/node-memory.ts [seconds]      what each takes after so many seconds of idling
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { bundle } from "../deploy/build/bundle.ts";
import { realWorld } from "../src/runtime/world.ts";
import { createCloud } from "../src/sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../src/sandbox/cloud/network.ts";
import { supervise } from "../src/sandbox/cluster/real/supervision.ts";
import { startSandboxCluster } from "../src/sandbox/cluster.ts";
import { serveTransport } from "../src/sandbox/serve.ts";
import { csiClient } from "../test/bed/csi-client.ts";
import { referenceVolumeDriver } from "../test/referees/reference.ts";
import { nodeFlags } from "./bed/entrants.ts";
import { load, memoryOf } from "./bed/machine.ts";

const idleSeconds = Number(process.argv[2] ?? 60);
const folder = await mkdtemp(join(tmpdir(), "fairlead-bench-"));
const supervision = await supervise(folder);
const world = realWorld();
const cloud = createCloud({ world });
const [instance] = launchNodes(cloud, standardNetwork(cloud, { clusterId: "bench" }), 1, "m5.large");
cloud.account.ec2.instances.update(instance!.id, { state: "running" });
const imds = await serveTransport(cloud.imds(instance!.id));
const cluster = await startSandboxCluster({ world, kind: "embedded", port: 0, say: () => {} });
const ends: (() => void)[] = [];
try {
  await bundle(folder);
  const program = join(folder, "fairlead.js");
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, cluster.kubeconfig());
  const name = instance!.privateDnsName;
  await fetch(new URL("/api/v1/nodes", cluster.server), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ metadata: { name }, spec: { providerID: `aws:///${instance!.zone}/${instance!.id}` } }),
  });
  const environment = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    NODE_NAME: name,
    CSI_NODE_NAME: name,
    AWS_REGION: cloud.account.region,
    AWS_EC2_METADATA_SERVICE_ENDPOINT: imds.url,
    DISABLE_TAINT_WATCHER: "true",
  };
  const config = join(folder, "node.yaml");
  const [own, theirs] = [join(folder, "own.sock"), join(folder, "theirs.sock")];
  const volumes = { endpoint: `unix://${own}`, "kubelet-registration-path": own, "plugin-registration-path": folder };
  await writeFile(config, JSON.stringify({ "node-termination-handler": {}, "ebs-csi-driver": volumes }));
  const entrants = {
    "the reference's driver": {
      socket: theirs,
      command: [await referenceVolumeDriver(), "node", `--endpoint=unix://${theirs}`, "--metadata-sources=imds"],
    },
    "fairlead node": {
      socket: own,
      command: [
        process.execPath,
        ...(await nodeFlags(program)),
        program,
        "node",
        `--config=${config}`,
        "--secure-port=0",
        `--kubeconfig=${kubeconfig}`,
      ],
    },
  };
  console.log(`after ${idleSeconds} s of idling; load of the machine ${load().toFixed(1)}`);
  for (const [what, { socket, command }] of Object.entries(entrants)) {
    const log = join(folder, `${what.replaceAll(/\W/g, "-")}.log`);
    const child = await supervision.start(command[0]!, command.slice(1), { log, folder, environment });
    const call = csiClient({ after: (end: () => void) => void ends.push(end) } as Parameters<typeof csiClient>[0], socket);
    for (let tries = 0; ; tries++) {
      const answered = await call("Node", "NodeGetInfo").catch((error: Error) => error);
      if (!(answered instanceof Error)) break;
      if (child.ended !== undefined || tries > 600) throw new Error(`${what}: ${answered.message}\n${await readFile(log, "utf8")}`);
      await pause(1_000);
    }
    await pause(idleSeconds * 1_000);
    console.log(what, JSON.stringify(await memoryOf(child.pid)));
    child.signal("SIGKILL");
    await child.exit();
  }
} finally {
  for (const end of ends) end();
  await supervision.close();
  await Promise.all([imds.close(), cluster.close()]);
  await rm(folder, { recursive: true, force: true });
}
