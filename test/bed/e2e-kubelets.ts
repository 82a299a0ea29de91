/**
 * What the suite for real accounts needs of a cluster besides our controllers, on a real API server without nodes: a scheduler, and
 * kubelets whose containers answer requests. Clients come through the data plane of the simulated AWS.
 */
import { request as httpRequest } from "node:http";
import { nodeView } from "../../src/identity/node-view.ts";
import { nodes, pods, services } from "../../src/kube/builtin.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { isApiError } from "../../src/kube/errors.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { Pod, Service } from "../../src/kube/types.ts";
import { realWorld, sleep } from "../../src/runtime/world.ts";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import { DataPlane } from "../../src/sandbox/cloud/traffic/plane.ts";
import { type PodHandler, SimulatedPods } from "../../src/sandbox/cloud/traffic/pods.ts";
import { claims, volumeAttachments } from "../../src/volumes/storage-resources.ts";

const namespace = "default";
const lookEveryMs = 100;

export class E2eKubelets {
  readonly #kube: KubeClient;
  readonly #cloud: Cloud;
  readonly #servers = new SimulatedPods();
  readonly #plane: DataPlane;
  /** Ports of machines that are open, as `address port`. */
  #open = new Set<string>();
  readonly #over = new AbortController();
  readonly #ended: Promise<void>;

  constructor(kube: KubeClient, cloud: Cloud) {
    this.#kube = kube;
    this.#cloud = cloud;
    this.#plane = new DataPlane({ cloud, random: realWorld().random, reach: this.#servers.reach });
    this.#ended = this.#run();
  }

  /** A request from outside, to the name of a load balancer. */
  async request(url: string, host?: string): Promise<{ readonly status: number; readonly body: string }> {
    const { hostname, port, pathname } = new URL(url);
    await this.#plane.sync();
    const at = this.#plane.addressOf(hostname, Number(port || 80));
    if (at === undefined) throw new Error(`${url}: no load balancer has this name and port`);
    return await new Promise((resolve, reject) => {
      const sent = httpRequest({ host: at.host, port: at.port, path: pathname, headers: { host: host ?? hostname } }, (answer) => {
        let body = "";
        answer.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body }));
      });
      sent.on("error", reject).end();
    });
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#ended;
    await this.#plane.close();
    await this.#servers.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      try {
        await this.#look();
      } catch (error) {
        if (!signal.aborted && !isApiError(error, "conflict", "not-found")) throw error;
      }
      await sleep(realWorld().clock, lookEveryMs, signal).catch(() => {});
    }
  }

  async #look(): Promise<void> {
    const { items } = await this.#kube.list(pods, { namespace });
    for (const pod of items) await this.#tend(pod);
    const running = items.filter(({ metadata, status }) => status?.phase === "Running" && metadata.deletionTimestamp === undefined);
    await this.#openPorts((await this.#kube.list(services, { namespace })).items, running);
  }

  /** Schedules, starts and ends a pod. */
  async #tend(pod: Stored<Pod>): Promise<void> {
    const { metadata, spec, status } = pod;
    const target = { namespace, name: metadata.name };
    if (metadata.deletionTimestamp !== undefined) return this.#kube.delete(pods, target, { uid: metadata.uid, gracePeriodSeconds: 0 });
    if (spec?.nodeName === undefined) {
      const [worker] = (await this.#kube.list(nodes)).items.map(nodeView).filter(({ unschedulable }) => !unschedulable);
      const binding = { metadata: { name: metadata.name, namespace }, target: { kind: "Node", name: worker!.metadata.name } };
      await this.#kube.createSubresource(pods, { ...target, subresource: "binding" }, binding as never);
      return;
    }
    if (status?.phase !== "Pending" || !(await this.#hasVolumes(pod))) return;
    const phase = metadata.labels?.["fairlead-e2e"]?.endsWith("-client") ? await this.#runClient(pod) : "Running";
    if (phase === undefined) return;
    const merge = { status: { phase, conditions: [{ type: "Ready", status: phase === "Running" ? "True" : "False" }] } };
    await this.#kube.patch(pods, { ...target, subresource: "status" }, { merge });
  }

  /** Kubelet starts nothing before its volumes are attached. */
  async #hasVolumes({ spec }: Stored<Pod>): Promise<boolean> {
    const names = (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
    for (const name of names) {
      const { spec: claim } = await this.#kube.get(claims, { namespace, name });
      const attached = (await this.#kube.list(volumeAttachments)).items.some(
        (each) => each.spec.source.persistentVolumeName === claim?.volumeName && each.status?.attached,
      );
      if (claim?.volumeName === undefined || !attached) return false;
    }
    return true;
  }

  /** What the suite's clients do: ask a URL until it is answered. */
  async #runClient({ spec }: Stored<Pod>): Promise<"Succeeded" | undefined> {
    const [, url] = /(http:\S+)/.exec(spec?.containers[0]?.command?.join(" ") ?? "") ?? [];
    if (url === undefined) throw new Error("a client that asks for no URL cannot be played here");
    const answer = await this.request(url).catch(() => undefined);
    return answer?.status === 200 ? "Succeeded" : undefined;
  }

  /** As kube-proxy does: every machine has the port of every Service that has a pod. */
  async #openPorts(all: readonly Stored<Service>[], running: readonly Stored<Pod>[]): Promise<void> {
    const addresses = this.#cloud.account.ec2.instances
      .values()
      .flatMap(({ interfaceIds }) => this.#cloud.account.ec2.interfaces.get(interfaceIds[0] ?? "")?.privateAddresses[0] ?? []);
    const wanted = new Map<string, PodHandler>();
    for (const { spec } of all) {
      const selector = Object.entries(spec?.selector ?? {});
      const behind = running.find(({ metadata }) => selector.every(([key, value]) => metadata.labels?.[key] === value));
      if (behind === undefined) continue;
      const body = `${behind.metadata.name}\n`;
      for (const { nodePort } of spec?.ports ?? []) {
        for (const address of nodePort ? addresses : []) wanted.set(`${address} ${nodePort}`, () => ({ status: 200, body }));
      }
    }
    const at = (key: string) => [key.split(" ")[0]!, Number(key.split(" ")[1])] as const;
    for (const key of this.#open) if (!wanted.has(key)) await this.#servers.stop(...at(key));
    for (const [key, handler] of wanted) {
      if (this.#open.has(key)) this.#servers.put(...at(key), handler);
      else await this.#servers.start(...at(key), handler);
    }
    this.#open = new Set(wanted.keys());
  }
}
