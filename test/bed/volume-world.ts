/** An AWS account and the driver's controller in one process on virtual time. */
import assert from "node:assert/strict";
import { Clouds } from "../../src/aws/cloud.ts";
import { describeInstances } from "../../src/aws/ec2-actions.ts";
import { noSettings } from "../../src/aws/settings.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { Transport } from "../../src/runtime/http.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import type { World } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { SettingsChange } from "../../src/sandbox/cloud/controls/controls.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import type { Volume } from "../../src/sandbox/cloud/ec2/volumes/state.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";
import type { ControllerContext, ControllerSettings } from "../../src/volumes/controller/context.ts";
import { controllerMethods } from "../../src/volumes/controller/methods.ts";
import { controllerContext } from "../../src/volumes/controller/service.ts";
import { type CodeName, CsiError } from "../../src/volumes/csi/errors.ts";
import type { CreateVolumeRequest, VolumeAnswer, VolumeCapability } from "../../src/volumes/csi/messages.ts";

const shapes = new Shapes();
export const gib = 2 ** 30;

export const mountCapability: VolumeCapability = {
  accessType: "mount",
  mount: { fsType: "", mountFlags: [] },
  accessMode: { mode: "SINGLE_NODE_WRITER" },
};
export const blockCapability: VolumeCapability = { accessType: "block", block: {}, accessMode: { mode: "SINGLE_NODE_WRITER" } };
export const sharedCapability: VolumeCapability = { ...blockCapability, accessMode: { mode: "MULTI_NODE_MULTI_WRITER" } };

export interface VolumeWorldOptions {
  readonly seed?: number;
  readonly settings?: SettingsChange;
  readonly controller?: Partial<ControllerSettings>;
  readonly nodes?: number;
  readonly instanceType?: Instance["type"];
}

/** A world with nodes in three zones, the first and the fourth in the same. */
export async function volumeWorld(options: VolumeWorldOptions = {}): Promise<VolumeWorld> {
  const world = new VolumeWorld(options);
  await world.load();
  return world;
}

export class VolumeWorld {
  readonly world: VirtualWorld;
  readonly aws: Cloud;
  readonly network: Network;
  readonly nodes: readonly Instance[];
  readonly #options: VolumeWorldOptions;
  /** The driver that calls go to. */
  driver: Driver;

  constructor(options: VolumeWorldOptions) {
    this.#options = options;
    const { seed = 1 } = options;
    this.world = virtualWorld(seed, { environment: { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret" } });
    this.aws = createCloud({ world: this.world, seed, shapes, ...(options.settings && { settings: options.settings }) });
    this.network = standardNetwork(this.aws, { clusterId: "test" });
    this.nodes = launchNodes(this.aws, this.network, options.nodes ?? 4, options.instanceType ?? "m5.large");
    this.driver = this.start();
  }

  async load(): Promise<void> {
    await this.world.holding(this.driver.context.cloud.preload(describeInstances));
    await this.world.advance(60_000);
  }

  /** A driver that has just started, on the machine or on a severed one. */
  start(world: World = this.world, transport: Transport = this.aws.handle): Driver {
    const host = { world, log: silentLog, metrics: newRegistry() };
    const settings = { ...noSettings, region: this.aws.account.region };
    const cloud = new Clouds({ host, transport, gate: openGate(), settings, version: "0.0.0-test" }).in(this.aws.account.region);
    const context = controllerContext(host, cloud, {
      tags: { extraTags: {}, clusterId: "test", warnOnInvalid: false },
      nodeLocalVolumes: false,
      modifyWindowMs: 2_000,
      ...this.#options.controller,
    });
    return { context, methods: controllerMethods(context) };
  }

  /** Calls the driver, and lets time pass until it answers. */
  call<T = object>(method: string, request: object, signal: AbortSignal = new AbortController().signal): Promise<T> {
    return this.finish(this.begin<T>(method, request, signal));
  }

  /** Calls the driver, and does not wait. */
  begin<T = object>(method: string, request: object, signal: AbortSignal = new AbortController().signal): Promise<T> {
    const answer = this.driver.methods[method]!(request as never, { name: method, signal }) as Promise<T>;
    answer.catch(() => {});
    return answer;
  }

  async finish<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    work
      .finally(() => {
        settled = true;
      })
      .catch(() => {});
    await this.world.runUntil(() => settled, 15 * 60_000, "an answer of the driver");
    return work;
  }

  async create(name: string, more: Partial<CreateVolumeRequest> = {}): Promise<VolumeAnswer> {
    return (await this.call<{ volume: VolumeAnswer }>("CreateVolume", createRequest(name, this.nodes[0]!.zone, more))).volume;
  }

  async publish(volumeId: string, node: Instance, more: object = {}): Promise<string> {
    const request = publishRequest(volumeId, node.id, more);
    return (await this.call<{ publishContext: { devicePath: string } }>("ControllerPublishVolume", request)).publishContext.devicePath;
  }

  async unpublish(volumeId: string, node: Instance): Promise<void> {
    await this.call("ControllerUnpublishVolume", { volumeId, nodeId: node.id });
  }

  async delete(volumeId: string): Promise<void> {
    await this.call("DeleteVolume", { volumeId });
  }

  /** The volumes that the account has besides those of its instances. */
  get volumes(): readonly Volume[] {
    this.aws.account.time.settle();
    return [...this.aws.account.ec2.volumes.values()].filter(({ attachments }) => !attachments.some((each) => each.deleteOnTermination));
  }

  volume(id: string): Volume | undefined {
    this.aws.account.time.settle();
    return this.aws.account.ec2.volumes.get(id);
  }

  /** How often an action was called, whatever came of it. */
  calls(action: string): number {
    return Object.values(this.aws.controls.journal.counts()[action] ?? {}).reduce((sum, count) => sum + count, 0);
  }
}

export interface Driver {
  readonly context: ControllerContext;
  readonly methods: ReturnType<typeof controllerMethods>;
}

/** A request for a volume of 10 GiB in a zone. */
export function createRequest(name: string, zone: string, more: Partial<CreateVolumeRequest> = {}): CreateVolumeRequest {
  return {
    name,
    capacityRange: { requiredBytes: String(10 * gib), limitBytes: "0" },
    volumeCapabilities: [mountCapability],
    parameters: {},
    mutableParameters: {},
    volumeContentSource: null,
    accessibilityRequirements: { requisite: [], preferred: [{ segments: { "topology.kubernetes.io/zone": zone } }] },
    ...more,
  };
}

export function publishRequest(volumeId: string, nodeId: string, more: object = {}): object {
  return { volumeId, nodeId, volumeCapability: mountCapability, volumeContext: {}, ...more };
}

/** Asserts that a call is refused with this code, and returns its text. */
export async function refusedWith(call: Promise<unknown>, code: CodeName): Promise<string> {
  const error = await call.then(
    () => assert.fail(`the call went through; it should have been refused with ${code}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CsiError, String((error as Error).stack));
  assert.equal(error.code, code, error.message);
  return error.message;
}
