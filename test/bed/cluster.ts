/** What a test does to its cluster and asks of it. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { events, namespaces, nodes, serviceAccounts } from "../../src/kube/builtin.ts";
import { KubeClient } from "../../src/kube/client.ts";
import { loadKubeConfig } from "../../src/kube/config/load.ts";
import type { Stored } from "../../src/kube/resource.ts";
import type { Event, Node, PolicyRule, TokenRequest } from "../../src/kube/types.ts";
import { openGate } from "../../src/runtime/gate.ts";
import type { Host } from "../../src/runtime/host.ts";
import type { Identity, RealCluster } from "../../src/sandbox/cluster/real/cluster.ts";
import { type FaultProxy, startFaultProxy } from "../../src/sandbox/fault-proxy.ts";
import { apply, applyManifest } from "./manifests.ts";
import { type NodeOptions, nodeNumber, nodeObject, type TestNode } from "./nodes.ts";
import { plant } from "./secrets.ts";

/** Somebody whom the API server knows. */
export interface Account {
  readonly name: string;
  readonly token: string;
  /** Path of a kubeconfig; with `server`, for what stands there instead of the apiserver. */
  kubeconfig(server?: URL): Promise<string>;
  /** The host it lives on is the bed's own unless another is given. */
  client(server?: URL, host?: Host): Promise<KubeClient>;
}

/** One write as the apiserver recorded it. */
export interface Write {
  readonly user: string;
  /** How the client named itself. */
  readonly agent: string;
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly status: number;
  /** When the apiserver received it, in milliseconds since the epoch. */
  readonly at: number;
  /** What was sent; recorded for Leases. */
  readonly object: unknown;
}

/** A real cluster, in the words of a test. */
export class TestCluster {
  readonly real: RealCluster;
  /** All-powerful; for setting up and looking, never for what is tested. */
  readonly admin: KubeClient;
  readonly #host: Host;
  readonly #clients: KubeClient[] = [];
  readonly #proxies: FaultProxy[] = [];
  #numbers = 0;

  private constructor(real: RealCluster, host: Host, admin: KubeClient) {
    this.real = real;
    this.#host = host;
    this.admin = admin;
    this.#clients.push(admin);
  }

  /** Installs what we ship, as an operator would. */
  static async install(real: RealCluster, host: Host): Promise<TestCluster> {
    plant(real.admin.key);
    const path = join(real.folder, "admin.kubeconfig");
    await host.world.files.write(path, real.kubeconfig(real.admin), 0o600);
    const config = await loadKubeConfig(host.world, { kubeconfig: path });
    const admin = new KubeClient({ host, config, gate: openGate(), userAgent: "test-bed" });
    await applyManifest(admin, "manifests/rbac.yaml");
    await applyManifest(admin, "manifests/service-account-credentials.yaml");
    return new TestCluster(real, host, admin);
  }

  /** The service account that the controllers run as, with the roles that we ship. */
  fairlead(): Promise<Account> {
    return this.#account("kube-system", "fairlead-controller-manager");
  }

  /** A new service account that may do this and nothing else. */
  async account(name: string, ...rules: readonly PolicyRule[]): Promise<Account> {
    const subjects = [{ kind: "ServiceAccount", name, namespace: "default" }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
    const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name } };
    await apply(this.admin, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: "default" } });
    await apply(this.admin, { ...rbac, kind: "ClusterRole", ...{ rules } });
    await apply(this.admin, { ...rbac, kind: "ClusterRoleBinding", ...{ roleRef, subjects } });
    return this.#account("default", name);
  }

  /** A new, empty namespace. */
  async namespace(): Promise<string> {
    const { metadata } = await this.admin.create(namespaces, { metadata: { generateName: "test-" } });
    return metadata.name;
  }

  /** New Nodes, as their kubelets would register them. */
  async nodes(count: number, options: NodeOptions = {}): Promise<readonly TestNode[]> {
    const made = Array.from({ length: count }, () => nodeNumber(this.#numbers++));
    await Promise.all(made.map((node) => this.#register(node, options)));
    return made;
  }

  async node(node: TestNode): Promise<Stored<Node>> {
    return this.admin.get(nodes, node);
  }

  async nodeNames(): Promise<readonly string[]> {
    const { items } = await this.admin.list(nodes);
    return items.map(({ metadata }) => metadata.name).sort();
  }

  async hasTaint(node: TestNode, key: string): Promise<boolean> {
    return (await this.node(node)).spec?.taints?.some((taint) => taint.key === key) ?? false;
  }

  /** Everything that has been said about anything. */
  async events(): Promise<readonly Stored<Event>[]> {
    return (await this.admin.list(events)).items;
  }

  /** Every write that apiservers of this cluster received, of this account alone if one is given. */
  async writes(by?: Account): Promise<readonly Write[]> {
    const text = await readFile(this.real.apiserver.auditLog, "utf8");
    const all = text.split("\n").filter(Boolean).map(asWrite);
    return by ? all.filter(({ user }) => user === by.name) : all;
  }

  /** A fault proxy before the apiserver, without rules. */
  async faultProxy(): Promise<FaultProxy> {
    const proxy = await startFaultProxy({
      world: this.#host.world,
      target: this.real.apiserver.url,
      ca: this.real.ca,
      serving: this.real.authority.server({ commonName: "fault-proxy" }, ["127.0.0.1"]),
      frontProxy: this.real.frontProxy,
    });
    this.#proxies.push(proxy);
    return proxy;
  }

  /** An all-powerful client of another apiserver, or of a proxy. */
  adminAt(server: URL): Promise<KubeClient> {
    return this.#client("admin", this.real.admin, server);
  }

  /** Path of a kubeconfig for whoever this is, known to the API server or not. */
  async kubeconfigWith(name: string, identity: Identity, server = this.real.apiserver.url): Promise<string> {
    const path = join(this.real.folder, `${name}-${server.port}.kubeconfig`);
    await this.#host.world.files.write(path, this.real.kubeconfig(identity, server), 0o600);
    return path;
  }

  /** Ends every connection that was made here. */
  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }

  async #register(node: TestNode, options: NodeOptions): Promise<void> {
    const object = nodeObject(node, options);
    await this.admin.create(nodes, object);
    // Admission taints every new Node as not ready; on a live cluster kube-controller-manager takes that away again.
    if (options.ready ?? true)
      await this.admin.patch(nodes, { name: node.name }, { merge: { spec: { taints: object.spec?.taints ?? [] } } });
  }

  async #account(namespace: string, name: string): Promise<Account> {
    const request: TokenRequest = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { audiences: [], expirationSeconds: 3600 },
    };
    const answer = await this.admin.createSubresource(serviceAccounts, { namespace, name, subresource: "token" }, request);
    const token = plant(answer.status?.token ?? "");
    return {
      name: `system:serviceaccount:${namespace}:${name}`,
      token,
      kubeconfig: (server) => this.kubeconfigWith(name, { token }, server),
      client: (server, host) => this.#client(name, { token }, server, host),
    };
  }

  async #client(name: string, identity: Identity, server?: URL, host = this.#host): Promise<KubeClient> {
    const config = await loadKubeConfig(host.world, { kubeconfig: await this.kubeconfigWith(name, identity, server) });
    const client = new KubeClient({ host, config, gate: openGate(), userAgent: `test-bed/${name}` });
    this.#clients.push(client);
    return client;
  }
}

interface AuditEntry {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly userAgent?: string;
  readonly objectRef?: { readonly resource: string; readonly subresource?: string; readonly namespace?: string; readonly name?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly requestObject?: unknown;
}

function asWrite(line: string): Write {
  const entry = JSON.parse(line) as AuditEntry;
  return {
    user: entry.user.username,
    agent: entry.userAgent ?? "",
    verb: entry.verb,
    resource: entry.objectRef?.resource ?? "",
    subresource: entry.objectRef?.subresource,
    namespace: entry.objectRef?.namespace,
    name: entry.objectRef?.name,
    status: entry.responseStatus?.code ?? 0,
    at: Date.parse(entry.requestReceivedTimestamp),
    object: entry.requestObject,
  };
}
