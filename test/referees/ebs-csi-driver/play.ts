/** Plays the script with a driver, and tells what it answered and what the account looks like. */
import { setTimeout as delay } from "node:timers/promises";
import type { Cloud } from "../../../src/sandbox/cloud/cloud.ts";
import type { Instance } from "../../../src/sandbox/cloud/ec2/state.ts";
import type { CsiCall, CsiRefusal } from "../../bed/csi-client.ts";
import type { ScriptStep, Stage } from "./script.ts";

/** An account, its nodes, and who is asked. */
export interface Scene {
  readonly aws: Cloud;
  readonly nodes: readonly Instance[];
  readonly call: CsiCall;
}

/** What a step came to: the answer, or the refusal, without what differs from account to account. */
export interface Played {
  readonly step: ScriptStep;
  readonly refused: CsiRefusal | undefined;
  readonly answer: unknown;
}

/** The ids of what the account has, by name. */
export function stageOf({ aws, nodes }: Scene): Stage {
  const { volumes, snapshots } = aws.account.ec2;
  return {
    zone: nodes[0]!.zone,
    nodes: nodes.map(({ id }) => id),
    id(name) {
      for (const { id, tags } of [...volumes.values(), ...snapshots.values()]) {
        if (tags.CSIVolumeName === name || tags.CSIVolumeSnapshotName === name) return id;
      }
      return name.startsWith("snapshot") ? "snap-00000000000000000" : "vol-00000000000000000";
    },
  };
}

/** Plays steps in their order. A call that may still be running is repeated, as the sidecars do. */
export async function play(scene: Scene, steps: readonly ScriptStep[]): Promise<readonly Played[]> {
  const played: Played[] = [];
  // A volume that is deleted has no name any more, and is asked for again.
  const known = new Map<string, string>();
  const stage = stageOf(scene);
  const lasting: Stage = {
    ...stage,
    id(name) {
      const found = stage.id(name);
      if (!found.endsWith("-00000000000000000")) known.set(name, found);
      return known.get(name) ?? found;
    },
  };
  for (const step of steps) played.push(await playStep(scene, step, lasting));
  return played;
}

async function playStep(scene: Scene, step: ScriptStep, stage: Stage): Promise<Played> {
  const request = step.request(stage);
  try {
    const answer = await scene.call("Controller", step.method, request);
    return { step, refused: undefined, answer: plain(answer, scene) };
  } catch (error) {
    const { code, details } = error as CsiRefusal;
    if (code === undefined) throw error;
    return { step, refused: { code, details }, answer: undefined };
  }
}

/** Without ids and times. */
function plain(value: unknown, { aws, nodes }: Scene): unknown {
  let text = JSON.stringify(value);
  for (const { id, tags } of [...aws.account.ec2.volumes.values(), ...aws.account.ec2.snapshots.values()]) {
    const name = tags.CSIVolumeName ?? tags.CSIVolumeSnapshotName;
    if (name !== undefined) text = text.replaceAll(id, name);
  }
  nodes.forEach(({ id }, index) => {
    text = text.replaceAll(id, `node ${index}`);
  });
  return JSON.parse(text.replaceAll(/"creationTime":\{[^}]*\}/g, '"creationTime":"some time"'));
}

/** Volumes and snapshots that a driver has made, by name. */
export function picture({ aws, nodes }: Scene): object {
  aws.account.time.settle();
  const { volumes, snapshots } = aws.account.ec2;
  const nodeNames = new Map(nodes.map(({ id }, index) => [id, `node ${index}`]));
  const names = new Map([...volumes.values()].map(({ id, tags }) => [id, tags.CSIVolumeName]));
  const own = [...volumes.values()].filter(({ tags, state }) => tags.CSIVolumeName !== undefined && state !== "deleting");
  const all = [...snapshots.values()].filter(({ tags }) => tags.CSIVolumeSnapshotName !== undefined);
  const byName = <T>(items: readonly (readonly [string, T])[]) => Object.fromEntries([...items].sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    volumes: byName(
      own.map(({ tags, spec, zone, encrypted, attachments, snapshotId, sourceVolumeId, state }) => [
        tags.CSIVolumeName!,
        {
          state,
          ...spec,
          zone,
          encrypted,
          tags,
          fromSnapshot: snapshotId !== undefined,
          from: sourceVolumeId && names.get(sourceVolumeId),
          attachments: byName(
            attachments.map(({ instanceId, device, state: at }) => [nodeNames.get(instanceId) ?? instanceId, `${device} ${at}`]),
          ),
        },
      ]),
    ),
    snapshots: byName(
      all.map(({ tags, volumeId, description, sizeGiB }) => [
        tags.CSIVolumeSnapshotName!,
        { of: names.get(volumeId), tags, description: description.replace(volumeId, "its volume"), sizeGiB },
      ]),
    ),
  };
}

/** Waits for a snapshot to be stored whole. */
export async function snapshotCompleted({ aws }: Scene, name: string): Promise<void> {
  for (;;) {
    aws.account.time.settle();
    const found = [...aws.account.ec2.snapshots.values()].find(({ tags }) => tags.CSIVolumeSnapshotName === name);
    if (found === undefined || found.state === "completed") return;
    await delay(50);
  }
}
