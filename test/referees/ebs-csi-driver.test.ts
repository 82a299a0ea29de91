/** The reference's driver and ours are asked for the same, each in an account of its own; and ours takes over what it made. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Clouds } from "../../src/aws/cloud.ts";
import { noSettings } from "../../src/aws/settings.ts";
import { openGate } from "../../src/runtime/gate.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import type { World } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { controllerMethods } from "../../src/volumes/controller/methods.ts";
import { controllerContext } from "../../src/volumes/controller/service.ts";
import { serveCsi } from "../../src/volumes/csi/server.ts";
import { booted } from "../bed/booted.ts";
import { csiClient } from "../bed/csi-client.ts";
import { eventually } from "../bed/eventually.ts";
import { fastWorld } from "../bed/world.ts";
import { type Played, picture, play, type Scene, snapshotCompleted } from "./ebs-csi-driver/play.ts";
import { codes, making, refusing, removing, restoring, type ScriptStep } from "./ebs-csi-driver/script.ts";
import { referenceVolumeDriver } from "./reference.ts";

const clusterId = "judged";
const keys = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret" };
/** Of what EC2 takes its time for, and of our own waits for it. The reference's are by the machine's clock. */
const speed = 20;

interface Account {
  readonly world: World;
  readonly aws: Cloud;
  readonly nodes: readonly Instance[];
}

async function account(): Promise<Account> {
  const world = { ...fastWorld(speed), environment: keys };
  const aws = createCloud({ world });
  const all = launchNodes(aws, standardNetwork(aws, { clusterId }), 4, "m5.large");
  // The first and the fourth are in one zone.
  const nodes = [all[0]!, all[3]!];
  await booted(aws, nodes);
  return { world, aws, nodes };
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-volumes-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The reference's driver as a process. */
async function reference(t: TestContext, { aws, nodes }: Account): Promise<Scene & { stop(): Promise<void> }> {
  const program = await referenceVolumeDriver();
  const served = await serve(aws);
  t.after(() => served.close());
  const folder = folderOf(t);
  const socket = join(folder, "csi.sock");
  const flags = [`--endpoint=unix://${socket}`, `--k8s-tag-cluster-id=${clusterId}`, "--batching=true", "--extra-tags=cost=42", "--v=2"];
  const child = spawn(program, ["controller", ...flags], {
    env: { ...keys, PATH: process.env.PATH, HOME: folder, AWS_REGION: aws.account.region, AWS_EC2_ENDPOINT: served.url },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk) => {
    log += chunk;
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  t.after(stop);
  await eventually(() => assert.ok(existsSync(socket), log), 20_000);
  return { aws, nodes, call: csiClient(t, socket), stop };
}

/** Our controller in this process, behind a socket. */
async function ours(t: TestContext, { world, aws, nodes }: Account): Promise<Scene> {
  const host = { world, log: silentLog, metrics: newRegistry() };
  const { region } = aws.account;
  const clouds = new Clouds({ host, transport: aws.handle, gate: openGate(), settings: { ...noSettings, region }, version: "0.0.0-test" });
  const context = controllerContext(host, clouds.in(region), {
    tags: { extraTags: { cost: "42" }, clusterId, warnOnInvalid: false },
    nodeLocalVolumes: false,
    modifyWindowMs: 2_000,
  });
  const socket = join(folderOf(t), "csi.sock");
  const server = await serveCsi({ kind: "unix", path: socket }, { "csi.v1.Controller": controllerMethods(context) }, silentLog);
  t.after(async () => {
    const now = new AbortController();
    const stopped = server.stop(now.signal);
    now.abort();
    await stopped;
  });
  return { aws, nodes, call: csiClient(t, socket) };
}

/** Codes whose text is the driver's own, without any of EC2's. */
const ownWords: ReadonlySet<number> = new Set([codes.invalidArgument, codes.alreadyExists]);
const title = ({ method, what }: ScriptStep) => `${method}: ${what}`;

/** Compares what two drivers answered to the same steps. */
function assertSame(theirs: readonly Played[], own: readonly Played[]): void {
  const outcome = ({ refused, answer }: Played) => (refused === undefined ? answer : `refused with ${refused.code}`);
  const codeOf = ({ refused }: Played) => refused?.code ?? "done";
  const compared = (all: readonly Played[]) =>
    all.map((played) => [title(played.step), played.step.differs === undefined ? outcome(played) : "differs"]);
  for (const [index, { step }] of theirs.entries()) {
    if (step.differs === undefined) continue;
    const { reference: they, ours: we } = step.differs;
    assert.deepEqual([codeOf(theirs[index]!), codeOf(own[index]!)], [they, we], `${title(step)}: what is said of both`);
  }
  const texts = (all: readonly Played[]) => all.map((played) => `${title(played.step)}: ${played.refused?.details ?? "done"}`).join("\n");
  assert.deepEqual(compared(own), compared(theirs), `reference:\n${texts(theirs)}\n\nours:\n${texts(own)}`);
  theirs.forEach((played, index) => {
    if (played.step.differs !== undefined || !ownWords.has(played.refused?.code ?? 0)) return;
    // What follows the heading is in the words of Go, or of EC2.
    const isForeign = /strconv|template:|idempotent/.test(played.refused!.details);
    const text = ({ refused }: Played) => (isForeign ? refused!.details.split(":")[0]! : refused!.details).replaceAll(/vol-\w+/g, "vol-…");
    assert.equal(text(own[index]!), text(played), title(played.step));
  });
}

test("both make the same volumes, tags, attachments and snapshots, refuse the same, and leave nothing behind", async (t) => {
  const [theirs, own] = [await reference(t, await account()), await ours(t, await account())];
  const both = [theirs, own] as const;
  const played = async (steps: readonly ScriptStep[]) => {
    const [first, second] = await Promise.all(both.map((scene) => play(scene, steps)));
    assertSame(first!, second!);
    assert.deepEqual(picture(own), picture(theirs));
  };
  await played(making);
  await Promise.all(both.map((scene) => snapshotCompleted(scene, "snapshot-1")));
  await played(restoring);
  await played(refusing);
  await played(removing);
  assert.deepEqual(picture(own), { volumes: {}, snapshots: {} });
});

test("what the reference has made is ours to serve without a change of anything, and to delete", async (t) => {
  const shared = await account();
  const before = await reference(t, shared);
  const said = await play(before, making);
  await snapshotCompleted(before, "snapshot-1");
  await before.stop();
  const stands = picture(before);
  const own = await ours(t, shared);
  // Whatever the sidecars ask of a new driver about claims that are as they should be.
  const asked = making.filter(({ method }) => ["ControllerPublishVolume", "ControllerExpandVolume", "CreateSnapshot"].includes(method));
  const sequence = shared.aws.controls.journal.entries().at(-1)?.sequence;
  const heard = await play(own, asked);
  assert.deepEqual(shared.aws.controls.journal.entries(sequence), []);
  const last = new Map(said.map(({ step, answer }) => [title(step), answer]));
  assert.deepEqual(
    heard.map(({ step, answer }) => [title(step), answer]),
    heard.map(({ step }) => [title(step), withReadiness(step, last.get(title(step)))]),
  );
  // A volume that has no PersistentVolume yet is asked for by its name: that costs a call, which finds it.
  await play(
    own,
    making.filter(({ method }) => method === "CreateVolume"),
  );
  assert.deepEqual(picture(own), stands);
  const removed = await play(own, removing);
  assert.deepEqual(
    removed.filter(({ refused }) => refused !== undefined && refused.code !== codes.notFound),
    [],
  );
  assert.deepEqual(picture(own), { volumes: {}, snapshots: {} });
});

/** A snapshot that was on its way then is there now. */
function withReadiness({ method }: ScriptStep, answer: unknown): unknown {
  if (method !== "CreateSnapshot") return answer;
  const { snapshot } = answer as { snapshot: object };
  return { snapshot: { ...snapshot, readyToUse: true } };
}
