/**
 * What the Gateway API's conformance suite runs against: a real cluster in a simulated AWS whose load balancers answer on loopback, and a
 * stand-in for what runs the suite's Deployments. Pods answer as the suite's echo servers do, at addresses of the VPC.
 */
import { readFile } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { parseAllDocuments } from "yaml";
import { endpointSlices, secrets, services } from "../../src/kube/builtin.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { isApiError } from "../../src/kube/errors.ts";
import { type KubeObject, resource } from "../../src/kube/resource.ts";
import { gateways } from "../../src/loadbalancers/gateway/api.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { DataPlane } from "../../src/sandbox/cloud/traffic/plane.ts";
import { eventually } from "../bed/bed.ts";
import { type Deployment, EchoServers } from "./gateway-conformance/echo-servers.ts";
import { hasLowPorts, LoopbackAddresses, startNameServer } from "./gateway-conformance/names.ts";
import { gatewayApiManifest } from "./go-programs.ts";
import { type IngressCluster, ingressCluster, makePod } from "./ingress-cluster.ts";

export interface GatewayCluster extends IngressCluster {
  /** Takes CONNECT to a port of a load balancer by its name. */
  readonly proxy: string;
  /** A name server that knows network load balancers. */
  readonly names: string;
  /** Whether their ports below 1024 are found under those names. */
  readonly hasLowPorts: boolean;
}

const deployments = resource<Deployment>({ group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true });
const definitions = resource<KubeObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
});

const lookEveryMs = 300;

export async function gatewayCluster(t: TestContext, configurations: readonly KubeObject[]): Promise<GatewayCluster> {
  let admin: KubeClient | undefined;
  const pods = new EchoServers(async (namespace, name) => {
    const { data = {} } = await admin!.get(secrets, { namespace, name });
    const text = (key: string) => Buffer.from(data[key] ?? "", "base64").toString("utf8");
    return { cert: text("tls.crt"), key: text("tls.key") };
  });
  t.after(() => pods.close());
  const judged = await ingressCluster(t, { probe: pods.probe });
  admin = judged.cluster.admin;
  await installGatewayApi(admin, configurations);
  await eventually(async () => void (await admin.list(gateways)), 30_000);
  const lowPorts = await hasLowPorts();
  const addresses = new LoopbackAddresses(lowPorts);
  const plane = new DataPlane({ cloud: judged.cloud, random: realWorld().random, reach: pods.reach, bind: addresses.bind });
  let synced = Promise.resolve();
  const sync = () => {
    synced = synced.then(() => plane.sync());
    return synced;
  };
  const proxy = await startProxy(plane, sync);
  const names = await startNameServer(async (name) => {
    await sync();
    return addresses.of(name);
  });
  t.after(async () => {
    proxy.close();
    names.close();
    await plane.close();
  });
  const ended = new AbortController();
  const work = runDeployments(judged, pods, ended.signal);
  t.after(async () => {
    ended.abort();
    await work;
  });
  return {
    ...judged,
    proxy: `127.0.0.1:${(proxy.address() as { readonly port: number }).port}`,
    names: `${names.local.host}:${names.local.port}`,
    hasLowPorts: lowPorts,
  };
}

/** The definitions of the Gateway API, and those of the configurations. `serves`: versions that the API server is to serve besides. */
export async function installGatewayApi(
  admin: KubeClient,
  configurations: readonly KubeObject[],
  { serves = [] }: { readonly serves?: readonly string[] } = {},
): Promise<void> {
  const api = parseAllDocuments(await readFile(await gatewayApiManifest(), "utf8")).map((document) => document.toJS() as Definition | null);
  const served = ({ spec, ...definition }: Definition) => ({
    ...definition,
    spec: { ...spec, versions: spec.versions.map((each) => ({ ...each, served: each.served || serves.includes(each.name) })) },
  });
  const made = api.flatMap((each) => (each?.kind === "CustomResourceDefinition" ? [served(each)] : []));
  for (const definition of [...made, ...configurations]) await admin.create(definitions, definition);
}

interface Definition extends KubeObject {
  readonly spec: { readonly versions: readonly { readonly name: string; readonly served: boolean }[] };
}

/** Pods and EndpointSlices for every Deployment and Service, until the signal aborts. */
async function runDeployments(judged: IngressCluster, pods: EchoServers, signal: AbortSignal): Promise<void> {
  const { cluster, cloud, instances } = judged;
  const made = new Map<string, { readonly selects: string; readonly pods: readonly Awaited<ReturnType<typeof makePod>>[] }>();
  const sliced = new Set<string>();
  let count = 0;
  const look = async () => {
    for (const deployment of (await cluster.admin.list(deployments)).items) {
      const { metadata, spec } = deployment;
      const key = `${metadata.namespace}/${metadata.name}`;
      if (made.has(key)) continue;
      const members = Array.from({ length: spec?.replicas ?? 1 }, () => ({
        number: count,
        node: instances[count++ % instances.length]!,
        replicaSet: "6f8c4",
      }));
      const all = await Promise.all(members.map((member) => makePod(cluster, cloud, metadata.namespace ?? "", metadata.name, member)));
      for (const { pod, address } of all) await pods.start(deployment, { namespace: metadata.namespace ?? "", pod, address });
      made.set(key, { selects: `${metadata.namespace}/${spec?.template?.metadata?.labels?.app}`, pods: all });
    }
    for (const { metadata, spec } of (await cluster.admin.list(services)).items) {
      const key = `${metadata.namespace}/${metadata.name}`;
      const behind = made.values().find(({ selects }) => selects === `${metadata.namespace}/${spec?.selector?.app}`);
      if (behind === undefined || sliced.has(key)) continue;
      await cluster.admin.create(endpointSlices, {
        metadata: {
          name: `${metadata.name}-1`,
          namespace: metadata.namespace ?? "",
          labels: { "kubernetes.io/service-name": metadata.name },
        },
        addressType: "IPv4",
        ports: (spec?.ports ?? []).map(({ name, port, targetPort, protocol = "TCP" }) => ({
          ...(name !== undefined && { name }),
          port: typeof targetPort === "number" ? targetPort : port,
          protocol,
        })),
        endpoints: behind.pods.map(({ pod, address, node }) => ({
          addresses: [address],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: node,
          targetRef: { kind: "Pod", namespace: metadata.namespace ?? "", name: pod },
        })),
      });
      sliced.add(key);
    }
  };
  while (!signal.aborted) {
    await look().catch((error: unknown) => {
      // What is deleted meanwhile is gone; everything else is a defect of this stand-in.
      if (!signal.aborted && !isApiError(error, "not-found", "conflict", "already-exists")) throw error;
    });
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

/** Whoever asks it for a load balancer by its name gets a connection to where that listens on this machine. */
async function startProxy(plane: DataPlane, sync: () => Promise<void>): Promise<Server> {
  const server = createServer((client) => {
    client.on("error", () => client.destroy());
    client.once("data", (head) => {
      const [, host = "", port = ""] = /^CONNECT (\S+):(\d+) /.exec(head.toString("latin1")) ?? [];
      void sync().then(() => tunnel(plane, client, host, Number(port)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function tunnel(plane: DataPlane, client: Socket, host: string, port: number): void {
  const address = plane.addressOf(host, port);
  if (address === undefined) {
    client.end("HTTP/1.1 502 Nothing listens there\r\n\r\n");
    return;
  }
  const onward = connect(address.port, address.host, () => {
    client.write("HTTP/1.1 200 OK\r\n\r\n");
    client.pipe(onward).pipe(client);
  });
  onward.on("error", () => client.destroy());
  client.on("close", () => onward.destroy());
}
