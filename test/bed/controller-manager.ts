/** `fairlead controller-manager` against the test's cluster. */
import { join } from "node:path";
import { bodyText, socketTransport } from "../../src/runtime/http.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { freePort } from "../../src/sandbox/cluster/real/free-port.ts";
import type { Account, TestCluster } from "./cluster.ts";
import { eventually } from "./eventually.ts";
import type { ProcessOptions, TestProcess } from "./process.ts";
import { plant } from "./secrets.ts";

export interface ControllerManagerOptions extends ProcessOptions {
  /** Where the API server is to be reached: a fault proxy, say. */
  readonly server?: URL;
}

export interface ControllerManager extends TestProcess {
  /** Who it is to the API server. */
  readonly account: Account;
  /** Asks its secure port, with this token or none. */
  ask(path: string, token?: string): Promise<{ readonly status: number; readonly text: string }>;
  /** Resolves when it serves. */
  serves(): Promise<void>;
  /** Resolves when it leads. */
  leads(withinMs?: number): Promise<void>;
}

type RunFairlead = (args: readonly string[], options?: ProcessOptions) => Promise<TestProcess>;

/** Starts it with a port of its own. */
export async function startControllerManager(
  cluster: TestCluster,
  fairlead: RunFairlead,
  flags: readonly string[] = [],
  { server, environment }: ControllerManagerOptions = {},
): Promise<ControllerManager> {
  const world = realWorld();
  const account = await cluster.fairlead();
  const place = await placeFlags(cluster, await account.kubeconfig(server));
  const port = await freePort(world);
  const serving = ["--bind-address=127.0.0.1", `--secure-port=${port}`];
  const process = await fairlead(["controller-manager", ...place, ...serving, ...flags], {
    environment: { ...awsCredentials, ...environment },
  });
  const ask: ControllerManager["ask"] = async (path, token) => {
    const transport = socketTransport({ tls: { insecure: true }, connectTimeoutMs: 1_000 });
    try {
      const headers = token ? { authorization: `Bearer ${token}` } : undefined;
      const answer = await transport.send({ method: "GET", url: new URL(path, `https://127.0.0.1:${port}`), headers: { ...headers } });
      return { status: answer.status, text: await bodyText(answer) };
    } finally {
      await transport.close();
    }
  };
  return {
    ...process,
    account,
    ask,
    serves: () => eventually(async () => void (await ask("/healthz"))),
    leads: (withinMs) => process.says(/acquired the leader lease/, withinMs),
  };
}

/** As an operator outside AWS would say it: told where it is, so that nothing of AWS is asked before there is work. */
export async function placeFlags(cluster: TestCluster, kubeconfig: string): Promise<readonly string[]> {
  const cloudConfig = join(cluster.real.folder, "cloud.conf");
  await realWorld().files.write(cloudConfig, placeInAws, 0o600);
  return [
    "--cloud-provider=aws",
    `--cloud-config=${cloudConfig}`,
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    "--configure-cloud-routes=false",
  ];
}

const placeInAws = `[Global]
Region = us-west-2
VPC = vpc-0123456789abcdef0
SubnetID = subnet-0123456789abcdef0
KubernetesClusterID = test
`;

/** Worth nothing, but looked for in everything that is written. */
export const awsCredentials = {
  AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
  AWS_SECRET_ACCESS_KEY: plant("planted/secret+access/key+of+the+test+bed"),
  AWS_SESSION_TOKEN: plant("planted//session//token//of//the//test//bed"),
  AWS_EC2_METADATA_DISABLED: "true",
};
