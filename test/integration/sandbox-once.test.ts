import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { eventually } from "../bed/eventually.ts";

const mainFile = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

test("the demonstration plays every scene, explains itself, ends well and leaves nothing behind", { timeout: 300_000 }, async (t) => {
  const { child, output, folder } = sandbox(t, "--once", "--cluster=embedded");
  const [first] = await once(child.stdout!, "data");
  assert.match(String(first), /^Fairlead gives a Kubernetes cluster/);
  assert.doesNotMatch(String(first), /simulated AWS is running/, "it spoke only when half of the work was done");
  const [status] = await once(child, "exit");
  const said = output();
  assert.equal(status, 0, said);
  for (const line of [
    /✓ there is a public and an internal subnet in each of 3 zones[\s\S]*✓ its machine runs, and its kubelet has registered a Node/,
    /✓ no Node carries the taint uninitialized/,
    /✓ every Node shows its machine's id, type and zone/,
    /✓ the VPC has a route to the pods of every Node/,
    /✓ AWS finds every node healthy behind both/,
    /✓ default\/shop on ip-\S+ answers/,
    /✓ default\/game on ip-\S+ answers/,
    /✓ the AWS account is exactly as it was before(?! the layout)/,
    /Event +FailedBuildModel ingress\/green/,
    /curl --header 'Host: sea\.example\.com'[\s\S]*✓ blue answers[\s\S]*✓ green answers/,
    /fairlead migrate ingress\/shop > shop\.yaml[\s\S]*│ HTTPRoute shop\n[\s\S]*✓ it has found nothing that the Gateway would do otherwise/,
    /fairlead plan -f shop\.yaml[\s\S]*│ {3}\+ create application load balancer[\s\S]*✓ all of it is new/,
    /✓ both load balancers do the same: only their names and tags differ/,
    /✓ its load balancer is gone[\s\S]*✓ fairlead plan gateway\/shop: nothing to do[\s\S]*✓ none of \d{3,} requests has failed/,
    /readiness gate target-health\.elbv2\.k8s\.aws\/k8s-default-web-[\s\S]*✓ 3 pods of version 2 are ready/,
    /✓ none of \d{3,} requests has failed/,
    /✓ the other replica has taken over/,
    /✓ the new Node is initialised/,
    /✓ the stopped machine's Node is kept and tainted shutdown/,
    /✓ the terminated machine's Node is deleted/,
    /✓ the claim is bound to a volume in us-east-1\w, the zone of the pod's node[\s\S]*✓ the volume and the claim have 20 GiB/,
    /✓ the volume is attached there[\s\S]*✓ the snapshot is ready to use[\s\S]*✓ nothing of it is left in the AWS account/,
    /✓ one pod is moved away, the other is held back by its disruption budget/,
    /✓ the Node is cordoned, and its pods stay/,
    /✓ started again, the handler goes on where it was: the last pod is moved away/,
    /✓ the instance runs until the last pod is moved away/,
    /✓ the hook is completed, and the plan on the Node says that everything has ended/,
    /tofu destroy {3}\(layouts\/with-nat\/base-infrastructure\)\n[\s\S]*✓ the AWS account is exactly as it was before the layout/,
    /AWS calls by Fairlead: \d+/,
    /Everything ended as it should: \d+ scenes, \d+ checks/,
  ]) {
    assert.match(said, line);
  }
  assert.ok(!said.includes("\x1b"), "escape codes in a pipe");
  assert.deepEqual(readdirSync(folder), []);
  assert.deepEqual(processesOf(folder), []);
});

test("a sandbox that is killed with SIGKILL takes its processes and its folder with it", { timeout: 60_000 }, async (t) => {
  const { child, output, folder } = sandbox(t, "--cluster=embedded", "--nodes=2");
  await eventually(() => assert.match(output(), /it leads/), 30_000);
  assert.ok(processesOf(folder).length >= 2);
  child.kill("SIGKILL");
  await eventually(() => {
    assert.deepEqual(processesOf(folder), []);
    assert.deepEqual(readdirSync(folder), []);
  });
});

test("in a pipe it tells its story in plain lines, says how to reach it, and ends in order on SIGTERM", { timeout: 60_000 }, async (t) => {
  const { child, output, folder } = sandbox(t, "--cluster=embedded", "--nodes=2", "--provider-id");
  await eventually(() => assert.match(output(), /^\d\d:\d\d:\d\d {2}Fairlead {3}ip-[\d-]+ initialised: /m), 30_000);
  assert.match(output(), new RegExp(`export KUBECONFIG=${folder}/fairlead-sandbox-\\w+/kubeconfig`));
  assert.match(output(), /export AWS_ENDPOINT_URL=http:\/\/127\.0\.0\.1:\d+/);
  child.kill("SIGTERM");
  const [status] = await once(child, "exit");
  assert.equal(status, 0);
  assert.match(output(), /nothing of it is left\.\n$/);
  assert.deepEqual(readdirSync(folder), []);
});

test("a port that somebody else uses is refused with what to do about it", { timeout: 30_000 }, async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { child, output, folder } = sandbox(t, "--once", "--cluster=embedded", `--aws-port=${port}`);
  const [status] = await once(child, "exit");
  assert.equal(status, 1);
  assert.match(output(), new RegExp(`fairlead sandbox: port ${port} is in use by another program; give another one with --aws-port`));
  await eventually(() => assert.deepEqual(readdirSync(folder), []));
});

/** Runs it as a user would, with a folder of its own for temporary files, so that what it leaves can be seen. */
function sandbox(t: TestContext, ...flags: readonly string[]): { child: ChildProcess; output(): string; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "sandbox-test-"));
  const child = spawn(process.execPath, [mainFile, "sandbox", ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (chunk: string) => chunks.push(chunk));
  t.after(async () => {
    child.kill("SIGKILL");
    await eventually(() => assert.deepEqual(processesOf(folder), []));
    rmSync(folder, { recursive: true, force: true });
  });
  return { child, output: () => chunks.join(""), folder };
}

/** Every process whose command line names the folder. */
function processesOf(folder: string): readonly string[] {
  const all = execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" });
  return all.split("\n").filter((line) => line.includes(folder));
}
