/**
 * CPU the simulated cloud spends on a full DescribeInstances of 5,000 instances, page by page through a socket.
 *
 *     node bench/simulated-cloud.ts [instances]
 *
 * The cloud runs in a process of its own, so that the client's work does not count.
 */
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { realWorld } from "../src/runtime/world.ts";
import { createCloud } from "../src/sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../src/sandbox/cloud/network.ts";
import { serve } from "../src/sandbox/cloud/serve.ts";

const instances = Number(process.argv[2] ?? 5000);
if (process.argv[3] === "serve") await serveInstances();
else await measure();

async function serveInstances(): Promise<void> {
  const cloud = createCloud({ world: realWorld(), settings: { speed: 1000 } });
  launchNodes(cloud, standardNetwork(cloud, { clusterId: "bench" }), instances);
  const { url } = await serve(cloud);
  process.on("message", () => process.send?.(process.cpuUsage()));
  process.send?.(url);
}

async function measure(): Promise<void> {
  const child = fork(import.meta.filename, [String(instances), "serve"]);
  const [url] = (await once(child, "message")) as [string];
  for (const round of ["cold", "warm", "warm"]) {
    const before = await cpu();
    const started = performance.now();
    const { pages, bytes, count } = await describeAll(url);
    const after = await cpu();
    const milliseconds = (after.user + after.system - before.user - before.system) / 1000;
    console.log(
      `${round}: ${count} instances, ${pages} pages, ${(bytes / 1e6).toFixed(1)} MB: ${milliseconds.toFixed(0)} ms of CPU, ${(performance.now() - started).toFixed(0)} ms in all`,
    );
  }
  child.kill();

  async function cpu(): Promise<NodeJS.CpuUsage> {
    child.send("cpu");
    const [usage] = (await once(child, "message")) as [NodeJS.CpuUsage];
    return usage;
  }
}

async function describeAll(url: string): Promise<{ pages: number; bytes: number; count: number }> {
  const signature = createHash("sha256").update("unchecked").digest("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=AKIABENCH/20260101/us-east-1/ec2/aws4_request, SignedHeaders=host, Signature=${signature}`;
  let token: string | undefined;
  let [pages, bytes, count] = [0, 0, 0];
  do {
    const form = new URLSearchParams({ Action: "DescribeInstances", Version: "2016-11-15", MaxResults: "1000" });
    if (token !== undefined) form.set("NextToken", token);
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization, "content-type": "application/x-www-form-urlencoded" },
      body: form.toString(),
    });
    const body = await response.text();
    if (!response.ok) throw new Error(body);
    pages++;
    bytes += body.length;
    count += body.split("<instanceId>").length - 1;
    token = /<nextToken>([^<]+)</.exec(body)?.[1];
  } while (token !== undefined);
  return { pages, bytes, count };
}
