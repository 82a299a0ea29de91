/** Credential plugins: a program that prints an ExecCredential (client.authentication.k8s.io). */
import { spawn } from "node:child_process";
import * as z from "zod";
import { rememberSecret } from "../../runtime/known-secrets.ts";
import { redact } from "../../runtime/redact.ts";
import { isSecretName } from "../../runtime/secret-shapes.ts";
import type { World } from "../../runtime/world.ts";
import { within } from "../../runtime/world.ts";
import { codeOf, KubeConfigError, Renewed } from "./access.ts";
import type { ExecEntry } from "./kubeconfig.ts";
import { pairObjection } from "./rotated.ts";

/** What a plugin gave us to prove who we are. */
export interface PluginCredential {
  readonly token?: string;
  readonly certificate?: string;
  readonly key?: string;
}

/** A program, started with no terminal and waited for. */
export interface ProgramCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface ProgramResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type RunProgram = (call: ProgramCall, signal: AbortSignal) => Promise<ProgramResult>;

/** What the plugin may be told of the cluster, when its entry asks for it. */
export interface ExecCluster {
  readonly server: string;
  readonly "tls-server-name"?: string;
  readonly "insecure-skip-tls-verify"?: boolean;
  readonly "certificate-authority-data"?: string;
  readonly config?: unknown;
}

const pluginLimitMs = 60_000;
/** Characters kept of what a plugin says on stderr; as much as is masked without being cut. */
const maxWords = 8192;
/** A credential is renewed a little before it ends, so that no request is sent with one that ends on the way. */
const renewBeforeEndMs = 10_000;

const answerSchema = z.object({
  apiVersion: z.string(),
  kind: z.literal("ExecCredential"),
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.string().optional(),
  }),
});

/** The credential of a plugin, remembered until it expires or the server refuses it. */
export function execPlugin(world: World, entry: ExecEntry, key: string, cluster: ExecCluster, run: RunProgram): Renewed<PluginCredential> {
  if (entry.apiVersion === "client.authentication.k8s.io/v1" && entry.interactiveMode === undefined) {
    throw new KubeConfigError(`${key}.interactiveMode must be set for ${entry.apiVersion}; use Never or IfAvailable`);
  }
  if (entry.interactiveMode === "Always") {
    throw new KubeConfigError(
      `${key}.interactiveMode is Always, but this process has no terminal to ask at; use a plugin that works without one`,
    );
  }
  const request = {
    apiVersion: entry.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, cluster: entry.provideClusterInfo ? cluster : undefined },
  };
  const call: ProgramCall = {
    command: entry.command,
    args: entry.args ?? [],
    environment: {
      ...world.environment,
      ...Object.fromEntries((entry.env ?? []).map(({ name, value }) => [name, value])),
      KUBERNETES_EXEC_INFO: JSON.stringify(request),
    },
  };
  for (const { name, value } of entry.env ?? []) if (isSecretName(name)) rememberSecret(value);
  return new Renewed(world.clock, async (signal) => credentialFrom(entry, key, await runPlugin(world, entry, key, call, run, signal)));
}

async function runPlugin(
  world: World,
  entry: ExecEntry,
  key: string,
  call: ProgramCall,
  run: RunProgram,
  signal: AbortSignal,
): Promise<string> {
  const what = `credential plugin ${entry.command} (${key})`;
  const hint = entry.installHint ? `; ${entry.installHint.trim()}` : "";
  let result: ProgramResult;
  try {
    result = await within(world.clock, pluginLimitMs, what, signal, (limited) => run(call, limited));
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new KubeConfigError(`${what} could not be run: ${codeOf(cause)}${hint}`, { cause });
  }
  if (result.exitCode !== 0) {
    // Masked before it is cut: a cut takes away what a secret is known by.
    const words = redact(result.stderr.trim(), { strict: true }).slice(-1000);
    throw new KubeConfigError(`${what} failed with exit code ${result.exitCode}${words === "" ? "" : `: ${words}`}${hint}`);
  }
  return result.stdout;
}

function credentialFrom(entry: ExecEntry, key: string, stdout: string): { value: PluginCredential; expiresAtMs: number } {
  const complaint = (text: string) => new KubeConfigError(`credential plugin ${entry.command} (${key}) ${text}`);
  let printed: unknown;
  try {
    printed = JSON.parse(stdout);
  } catch {
    // The parser's own message quotes what was printed, which may be a token.
    throw complaint("printed something that is not JSON");
  }
  const checked = answerSchema.safeParse(printed);
  if (!checked.success) throw complaint(`printed no usable ExecCredential: ${checked.error.issues[0]?.path.join(".")} is missing or wrong`);
  const { apiVersion, status } = checked.data;
  if (apiVersion !== entry.apiVersion) throw complaint(`answered with apiVersion ${apiVersion}, but ${entry.apiVersion} was asked for`);
  const { token, clientCertificateData: certificate, clientKeyData: keyData, expirationTimestamp } = status;
  if (!token && !certificate) throw complaint("printed neither a token nor a client certificate");
  if (Boolean(certificate) !== Boolean(keyData)) throw complaint("must print clientCertificateData and clientKeyData together");
  const unfit = certificate && keyData && pairObjection([certificate, keyData], ["clientCertificateData", "clientKeyData"]);
  if (unfit) throw complaint(`printed a certificate that cannot be used: ${unfit}`);
  const end = expirationTimestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(expirationTimestamp);
  if (Number.isNaN(end)) throw complaint("printed an expirationTimestamp that is not a time");
  rememberSecret(token);
  rememberSecret(keyData);
  return { value: { token, certificate, key: keyData }, expiresAtMs: end - renewBeforeEndMs };
}

/** Runs a program of this machine. */
export const runProgram: RunProgram = (call, signal) =>
  new Promise((resolve, reject) => {
    const child = spawn(call.command, call.args, { env: call.environment, stdio: ["ignore", "pipe", "pipe"], signal });
    let stdout = "";
    let stderr = "";
    let isCut = false;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      if (stderr.length <= maxWords) return;
      stderr = stderr.slice(-maxWords);
      isCut = true;
    });
    child.on("error", (error) => reject(signal.aborted ? signal.reason : error));
    child.on("close", (code) => resolve({ exitCode: code ?? -1, stdout, stderr: isCut ? withoutFirstLine(stderr) : stderr }));
  });

/** The rest of a line whose beginning is gone may be the rest of a secret. */
function withoutFirstLine(text: string): string {
  const end = text.indexOf("\n");
  return end < 0 ? "" : text.slice(end + 1);
}
