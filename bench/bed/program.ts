/** A program that is being measured. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { bodyText, socketTransport } from "../../src/runtime/http.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { freePort } from "../../src/sandbox/cluster/real/free-port.ts";
import type { Account, TestCluster } from "../../test/bed/cluster.ts";
import { type BenchCloud, clusterId, region } from "./cloud.ts";
import type { Entrant } from "./entrants.ts";

/** It runs until it is ended. */
export interface Program {
  readonly entrant: Entrant;
  readonly pid: number;
  /** Whether this path of its secure port answers 200. */
  answers(path: string): Promise<boolean>;
  /** What it exports; empty while it does not answer. */
  metrics(): Promise<string>;
  /** Fails when it has ended by itself, with the last it said. */
  mustRun(): Promise<void>;
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** How a program is started in a cluster and an account. */
export type StartProgram = (entrant: Entrant, options: ProgramOptions) => Promise<Program>;

export interface ProgramOptions {
  readonly cluster: TestCluster;
  readonly cloud: BenchCloud;
  readonly account: Account;
  readonly flags: readonly string[];
}

/** Starts a controller manager. Nobody holds its Lease, and /metrics is open to us without asking the API server who we are. */
export const startControllerManager: StartProgram = async (entrant, { cluster, cloud, account, flags }) => {
  const { folder } = cluster.real;
  const [port, kubeconfig] = [await freePort(realWorld()), await account.kubeconfig()];
  const cloudConfig = join(folder, "cloud.conf");
  await writeFile(cloudConfig, cloudConfigFor(cloud));
  const place = [
    "--cloud-provider=aws",
    `--cloud-config=${cloudConfig}`,
    ...["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"].map((flag) => `--${flag}=${kubeconfig}`),
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, "serving")}`,
    "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
  ];
  return started(entrant, cluster, [...place, ...flags], new URL(`https://127.0.0.1:${port}`));
};

/** Runs it with these flags; it is asked at this address. */
export async function started(entrant: Entrant, cluster: TestCluster, flags: readonly string[], address: URL): Promise<Program> {
  const { folder, supervision } = cluster.real;
  const log = join(folder, `${entrant.name}-${address.port}.log`);
  const child = await supervision.start(entrant.command, [...entrant.args, ...flags], { log, folder, environment });
  const transport = socketTransport({ tls: { insecure: true }, connectTimeoutMs: 1_000 });
  const ask = async (path: string) => {
    const answer = await transport.send({ method: "GET", url: new URL(path, address), headers: {} });
    return { status: answer.status, text: await bodyText(answer) };
  };
  const nothing = () => ({ status: 0, text: "" });
  return {
    entrant,
    pid: child.pid,
    answers: async (path) => (await ask(path).catch(nothing)).status === 200,
    metrics: async () => (await ask("/metrics").catch(nothing)).text,
    async mustRun() {
      if (child.ended === undefined) return;
      const said = (await readFile(log, "utf8")).trimEnd().split("\n").slice(-10).join("\n");
      throw new Error(`${entrant.name} ended (${child.ended.signal ?? child.ended.code}) while it was measured:\n${said}`);
    },
    async end(signal = "SIGKILL") {
      await transport.close();
      child.signal(signal);
      await child.exit();
    },
  };
}

/** Waits until it is so, asking every few milliseconds, while the program runs. Gives the moment. */
export async function until(program: Program, what: string, isSo: () => Promise<boolean>, limitMs = 20 * 60_000): Promise<number> {
  const began = performance.now();
  while (!(await isSo())) {
    await program.mustRun();
    if (performance.now() - began > limitMs) throw new Error(`${program.entrant.name}: not within ${limitMs / 1000} s: ${what}`);
    await pause(100);
  }
  return performance.now();
}

const environment = {
  PATH: process.env.PATH,
  AWS_ACCESS_KEY_ID: "AKIABENCH",
  AWS_SECRET_ACCESS_KEY: "of-no-worth",
  AWS_REGION: region,
  AWS_EC2_METADATA_DISABLED: "true",
};

/** The same file for both programs. */
function cloudConfigFor({ network, url }: BenchCloud): string {
  const signing = { EC2: "ec2", "Elastic Load Balancing": "elasticloadbalancing", "Elastic Load Balancing v2": "elasticloadbalancing" };
  const overrides = Object.entries(signing).flatMap(([service, name], index) => [
    `[ServiceOverride "${index}"]`,
    `Service = ${service}`,
    `Region = ${region}`,
    `URL = ${url}`,
    `SigningRegion = ${region}`,
    `SigningName = ${name}`,
  ]);
  const place = [`Region = ${region}`, `VPC = ${network.vpcId}`, `SubnetID = ${network.privateSubnetIds[0]}`];
  return ["[Global]", ...place, `KubernetesClusterID = ${clusterId}`, ...overrides, ""].join("\n");
}
