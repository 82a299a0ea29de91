/**
 * Simulated kubelets: one on every running machine of the cluster. Each registers its Node as a kubelet with
 * `--cloud-provider=external` does, posts its status, keeps its Lease fresh, and answers health checks for the Services
 * that kube-proxy would open ports for. When the machine ends, its kubelet ends with it and tells nobody.
 */
import { leases, nodes } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { Stored } from "../kube/resource.ts";
import type { Node, NodeCondition } from "../kube/types.ts";
import { sleep } from "../runtime/world.ts";
import type { ProbeResult, ProbeTarget } from "./cloud/account.ts";
import { instanceTypeNamed } from "./cloud/ec2/instance-types.ts";
import type { Instance } from "./cloud/ec2/state.ts";
import type { Machines } from "./machines.ts";

export interface KubeletsOptions {
  readonly kube: KubeClient;
  readonly machines: Machines;
  /** Whether kubelets are told their machine (`--provider-id`); otherwise the cloud has to find it by name. */
  readonly withProviderId: boolean;
  /** How often a Lease is renewed; ten seconds on a real node. */
  readonly heartbeatMs: number;
  /** Ports that Services open on every node. */
  readonly openPorts: () => { has(port: number): boolean };
  /** Told of what a kubelet would log as an error. */
  readonly complain: (message: string, error: unknown) => void;
}

const leaseNamespace = "kube-node-lease";
const lookEveryMs = 200;
const retryMs = 500;

export class Kubelets {
  readonly #options: KubeletsOptions;
  readonly #running = new Map<string, AbortController>();

  constructor(options: KubeletsOptions) {
    this.#options = options;
  }

  /** Follows the machines until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { machines, kube } = this.#options;
    while (!signal.aborted) {
      const up = new Map(machines.list().flatMap((machine) => (machine.state === "running" ? [[machine.id, machine]] : [])));
      for (const [id, life] of this.#running) {
        if (up.has(id)) continue;
        life.abort(new Error("the machine went down"));
        this.#running.delete(id);
      }
      for (const machine of up.values()) if (!this.#running.has(machine.id)) this.#boot(machine, signal);
      await sleep(kube.host.world.clock, lookEveryMs, signal).catch(() => {});
    }
  }

  /** A health check on its way to a machine: answered where a Service has its port, refused elsewhere, lost when it is down. */
  probe({ instanceId, port }: ProbeTarget): ProbeResult {
    if (instanceId === undefined || !this.#running.has(instanceId)) return { kind: "silent" };
    return this.#options.openPorts().has(port) ? { kind: "answered", status: 200 } : { kind: "refused" };
  }

  #boot(machine: Instance, outer: AbortSignal): void {
    const life = new AbortController();
    this.#running.set(machine.id, life);
    const signal = AbortSignal.any([outer, life.signal]);
    this.#live(machine, signal).catch((error: unknown) => {
      if (!signal.aborted) this.#options.complain(`the kubelet of ${machine.privateDnsName} failed`, error);
    });
  }

  async #live(machine: Instance, signal: AbortSignal): Promise<void> {
    const { heartbeatMs, kube } = this.#options;
    const node = await this.#insist(signal, () => this.#register(machine, signal));
    await this.#insist(signal, () => this.#postStatus(node.metadata.name, signal));
    for (;;) {
      await this.#insist(signal, () => this.#renewLease(node, signal));
      await sleep(kube.host.world.clock, heartbeatMs, signal);
    }
  }

  /** A kubelet does not give up: the API server may be away for a while. */
  async #insist<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        this.#options.complain("a kubelet will try again", error);
        await sleep(this.#options.kube.host.world.clock, retryMs, signal);
      }
    }
  }

  /** A machine that was stopped and started finds its Node again. */
  async #register(machine: Instance, signal: AbortSignal): Promise<Stored<Node>> {
    const { kube, withProviderId } = this.#options;
    try {
      return await kube.create(nodes, freshNode(machine, withProviderId), { signal });
    } catch (error) {
      if (!isApiError(error, "already-exists")) throw error;
      return kube.get(nodes, { name: machine.privateDnsName }, { signal });
    }
  }

  async #postStatus(name: string, signal: AbortSignal): Promise<void> {
    const { kube } = this.#options;
    const now = timestamp(kube);
    const conditions: readonly NodeCondition[] = [
      condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available", now),
      condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure", now),
      condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available", now),
      condition("Ready", "True", "KubeletReady", "kubelet is posting ready status", now),
    ];
    await kube.patch(nodes, { name, subresource: "status" }, { strategic: { status: { conditions } } }, { signal });
  }

  async #renewLease({ metadata: { name, uid } }: Stored<Node>, signal: AbortSignal): Promise<void> {
    const { kube } = this.#options;
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: timestamp(kube, "microseconds") };
    try {
      await kube.patch(leases, { namespace: leaseNamespace, name }, { merge: { spec } }, { signal });
    } catch (error) {
      if (!isApiError(error, "not-found")) throw error;
      const ownerReferences = [{ apiVersion: "v1", kind: "Node", name, uid }];
      await kube.create(leases, { metadata: { namespace: leaseNamespace, name, ownerReferences }, spec }, { signal });
    }
  }
}

/**
 * What a kubelet with an external cloud provider creates: tainted until the cloud has had its say, and without addresses
 * but its host name, because those come from the cloud too.
 */
function freshNode(machine: Instance, withProviderId: boolean): Node {
  const name = machine.privateDnsName;
  const type = instanceTypeNamed(machine.type);
  const arch = type?.architecture === "arm64" ? "arm64" : "amd64";
  const resources = { cpu: String(type?.vcpus ?? 2), memory: `${(type?.memoryMiB ?? 4096) * 1024}Ki`, pods: "110" };
  return {
    metadata: {
      name,
      labels: {
        "beta.kubernetes.io/arch": arch,
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": arch,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
      },
      annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
    },
    spec: {
      ...(withProviderId && { providerID: `aws:///${machine.zone}/${machine.id}` }),
      taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }],
    },
    status: {
      addresses: [{ type: "Hostname", address: name }],
      capacity: resources,
      allocatable: resources,
      nodeInfo: {
        architecture: arch,
        bootID: machine.reservationId,
        containerRuntimeVersion: "containerd://2.1.4",
        kernelVersion: "6.12.40",
        kubeProxyVersion: "",
        kubeletVersion: "v1.36.3",
        machineID: machine.id,
        operatingSystem: "linux",
        osImage: "Simulated machine",
        systemUUID: machine.id,
      },
    },
  };
}

function condition(type: string, status: string, reason: string, message: string, now: string): NodeCondition {
  return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime: now };
}

/** Now, as Kubernetes writes it: in whole seconds, or in microseconds for Leases. */
function timestamp(kube: KubeClient, precision: "seconds" | "microseconds" = "seconds"): string {
  const iso = new Date(kube.host.world.clock.now()).toISOString();
  return precision === "seconds" ? `${iso.slice(0, 19)}Z` : iso.replace("Z", "000Z");
}
