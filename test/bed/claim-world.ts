/**
 * A cluster, an AWS account and the driver's controller with its built-in roles in one process on virtual time. What Kubernetes
 * itself does for volumes is done by the sandbox's stand-in.
 */
import assert from "node:assert/strict";
import { Clouds } from "../../src/aws/cloud.ts";
import { describeInstances } from "../../src/aws/ec2-actions.ts";
import { noSettings } from "../../src/aws/settings.ts";
import { flagsOf } from "../../src/commands/ebs-csi-driver/flags.ts";
import { operateLabeler } from "../../src/commands/ebs-csi-driver/metadata-labeler.ts";
import { operateRoles } from "../../src/commands/ebs-csi-driver/roles.ts";
import type { DriverValues } from "../../src/commands/ebs-csi-driver/validate.ts";
import type { Life } from "../../src/commands/long-running.ts";
import { pods } from "../../src/kube/builtin.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { loadKubeConfig } from "../../src/kube/config/load.ts";
import type { KubeObject, Resource, Stored } from "../../src/kube/resource.ts";
import type { PersistentVolume, PersistentVolumeClaim, VolumeAttachment } from "../../src/kube/types.ts";
import { parseFlags } from "../../src/runtime/flags.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { HttpRequest, Transport } from "../../src/runtime/http.ts";
import { openLogs } from "../../src/runtime/logs.ts";
import { newRegistry } from "../../src/runtime/metrics.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import type { SettingsChange } from "../../src/sandbox/cloud/controls/controls.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import type { Volume } from "../../src/sandbox/cloud/ec2/volumes/state.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/sandbox/cluster/embedded/cluster.ts";
import { snapshotDefinitions } from "../../src/sandbox/snapshot-controller.ts";
import { type VirtualWorld, virtualWorld } from "../../src/sandbox/virtual-clock.ts";
import { standInForVolumeControllers } from "../../src/sandbox/volume-controllers.ts";
import "../../src/volumes/labels/node-labels.ts";
import "../../src/volumes/labels/volume-labels.ts";
import "../../src/volumes/roles/roles.ts";
import "../../src/volumes/roles/snapshotter.ts";
import { claims, persistentVolumes, volumeAttachments } from "../../src/volumes/storage-resources.ts";

const region = "us-east-1";
const shapes = new Shapes();
const driver = "ebs.csi.aws.com";
const storage = "/apis/storage.k8s.io/v1";
const quiet = { format: "json", verbosity: 4, vmodule: "", colour: false } as const;

export async function claimWorld(settings?: SettingsChange, lookEveryMs = 500): Promise<ClaimWorld> {
  const world = new ClaimWorld(settings);
  await world.prepare(lookEveryMs);
  return world;
}

export class ClaimWorld {
  readonly world: VirtualWorld;
  readonly aws: Cloud;
  readonly cluster: EmbeddedCluster;
  kube!: KubeClient;
  readonly lines: string[] = [];
  /** What the driver has asked of the API server, as roles know it: `patch persistentvolumes/status`. */
  readonly asked = new Set<string>();
  nodes: readonly Instance[] = [];

  constructor(settings?: SettingsChange) {
    this.world = virtualWorld(1, {
      environment: { AWS_REGION: region, AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret" },
    });
    this.aws = createCloud({ world: this.world, seed: 1, region, shapes, ...(settings && { settings }) });
    this.cluster = createEmbeddedCluster({ world: this.world });
  }

  /** How often the stand-in for Kubernetes looks costs most of the time of long stories. */
  async prepare(lookEveryMs: number): Promise<void> {
    const host = { world: this.world, log: openLogs(this.world.clock, { ...quiet, destination: nowhere }).log, metrics: newRegistry() };
    this.kube = new KubeClient({
      host,
      config: await loadKubeConfig(this.world, { master: "http://cluster" }),
      gate: openGate(),
      userAgent: "user",
      connect: () => ({ send: this.cluster.send, close: async () => {} }),
    });
    const settings = { ...noSettings, region };
    const clouds = new Clouds({ host, transport: this.aws.handle, gate: openGate(), settings, version: "test" });
    await this.world.holding(clouds.in(region).preload(describeInstances));
    const network = standardNetwork(this.aws, { clusterId: "test" });
    const place = `[Global]\nRegion=${region}\nVPC=${network.vpcId}\nSubnetID=${network.privateSubnetIds[0]}\nKubernetesClusterID=test\n`;
    await this.world.files.write("/etc/cloud", place, 0o600);
    this.nodes = launchNodes(this.aws, network, 4, "m5.large");
    for (const instance of this.nodes) await this.#join(instance);
    await this.class("fast", {});
    const complain = (message: string, error: unknown) => this.lines.push(`${message}: ${error}`);
    void standInForVolumeControllers({ kube: this.kube, lookEveryMs, complain }, new AbortController().signal);
  }

  async #join({ id, privateDnsName: name, zone }: Instance): Promise<void> {
    this.aws.account.ec2.instances.update(id, { state: "running" });
    const labels = { "topology.kubernetes.io/zone": zone, [`topology.${driver}/zone`]: zone, "kubernetes.io/os": "linux" };
    await this.say("POST", "/api/v1/nodes", { metadata: { name, labels }, spec: { providerID: `aws:///${zone}/${id}` } });
    const drivers = [{ name: driver, nodeID: id, topologyKeys: Object.keys(labels), allocatable: { count: 25 } }];
    await this.say("POST", `${storage}/csinodes`, { metadata: { name }, spec: { drivers } });
  }

  /** As much of the definitions of external-snapshotter as the driver reads. */
  async installSnapshots(): Promise<void> {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for (const definition of snapshotDefinitions) await this.say("POST", path, definition);
  }

  /** Starts the controller with its roles. Returns what kills it at this very moment. */
  start(...flags: readonly string[]): () => void {
    const argv = ["--built-in-roles", "--k8s-tag-cluster-id=test", ...flags];
    const values = parseFlags(flagsOf("controller"), argv).values as DriverValues;
    return this.#run((life) => operateRoles(values, life, "http://cluster"));
  }

  /** Starts the labeller of nodes. */
  startLabeler(): () => void {
    return this.#run((life) => operateLabeler({}, life, "http://cluster"));
  }

  #run(operate: (life: Life) => Promise<void>): () => void {
    let alive = true;
    const dead = new Promise<never>(() => {});
    const over =
      (send: Transport, note: (request: HttpRequest) => void = () => {}): Transport =>
      async (request) => {
        if (!alive) return dead;
        note(request);
        const answer = await send(request);
        return alive ? answer : dead;
      };
    const { clock } = this.world;
    const own = {
      ...this.world,
      clock: { ...clock, after: (ms: number, run: () => void) => clock.after(ms, () => void (alive && run())) },
    };
    const destination = { write: (line: string) => void (alive && this.lines.push(line)), flush() {} };
    const logs = openLogs(clock, { ...quiet, destination });
    const kube = over(this.cluster.send, ({ method, url }) => this.#note(method, url));
    operate({
      version: "v0.0.0",
      host: { world: own, log: logs.log, metrics: newRegistry() },
      logs,
      network: { aws: over(this.aws.handle), kube: () => ({ send: kube, close: async () => {} }) },
      stop: new AbortController().signal,
    }).catch((error: unknown) => this.lines.push(String((error as Error).stack ?? error)));
    return () => {
      alive = false;
    };
  }

  #note(method: string, url: URL): void {
    const [, group, rest = ""] = /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)\/(.*)$/.exec(url.pathname) ?? [];
    const parts = rest.replace(/^namespaces\/[^/]+\//, "").split("/");
    if (parts[0] === "" || group === "coordination.k8s.io") return;
    const verbs = { POST: "create", PATCH: "patch", DELETE: "delete" } as Record<string, string>;
    const verb = verbs[method] ?? (url.searchParams.has("watch") ? "watch" : parts.length > 1 ? "get" : "list");
    this.asked.add(`${verb} ${[parts[0], parts[2]].filter(Boolean).join("/")}${group ? `.${group}` : ""}`);
  }

  /** What a person's commands run in. */
  get surroundings() {
    return { world: this.world, aws: this.aws, cluster: this.cluster };
  }

  class(name: string, more: object): Promise<void> {
    return this.say("POST", `${storage}/storageclasses`, {
      metadata: { name },
      provisioner: driver,
      volumeBindingMode: "WaitForFirstConsumer",
      allowVolumeExpansion: true,
      ...more,
    });
  }

  claim(name: string, more: object = {}): Promise<void> {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } }, storageClassName: "fast", ...more };
    return this.say("POST", "/api/v1/namespaces/default/persistentvolumeclaims", { metadata: { name }, spec });
  }

  /** A pod on a node with these claims. */
  pod(name: string, node: Instance, ...used: readonly string[]): Promise<void> {
    return this.say("POST", "/api/v1/namespaces/default/pods", {
      metadata: { name },
      spec: {
        nodeName: node.privateDnsName,
        containers: [{ name: "c", image: "i" }],
        volumes: used.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      },
    });
  }

  async remove(of: Resource<KubeObject>, name: string): Promise<void> {
    const namespace = of.namespaced ? { namespace: "default" } : {};
    await this.world.holding(this.kube.delete(of, { ...namespace, name }, of === pods ? { gracePeriodSeconds: 0 } : {}));
  }

  async change(of: Resource<KubeObject>, name: string, merge: object): Promise<void> {
    const namespace = of.namespaced ? { namespace: "default" } : {};
    await this.world.holding(this.kube.patch(of, { ...namespace, name }, { merge }));
  }

  async seenClaim(name: string): Promise<Stored<PersistentVolumeClaim>> {
    return this.world.holding(this.kube.get(claims, { namespace: "default", name }));
  }

  async persistentVolumes(): Promise<readonly Stored<PersistentVolume>[]> {
    return (await this.world.holding(this.kube.list(persistentVolumes))).items;
  }

  async attachments(): Promise<readonly Stored<VolumeAttachment>[]> {
    return (await this.world.holding(this.kube.list(volumeAttachments))).items;
  }

  /** The messages of an object's Events by reason. */
  async events(name: string): Promise<ReadonlyMap<string, string>> {
    const { items } = JSON.parse(await this.world.holding(this.kube.raw("/api/v1/events"))) as {
      items: { involvedObject: { name: string }; reason: string; message: string }[];
    };
    return new Map(items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason, message }) => [reason, message]));
  }

  /** The disks of claims, by name. */
  get disks(): readonly Volume[] {
    this.aws.account.time.settle();
    return [...this.aws.account.ec2.volumes.values()].filter(({ tags, state }) => tags.CSIVolumeName !== undefined && state !== "deleting");
  }

  /** Lets time pass until the check holds. */
  async until(what: string, check: () => Promise<boolean> | boolean, limitMs = 10 * 60_000): Promise<void> {
    const { clock } = this.world;
    const deadline = clock.monotonic() + limitMs;
    while (!(await check())) {
      assert.ok(clock.monotonic() < deadline, `not within ${limitMs} ms: ${what}\n${this.lines.slice(-15).join("\n")}`);
      await this.world.advance(500);
    }
  }

  async say(method: "POST" | "PATCH", path: string, body: object): Promise<void> {
    const url = new URL(path, "http://cluster");
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const { status } = await this.cluster.send({ method, url, headers: { "content-type": contentType }, body: JSON.stringify(body) });
    assert.ok(status < 300, `${method} ${path}: ${status}`);
  }
}

const nowhere = { write() {}, flush() {} };
