/** What happens to claims and snapshots in the comparison, and what cluster and account look like after each act. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { pods } from "../../../src/kube/builtin.ts";
import type { KubeObject } from "../../../src/kube/resource.ts";
import type { PersistentVolumeClaimStatus } from "../../../src/kube/types.ts";
import { claims, volumeSnapshots } from "../../../src/volumes/storage-resources.ts";
import { eventually } from "../../bed/eventually.ts";
import { apply } from "../../bed/manifests.ts";
import { comparedEvents } from "./differences.ts";
import { observed, recordedEvents } from "./observed.ts";
import { driver, limitMs, type SidecarWorld, type Starter, sidecarWorld } from "./world.ts";

const storageClass = (name: string, more: object) => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name },
  provisioner: driver,
  volumeBindingMode: "Immediate",
  allowVolumeExpansion: true,
  ...more,
});

const classes: readonly (KubeObject & Record<string, unknown>)[] = [
  storageClass("fast", {
    volumeBindingMode: "WaitForFirstConsumer",
    mountOptions: ["noatime"],
    parameters: { type: "gp3", "csi.storage.k8s.io/fstype": "xfs", tagSpecification_1: "of={{ .PVCNamespace }}/{{ .PVCName }}" },
  }),
  storageClass("at-once", { reclaimPolicy: "Delete" }),
  storageClass("mistaken", { parameters: { colour: "red" } }),
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttributesClass",
    metadata: { name: "busy" },
    driverName: driver,
    parameters: { iops: "4000" },
  },
  {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotClass",
    metadata: { name: "tagged" },
    driver,
    deletionPolicy: "Delete",
    parameters: { tagSpecification_1: "of={{ .VolumeSnapshotName }}" },
  },
];

export const acts = ["bound", "grown", "refused", "recovered", "restored", "events"] as const;
export type Acts = Readonly<Record<(typeof acts)[number], unknown>>;

/** Plays it to the end, at which nothing is left of it in cluster or account. */
export async function play(t: TestContext, start: Starter): Promise<Acts> {
  const script = new Script(await sidecarWorld(t, start));
  await script.begin();
  const bound = await script.bind();
  const grown = await script.grow();
  const refused = await script.refuse();
  const recovered = await script.recover();
  const restored = await script.restore();
  const events = comparedEvents(await recordedEvents(script.world));
  await script.end();
  return { bound, grown, refused, recovered, restored, events };
}

class Script {
  readonly world: SidecarWorld;

  constructor(world: SidecarWorld) {
    this.world = world;
  }

  async begin(): Promise<void> {
    for (const object of classes) await apply(this.world.kube, object);
  }

  /** With a node that a pod has chosen, at once, with a class of attributes, and of a class that the driver refuses. */
  async bind(): Promise<object> {
    await this.#claim("data", "fast");
    await this.#pod("data");
    await this.#claim("raw", "at-once", { volumeMode: "Block" });
    await this.#claim("shaped", "at-once", { volumeAttributesClassName: "busy" });
    await this.#claim("wrong", "mistaken");
    for (const name of ["data", "raw", "shaped"]) await this.#bound(name);
    await this.#eventually(async () =>
      assert.ok((await recordedEvents(this.world)).includes("PersistentVolumeClaim wrong Warning ProvisioningFailed")),
    );
    return observed(this.world);
  }

  /** Size and attributes of a mounted volume at the same time, and the size of a block device. */
  async grow(): Promise<object> {
    await this.#change("data", { resources: { requests: { storage: "20Gi" } }, volumeAttributesClassName: "busy" });
    await this.#change("raw", { resources: { requests: { storage: "20Gi" } } });
    for (const [name, attributes] of [["data", "busy"], ["raw"]] as const) {
      await this.#until(name, ({ capacity, conditions = [], currentVolumeAttributesClassName }) => {
        assert.deepEqual([capacity?.storage, currentVolumeAttributesClassName, conditions], ["20Gi", attributes, []]);
      });
    }
    return observed(this.world);
  }

  /** More than EC2 has, and a class of attributes that is not there. */
  async refuse(): Promise<object> {
    await this.#change("shaped", { resources: { requests: { storage: "70000Gi" } } });
    await this.#change("raw", { volumeAttributesClassName: "absent" });
    await this.#until("shaped", ({ allocatedResourceStatuses }) => {
      assert.equal(allocatedResourceStatuses?.storage, "ControllerResizeInfeasible");
    });
    await this.#until("raw", ({ modifyVolumeStatus }) => assert.equal(modifyVolumeStatus?.status, "Pending"));
    return observed(this.world);
  }

  /** The one who asked for too much asks for less. No pod uses the volume: its file system waits. */
  async recover(): Promise<object> {
    await this.#change("shaped", { resources: { requests: { storage: "12Gi" } } });
    await this.#until("shaped", ({ allocatedResources, allocatedResourceStatuses }) => {
      assert.deepEqual([allocatedResources?.storage, allocatedResourceStatuses?.storage], ["12Gi", "NodeResizePending"]);
    });
    return observed(this.world);
  }

  async restore(): Promise<object> {
    const { kube } = this.world;
    await kube.create(volumeSnapshots, {
      metadata: { name: "before", namespace: "default" },
      spec: { volumeSnapshotClassName: "tagged", source: { persistentVolumeClaimName: "data" } },
    });
    await this.#eventually(async () => {
      const { status } = await kube.get(volumeSnapshots, { namespace: "default", name: "before" });
      assert.equal(status?.readyToUse, true);
      const { metadata } = await kube.get(claims, { namespace: "default", name: "data" });
      assert.deepEqual(metadata.finalizers, ["kubernetes.io/pvc-protection"], "the snapshot controller has released its source");
    });
    const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "before" };
    await this.#claim("restored", "fast", { dataSource, resources: { requests: { storage: "20Gi" } } });
    await this.#pod("restored");
    await this.#bound("restored");
    return observed(this.world);
  }

  async end(): Promise<void> {
    const { kube, aws } = this.world;
    for (const name of ["data", "restored"]) await kube.delete(pods, { namespace: "default", name }, { gracePeriodSeconds: 0 });
    await kube.delete(volumeSnapshots, { namespace: "default", name: "before" });
    for (const name of ["data", "raw", "shaped", "wrong", "restored"]) await kube.delete(claims, { namespace: "default", name });
    const nothing = { claims: {}, volumes: {}, contents: {}, disks: {}, copies: {} };
    await this.#eventually(async () => assert.deepEqual(await observed(this.world), nothing));
    assert.equal(aws.account.ec2.snapshots.size, 0);
  }

  async #claim(name: string, storageClassName: string, more: object = {}): Promise<void> {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } }, storageClassName, ...more };
    await this.world.kube.create(claims, { metadata: { name, namespace: "default" }, spec });
  }

  async #change(name: string, spec: object): Promise<void> {
    await this.world.kube.patch(claims, { namespace: "default", name }, { merge: { spec } });
  }

  async #pod(claimName: string): Promise<void> {
    const { kube, nodes } = this.world;
    await kube.create(pods, {
      metadata: { name: claimName, namespace: "default" },
      spec: {
        nodeName: nodes[0]!.privateDnsName,
        automountServiceAccountToken: false,
        containers: [{ name: "c", image: "i" }],
        volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
      },
    });
  }

  /** The built-in roles hold a claim by a finalizer of their own until its PersistentVolume is there; a moment later it is gone. */
  #bound(name: string): Promise<void> {
    return this.#eventually(async () => {
      const { metadata, status } = await this.world.kube.get(claims, { namespace: "default", name });
      assert.deepEqual([status?.phase, metadata.finalizers], ["Bound", ["kubernetes.io/pvc-protection"]]);
    });
  }

  #until(name: string, check: (status: PersistentVolumeClaimStatus) => void): Promise<void> {
    return this.#eventually(async () => {
      const { status } = await this.world.kube.get(claims, { namespace: "default", name });
      check(status ?? {});
    });
  }

  async #eventually(check: () => Promise<void>): Promise<void> {
    try {
      await eventually(check, limitMs);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await this.world.logs()}`, { cause: error });
    }
  }
}
