/** A kube-apiserver on the cluster's etcd. Several may stand on the same one. */
import { join } from "node:path";
import { bodyText, socketTransport } from "../../../runtime/http.ts";
import type { World } from "../../../runtime/world.ts";
import type { KeyPair } from "../../../runtime/x509.ts";
import { freePort } from "./free-port.ts";
import { ServerFailed, startServer } from "./server-process.ts";
import type { Supervised, Supervision } from "./supervision.ts";

export interface Apiserver {
  readonly url: URL;
  /** One JSON object a line for every write, as the audit policy says. */
  readonly auditLog: string;
  readonly running: boolean;
  /** Ends it with SIGKILL, as a crash would. Resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port, with these flags after the usual ones. */
  start(flags?: readonly string[]): Promise<void>;
}

/** What every apiserver of one cluster shares. */
export interface ApiserverSetting {
  readonly world: World;
  readonly supervision: Supervision;
  readonly binary: string;
  readonly folder: string;
  readonly etcd: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string;
  /** To ask whether it is ready. */
  readonly admin: KeyPair;
  /** Files in the cluster's folder. */
  readonly files: {
    readonly ca: string;
    readonly serverCert: string;
    readonly serverKey: string;
    readonly tokenPrivateKey: string;
    readonly tokenPublicKey: string;
    readonly frontProxyCa: string;
    readonly frontProxyCert: string;
    readonly frontProxyKey: string;
    readonly auditPolicy: string;
  };
}

/** Starts one on a free port and waits until it is ready. */
export async function startApiserver(setting: ApiserverSetting, name: string, flags: readonly string[] = []): Promise<Apiserver> {
  const { port, server } = await startOnFreePort(setting, name, flags);
  let running: Supervised | undefined = server;
  return {
    url: new URL(`https://127.0.0.1:${port}`),
    auditLog: auditLog(setting, name),
    get running() {
      return running !== undefined;
    },
    async kill() {
      running?.signal("SIGKILL");
      await running?.exit();
      running = undefined;
    },
    async start(again = []) {
      if (running) throw new Error(`start ${name}: it is running; kill it first`);
      running = await startOn(setting, name, port, again);
    },
  };
}

async function startOnFreePort(setting: ApiserverSetting, name: string, flags: readonly string[]) {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort(setting.world);
    try {
      return { port, server: await startOn(setting, name, port, flags) };
    } catch (error) {
      // Somebody took the port between our look and the server's: look again.
      if (!(error instanceof ServerFailed && error.output.includes("address already in use")) || attempt === 5) throw error;
    }
  }
}

async function startOn(setting: ApiserverSetting, name: string, port: number, flags: readonly string[]): Promise<Supervised> {
  const { world, folder } = setting;
  const connection = socketTransport({ tls: { ca: setting.ca, ...setting.admin }, connectTimeoutMs: 1000 });
  try {
    return await startServer({
      world,
      supervision: setting.supervision,
      name,
      command: setting.binary,
      args: [...usualFlags(setting, name, port), ...flags],
      folder,
      async ready() {
        for (const path of ["/readyz", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"]) {
          const answer = await connection.send({ method: "GET", url: new URL(path, `https://127.0.0.1:${port}`), headers: {} });
          await bodyText(answer);
          if (answer.status !== 200) return false;
        }
        return true;
      },
    });
  } finally {
    await connection.close();
  }
}

function usualFlags(setting: ApiserverSetting, name: string, port: number): readonly string[] {
  const { files } = setting;
  return [
    `--etcd-servers=${setting.etcd}`,
    // As clusters have it: drivers mount for others.
    "--allow-privileged=true",
    // Tests compact when they mean to.
    "--etcd-compaction-interval=0",
    "--bind-address=127.0.0.1",
    // Nobody is in the cluster to look for it there, and from 1.37 on a loopback address is refused as an endpoint.
    "--endpoint-reconciler-type=none",
    `--secure-port=${port}`,
    `--tls-cert-file=${files.serverCert}`,
    `--tls-private-key-file=${files.serverKey}`,
    `--client-ca-file=${files.ca}`,
    `--requestheader-client-ca-file=${files.frontProxyCa}`,
    "--requestheader-allowed-names=front-proxy",
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--proxy-client-cert-file=${files.frontProxyCert}`,
    `--proxy-client-key-file=${files.frontProxyKey}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-signing-key-file=${files.tokenPrivateKey}`,
    `--service-account-key-file=${files.tokenPublicKey}`,
    "--authorization-mode=RBAC",
    "--service-cluster-ip-range=10.96.0.0/16",
    // No kube-controller-manager makes the default service account that this plugin would demand of every Pod.
    "--disable-admission-plugins=ServiceAccount",
    `--audit-policy-file=${files.auditPolicy}`,
    `--audit-log-path=${auditLog(setting, name)}`,
  ];
}

/** Every write, and of Leases also what was written: who held what when. */
export const auditPolicy = JSON.stringify({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    { level: "None", verbs: ["get", "list", "watch"] },
    { level: "Request", resources: [{ group: "coordination.k8s.io", resources: ["leases"] }] },
    { level: "Metadata" },
  ],
});

function auditLog(setting: ApiserverSetting, name: string): string {
  return join(setting.folder, `${name}.audit`);
}
