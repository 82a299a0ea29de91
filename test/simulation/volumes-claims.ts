/** A claim and what the sidecars do for it: each asks again until it is told that it is done, or that it never will be. */
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { type CodeName, CsiError } from "../../src/volumes/csi/errors.ts";
import { createRequest, gib, publishRequest, type VolumeWorld } from "../bed/volume-world.ts";
import type { Chance } from "./chance.ts";
import type { History } from "./history.ts";
import { type FallibleDriver, NoAnswer } from "./volumes-driver.ts";

export interface ClaimScene {
  readonly scene: VolumeWorld;
  readonly driver: FallibleDriver;
  readonly history: History;
  readonly chance: Chance;
  /** In one zone. */
  readonly nodes: readonly Instance[];
  /** Whether anybody still wants volumes. */
  readonly wish: { readonly isWanted: boolean };
}

/** Codes after which the provisioner takes it that the volume may still come. After any other it forgets the claim. */
const mayStillCome: ReadonlySet<CodeName> = new Set(["Aborted", "Canceled", "DeadlineExceeded"]);
/** The same of the snapshotter. */
const snapshotMayStillCome: ReadonlySet<CodeName> = new Set([...mayStillCome, "ResourceExhausted"]);

/** Whether a sidecar takes it that nothing was made. A failure without a code is Internal on the wire, which is final. */
function isFinal(error: unknown, open: ReadonlySet<CodeName>): boolean {
  return !(error instanceof NoAnswer) && !(error instanceof CsiError && open.has(error.code));
}

export class Claim {
  readonly #name: string;
  readonly #at: ClaimScene;
  #snapshots = 0;

  constructor(name: string, at: ClaimScene) {
    this.#name = name;
    this.#at = at;
  }

  /** From the first wish to the last deletion. */
  async live(): Promise<void> {
    const { chance } = this.#at;
    await this.#pause(chance.between(0, 20_000));
    const volumeId = await this.#create();
    if (volumeId === undefined) return;
    while (this.#at.wish.isWanted && chance.happens(0.85)) {
      const node = chance.pick(this.#at.nodes)!;
      if (await this.#publish(volumeId, node)) {
        if (chance.happens(0.3)) await this.#expand(volumeId);
        if (chance.happens(0.3)) await this.#snapshot(volumeId);
        await this.#pause(chance.between(0, 20_000));
      }
      await this.#unpublish(volumeId, node);
    }
    await this.#delete(volumeId);
  }

  /** The provisioner: a claim that goes while its volume may still come is followed to the end. */
  async #create(): Promise<string | undefined> {
    const { nodes } = this.#at;
    const request = createRequest(this.#name, nodes[0]!.zone);
    for (;;) {
      try {
        const { volume } = await this.#call<{ volume: { volumeId: string } }>("CreateVolume", request, 60_000);
        this.#tell(`has ${volume.volumeId}`);
        return volume.volumeId;
      } catch (error) {
        if (isFinal(error, mayStillCome) && !this.#at.wish.isWanted) return undefined;
      }
      await this.#pause(this.#at.chance.between(1_000, 10_000));
    }
  }

  /** The attacher. A claim that is not wanted any more, or whose node is gone, is not attached. */
  async #publish(volumeId: string, node: Instance): Promise<boolean> {
    for (let tries = 0; this.#at.wish.isWanted && tries < 8; tries++) {
      if (this.#stateOf(node) !== "running") return false;
      try {
        const { publishContext } = await this.#call<{ publishContext: { devicePath: string } }>(
          "ControllerPublishVolume",
          publishRequest(volumeId, node.id),
          6 * 60_000,
        );
        this.#checkAttached(volumeId, node, publishContext.devicePath);
        return true;
      } catch (error) {
        if (!(error instanceof Error)) throw error;
      }
      // The pod went elsewhere at this very moment: what may just have been attached is to be detached.
      if (this.#at.chance.happens(0.3)) return false;
      await this.#pause(this.#at.chance.between(500, 5_000));
    }
    return false;
  }

  /** What kubelet will look for is there. */
  #checkAttached(volumeId: string, node: Instance, device: string): void {
    const { scene, history } = this.#at;
    if (this.#stateOf(node) !== "running") return;
    const found = scene.volume(volumeId)?.attachments.find(({ instanceId }) => instanceId === node.id);
    if (found?.state === "attached" && found.device === device) return;
    history.broken(
      "what is said to be attached is",
      `${volumeId} at ${node.id} as ${device}, but it is ${found ? `${found.state} as ${found.device}` : "not there"}`,
    );
  }

  async #unpublish(volumeId: string, node: Instance): Promise<void> {
    const { scene, history } = this.#at;
    await this.#until("ControllerUnpublishVolume", { volumeId, nodeId: node.id }, 6 * 60_000);
    const state = this.#stateOf(node);
    const found = scene.volume(volumeId)?.attachments.find(({ instanceId }) => instanceId === node.id);
    if (found !== undefined && state !== "terminated") {
      history.broken("what is said to be detached is", `${volumeId} is ${found.state} at ${node.id}`);
    }
  }

  /** The resizer, which gives up here after a while: EC2 has a limit of changes. */
  async #expand(volumeId: string): Promise<void> {
    const size = this.#at.scene.volume(volumeId)?.spec.sizeGiB ?? 10;
    const request = { volumeId, capacityRange: { requiredBytes: String((size + 1) * gib), limitBytes: "0" }, volumeCapability: null };
    for (let tries = 0; tries < 4; tries++) {
      const done = await this.#call<{ capacityBytes: string }>("ControllerExpandVolume", request, 60_000).catch(() => undefined);
      if (done !== undefined) {
        const actual = this.#at.scene.volume(volumeId)?.spec.sizeGiB ?? 0;
        if (BigInt(actual) * BigInt(gib) < BigInt(done.capacityBytes)) {
          this.#at.history.broken("a volume is as large as it is said to be", `${volumeId} has ${actual} GiB`);
        }
        return;
      }
      await this.#pause(this.#at.chance.between(1_000, 10_000));
    }
  }

  /**
   * The snapshotter: a snapshot that may still come is followed until it is there, and then deleted. One that was refused for good
   * is forgotten when nobody wants it any more.
   */
  async #snapshot(volumeId: string): Promise<void> {
    const { chance, nodes } = this.#at;
    const parameters = chance.happens(0.5) ? { fastSnapshotRestoreAvailabilityZones: nodes[0]!.zone } : {};
    const request = { name: `snapshot-${this.#name}-${++this.#snapshots}`, sourceVolumeId: volumeId, parameters };
    for (;;) {
      try {
        const { snapshot } = await this.#call<{ snapshot: { snapshotId: string } }>("CreateSnapshot", request, 60_000);
        this.#tell(`has ${snapshot.snapshotId}`);
        await this.#until("DeleteSnapshot", { snapshotId: snapshot.snapshotId }, 60_000);
        return;
      } catch (error) {
        if (isFinal(error, snapshotMayStillCome) && chance.happens(0.5)) return;
      }
      await this.#pause(chance.between(500, 10_000));
    }
  }

  async #delete(volumeId: string): Promise<void> {
    await this.#until("DeleteVolume", { volumeId }, 60_000);
    this.#tell("is gone");
  }

  async #until<T>(method: string, request: object, limitMs: number): Promise<T> {
    for (;;) {
      try {
        return await this.#call<T>(method, request, limitMs);
      } catch (error) {
        if (!(error instanceof CsiError) && !(error instanceof NoAnswer)) throw error;
      }
      await this.#pause(this.#at.chance.between(500, 10_000));
    }
  }

  async #call<T>(method: string, request: object, limitMs: number): Promise<T> {
    try {
      const answer = await this.#at.driver.call<T>(method, request, limitMs);
      this.#tell(`${method}: done`);
      return answer;
    } catch (error) {
      const { name, message } = error as Error;
      this.#tell(`${method}: ${error instanceof CsiError ? error.code : name} ${message.replaceAll(/request id [\w-]+/g, "")}`);
      throw error;
    }
  }

  #stateOf(node: Instance): string {
    this.#at.scene.aws.account.time.settle();
    return this.#at.scene.aws.account.ec2.instances.get(node.id)?.state ?? "terminated";
  }

  #tell(what: string): void {
    this.#at.history.tell(this.#name, what);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#at.scene.world.clock.after(ms, resolve);
    });
  }
}
