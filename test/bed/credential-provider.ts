/** For tests: the program run inside the test's own process, on virtual time, before a double of AWS. */

import { nodePlatform } from "../../src/registry/platform-node.ts";
import { runProgram } from "../../src/registry/program.ts";
import type { Route } from "../../src/registry/route.ts";
import type { HttpRequest } from "../../src/runtime/http.ts";
import { virtualWorld } from "../../src/sandbox/virtual-clock.ts";

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Virtual time until the answer comes; `Infinity` for never. */
  readonly afterMs?: number;
}

export interface Seen {
  readonly request: HttpRequest;
  readonly route: Route;
  readonly atMs: number;
  /** The form fields of a query call. */
  readonly form: URLSearchParams;
}

export interface Run {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly seen: readonly Seen[];
  readonly elapsedMs: number;
}

export interface RunOptions {
  readonly args?: readonly string[];
  /** The request as an object, or the raw input; undefined leaves standard input open for ever. */
  readonly input?: unknown;
  readonly environment?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly reply?: (request: HttpRequest, index: number) => Reply | Error;
  readonly startMs?: number;
}

export const host = "123456789012.dkr.ecr.us-west-2.amazonaws.com";
export const staticKeys = {
  AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
  AWS_SECRET_ACCESS_KEY: "static-secret-key",
  AWS_EC2_METADATA_DISABLED: "true",
};

/** A request as kubelet sends it. */
export function request(image = `${host}/team/app`, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { kind: "CredentialProviderRequest", apiVersion: "credentialprovider.kubelet.k8s.io/v1", image, ...more };
}

/** ECR's answer with this login; `life` in seconds from the start of the virtual world. */
export function tokenReply(login = "AWS:the-password", life: number | undefined = 43_200, kind: "private" | "public" = "private"): Reply {
  const data = {
    authorizationToken: Buffer.from(login).toString("base64"),
    ...(life === undefined ? {} : { expiresAt: Date.UTC(2026, 0, 1) / 1000 + life }),
  };
  return { headers: { "x-amzn-requestid": "request-1" }, body: { authorizationData: kind === "private" ? [data] : data } };
}

/** Runs the program to its end, however much virtual time that takes. */
export async function runIt(options: RunOptions): Promise<Run> {
  const world = virtualWorld(7, {
    environment: options.environment ?? staticKeys,
    files: options.files ?? {},
    startMs: options.startMs ?? Date.UTC(2026, 0, 1),
  });
  const output = { stdout: "", stderr: "" };
  const seen: Seen[] = [];
  const { input } = options;
  const run = runProgram(options.args ?? [], {
    world,
    version: "v1.2.3",
    pid: 42,
    platform: {
      hashing: nodePlatform.hashing,
      connect(request, route) {
        seen.push({ request, route, atMs: world.clock.monotonic(), form: new URLSearchParams(String(request.body ?? "")) });
        const reply = (options.reply ?? (() => tokenReply()))(request, seen.length - 1);
        if (reply instanceof Error) return Promise.reject(reply);
        return new Promise((resolve) => {
          if (reply.afterMs === Number.POSITIVE_INFINITY) return;
          const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? {});
          const answer = { status: reply.status ?? 200, headers: reply.headers ?? {}, body: chunksOf(text) };
          if (reply.afterMs === undefined) resolve(answer);
          else world.clock.after(reply.afterMs, () => resolve(answer));
        });
      },
    },
    readStdin: () =>
      input === undefined ? new Promise(() => {}) : Promise.resolve(Buffer.from(typeof input === "string" ? input : JSON.stringify(input))),
    async writeStdout(text) {
      output.stdout += text;
    },
    writeStderr(text) {
      output.stderr += text;
    },
  });
  let status: number | undefined;
  void run.then((value) => {
    status = value;
  });
  await world.runUntil(() => status !== undefined, 3_600_000, "the end of the program");
  return { status: status!, ...output, seen, elapsedMs: world.clock.monotonic() };
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
