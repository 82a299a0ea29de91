/** A real Kubernetes API, alone in its own folder: etcd and kube-apiserver, RBAC on, gone when its owner is. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { World } from "../../../runtime/world.ts";
import type { KeyPair } from "../../../runtime/x509.ts";
import type { Assets } from "../assets/assets.ts";
import { type Apiserver, type ApiserverSetting, auditPolicy, startApiserver } from "./apiserver.ts";
import { type Authority, createAuthority, createTokenKeys } from "./certificates.ts";
import { startEtcd } from "./etcd.ts";
import { type Supervision, supervise } from "./supervision.ts";

export interface ClusterOptions {
  readonly world: World;
  readonly assets: Assets;
  /** After the usual flags of kube-apiserver: `--feature-gates=WatchList=false`. */
  readonly flags?: readonly string[];
  /** Of etcd, instead of those that spare the disk, which etcd before 3.5 does not know. */
  readonly etcdFlags?: readonly string[];
}

/** Who a kubeconfig speaks for. */
export type Identity = { readonly token: string } | KeyPair;

export interface RealCluster {
  /** Where its files are; goes with it. */
  readonly folder: string;
  readonly apiserver: Apiserver;
  /** PEM of the authority behind every certificate of the cluster. */
  readonly ca: string;
  /** Signs what belongs in front of the apiserver or speaks to it. */
  readonly authority: Authority;
  /** What a trusted proxy shows the apiserver so that it believes the user it names. */
  readonly frontProxy: KeyPair;
  readonly admin: KeyPair;
  /** Starts processes that end when this cluster does. */
  readonly supervision: Supervision;
  /** The kubeconfig of this identity, for the first apiserver or for whatever stands at `server`. */
  kubeconfig(identity: Identity, server?: URL): string;
  /** One more apiserver on the same etcd: changes made there happen behind the back of the first. */
  anotherApiserver(flags?: readonly string[]): Promise<Apiserver>;
  /** Makes etcd forget every revision but the newest. */
  compact(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a cluster and waits until it serves. */
export async function startCluster({ world, assets, flags, etcdFlags }: ClusterOptions): Promise<RealCluster> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-cluster-"));
  const supervision = await supervise(folder);
  try {
    const authority = createAuthority(world, "fairlead-cluster");
    const admin = authority.client({ commonName: "admin", organizations: ["system:masters"] });
    const frontProxyAuthority = createAuthority(world, "fairlead-front-proxy");
    const frontProxy = frontProxyAuthority.client({ commonName: "front-proxy" });
    const [etcd, files] = await Promise.all([
      startEtcd(world, supervision, assets.etcd, folder, etcdFlags),
      writeFiles(world, folder, authority, frontProxyAuthority, frontProxy),
    ]);
    const setting: ApiserverSetting = {
      world,
      supervision,
      binary: assets.kubeApiserver,
      folder,
      etcd: etcd.url,
      ca: authority.cert,
      admin,
      files,
    };
    const apiserver = await startApiserver(setting, "kube-apiserver", flags);
    let others = 0;
    return {
      folder,
      apiserver,
      ca: authority.cert,
      authority,
      frontProxy,
      admin,
      supervision,
      kubeconfig: (identity, server = apiserver.url) => kubeconfig(server, authority.cert, identity),
      anotherApiserver: (more) => startApiserver(setting, `kube-apiserver-${++others}`, more),
      compact: etcd.compact,
      stop: () => supervision.close(),
    };
  } catch (error) {
    await supervision.close();
    throw error;
  }
}

async function writeFiles(world: World, folder: string, authority: Authority, frontProxyAuthority: Authority, frontProxy: KeyPair) {
  const serving = authority.server({ commonName: "kube-apiserver" }, ["127.0.0.1", "localhost", "kubernetes.default.svc"]);
  const tokenKeys = createTokenKeys();
  const write = async (name: string, content: string) => {
    const path = join(folder, name);
    await world.files.write(path, content, 0o600);
    return path;
  };
  return {
    ca: await write("ca.crt", authority.cert),
    serverCert: await write("apiserver.crt", serving.cert),
    serverKey: await write("apiserver.key", serving.key),
    tokenPrivateKey: await write("service-account.key", tokenKeys.privateKey),
    tokenPublicKey: await write("service-account.pub", tokenKeys.publicKey),
    frontProxyCa: await write("front-proxy-ca.crt", frontProxyAuthority.cert),
    frontProxyCert: await write("front-proxy.crt", frontProxy.cert),
    frontProxyKey: await write("front-proxy.key", frontProxy.key),
    auditPolicy: await write("audit-policy.json", auditPolicy),
  };
}

function kubeconfig(server: URL, ca: string, identity: Identity): string {
  const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");
  const user =
    "token" in identity
      ? { token: identity.token }
      : { "client-certificate-data": base64(identity.cert), "client-key-data": base64(identity.key) };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "fairlead", cluster: { server: server.origin, "certificate-authority-data": base64(ca) } }],
    users: [{ name: "user", user }],
    contexts: [{ name: "fairlead", context: { cluster: "fairlead", user: "user" } }],
    "current-context": "fairlead",
  });
}
