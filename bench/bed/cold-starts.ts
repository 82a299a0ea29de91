/**
 * Cold starts of credential providers: a new process each time, the same request, the same call to the same double of ECR
 * on this machine; the files are in the page cache, as they are on a node after the first pull. Needs Go for the stopwatch,
 * and openssl.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { cached, contentKey } from "../../deploy/build/cache.ts";
import { run } from "../../deploy/build/run.ts";
import { goBuild } from "../../src/sandbox/cluster/assets/go.ts";

/** One run of one program. */
export interface ColdStart {
  /** Which of the programs. */
  readonly program: number;
  readonly wallMs: number;
  readonly processorMs: number;
  readonly megabytes: number;
  readonly status: number;
}

/** Starts the programs in turn, so many rounds, against a double of ECR on this machine, over TLS or plain HTTP. */
export async function coldStarts(programs: readonly string[], rounds: number, secure: boolean): Promise<readonly ColdStart[]> {
  const stopwatch = await builtStopwatch();
  const folder = await mkdtemp(join(tmpdir(), "fairlead-bench-"));
  try {
    const tls = secure ? await certificate(folder) : undefined;
    const server = (tls ? createSecureServer(tls, answer) : createServer(answer)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const samples = await runAll(stopwatch, rounds, programs, {
      AWS_ENDPOINT_URL: `${secure ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
      AWS_SECRET_ACCESS_KEY: "example",
      ...(tls ? { SSL_CERT_FILE: tls.bundle } : {}),
    });
    server.close();
    server.closeAllConnections();
    return samples;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const authorizationToken = Buffer.from(`AWS:${"x".repeat(1800)}`).toString("base64");
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "application/x-amz-json-1.1", "x-amzn-requestid": "bench" });
    response.end(JSON.stringify({ authorizationData: [{ authorizationToken, expiresAt: Date.now() / 1000 + 43_200 }] }));
  });
}

/** A certificate for the double, and a bundle of it and all that this machine trusts, which is what a node has to read. */
async function certificate(folder: string): Promise<{ readonly key: string; readonly cert: string; readonly bundle: string }> {
  const [key, cert, bundle] = [join(folder, "key.pem"), join(folder, "cert.pem"), join(folder, "bundle.pem")];
  await run("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", cert],
    ...["-days", "2", "-subj", "/CN=double", "-addext", "subjectAltName=IP:127.0.0.1"],
  ]);
  const trusted = await readFile("/etc/ssl/certs/ca-certificates.crt", "utf8").catch(() => rootCertificates.join("\n"));
  const own = await readFile(cert, "utf8");
  await writeFile(bundle, `${trusted}\n${own}`);
  return { key: await readFile(key, "utf8"), cert: own, bundle };
}

async function runAll(
  stopwatch: string,
  rounds: number,
  programs: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ColdStart[]> {
  const child = spawn(stopwatch, ["-rounds", String(rounds), ...programs], { env: environment, stdio: ["pipe", "pipe", "inherit"] });
  const image = "123456789012.dkr.ecr.us-west-2.amazonaws.com/team/app";
  child.stdin.end(JSON.stringify({ kind: "CredentialProviderRequest", apiVersion: "credentialprovider.kubelet.k8s.io/v1", image }));
  let output = "";
  for await (const chunk of child.stdout) output += chunk;
  return output
    .trim()
    .split("\n")
    .map((line) => {
      const [program, wall, processor, bytes, status] = line.split(" ").map(Number) as [number, number, number, number, number];
      return { program, wallMs: wall / 1e6, processorMs: processor / 1e6, megabytes: bytes / 1e6, status };
    });
}

/** The value below which this share of them lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

async function builtStopwatch(): Promise<string> {
  const folder = join(import.meta.dirname, "../cold-start");
  return await cached(`bench/cold-start-${contentKey(await readFile(join(folder, "main.go")))}`, (output) =>
    goBuild({ folder, package: ".", modulesAreFixed: true, output }, { environment: process.env }),
  );
}
