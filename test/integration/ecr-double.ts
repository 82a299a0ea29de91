/** A small stand-in for ECR, STS and the metadata service behind real sockets, and the executable run before it as kubelet runs it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { hostArchitecture } from "../../deploy/build/architecture.ts";
import { credentialProvider } from "../../deploy/build/credential-provider.ts";

export const password = "the-password-of-the-registry";
export const host = "123456789012.dkr.ecr.us-west-2.amazonaws.com";

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Answer = (call: Call, response: ServerResponse) => void;

export interface Double {
  readonly url: string;
  readonly calls: readonly Call[];
}

/** A server on a free port of this machine, closed with the test. */
export async function double(
  t: TestContext,
  answer: Answer = giveToken(),
  tls?: { readonly key: string; readonly cert: string },
): Promise<Double> {
  const calls: Call[] = [];
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    calls.push(call);
    answer(call, response);
  };
  const server = tls ? createSecureServer(tls, listener) : createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `${tls ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

/** Answers as ECR does, with a token of this many seconds left. */
export function giveToken(life = 43_200): Answer {
  return (_, response) => {
    const data = { authorizationToken: Buffer.from(`AWS:${password}`).toString("base64"), expiresAt: Date.now() / 1000 + life };
    sendJson(response, 200, { authorizationData: [data] });
  };
}

/** Refuses as AWS does. */
export function refuse(status: number, code: string): Answer {
  return (_, response) => sendJson(response, status, { __type: code, message: `refused with ${code}` });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/x-amz-json-1.1", "x-amzn-requestid": "request-of-the-double" });
  response.end(JSON.stringify(body));
}

/** A request as kubelet writes it. */
export function requestFor(image = `${host}/team/app`, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ kind: "CredentialProviderRequest", apiVersion: "credentialprovider.kubelet.k8s.io/v1", image, ...more });
}

export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** A program and its arguments to run it with, such as an emulator. */
  readonly under?: readonly string[];
  readonly executable?: string;
  /** Leave standard input open. */
  readonly stayOpen?: boolean;
}

/** Credentials that every call can be signed with, and no metadata service. */
export const keys = {
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "static-secret-key-of-the-node",
  AWS_EC2_METADATA_DISABLED: "true",
};

let built: Promise<string> | undefined;

/** Runs the executable to its end. Its environment is what is given and nothing else, as under systemd. */
export async function run(options: RunOptions = {}): Promise<Finished> {
  built ??= credentialProvider(hostArchitecture());
  const executable = options.executable ?? (await built);
  const [command, ...args] = [...(options.under ?? []), executable, ...(options.args ?? [])] as [string, ...string[]];
  const started = performance.now();
  const child = spawn(command, args, { env: { ...keys, ...options.environment }, cwd: options.cwd, stdio: "pipe" });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output.stderr += chunk;
  });
  child.stdin.on("error", () => {});
  if (!options.stayOpen) child.stdin.end(options.input ?? requestFor());
  const [status] = (await once(child, "close")) as [number | null];
  return { status, ...output, milliseconds: performance.now() - started };
}
