/** The kubeconfig file: read, checked, and reduced to the one context in use. */
import { dirname, isAbsolute, join } from "node:path";
import { type Document, LineCounter, parseDocument } from "yaml";
import * as z from "zod";
import type { World } from "../../runtime/world.ts";
import { codeOf, KubeConfigError } from "./access.ts";

const clusterSchema = z.object({
  server: z.string().optional(),
  "certificate-authority": z.string().optional(),
  "certificate-authority-data": z.string().optional(),
  "insecure-skip-tls-verify": z.boolean().optional(),
  "tls-server-name": z.string().optional(),
  "proxy-url": z.string().optional(),
  extensions: z.array(z.object({ name: z.string(), extension: z.unknown() })).optional(),
});

const execSchema = z.object({
  apiVersion: z.enum(["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]),
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: z.array(z.object({ name: z.string(), value: z.string().default("") })).optional(),
  installHint: z.string().optional(),
  provideClusterInfo: z.boolean().optional(),
  interactiveMode: z.enum(["Never", "IfAvailable", "Always"]).optional(),
});

const userSchema = z.object({
  "client-certificate": z.string().optional(),
  "client-certificate-data": z.string().optional(),
  "client-key": z.string().optional(),
  "client-key-data": z.string().optional(),
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  "auth-provider": z.unknown().optional(),
  as: z.string().optional(),
  exec: execSchema.optional(),
});

const fileSchema = z.object({
  "current-context": z.string().optional(),
  contexts: z.array(z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string().optional() }) })).optional(),
  clusters: z.array(z.object({ name: z.string(), cluster: clusterSchema })).optional(),
  users: z.array(z.object({ name: z.string(), user: userSchema.optional() })).optional(),
});

/** A cluster entry as it stands in the file. */
export type ClusterEntry = z.infer<typeof clusterSchema>;
/** A user entry as it stands in the file. */
export type UserEntry = z.infer<typeof userSchema>;
/** The credential plugin of a user entry. */
export type ExecEntry = z.infer<typeof execSchema>;

/** The context in use, with relative paths made good. */
export interface ChosenContext {
  readonly path: string;
  readonly context: string;
  readonly cluster: ClusterEntry;
  readonly user: UserEntry;
  /** Keys for messages: `clusters["prod"].cluster`. */
  readonly clusterKey: string;
  readonly userKey: string;
}

/** Reads a kubeconfig file and picks its current context. */
export async function readKubeconfig(world: World, path: string): Promise<ChosenContext> {
  const file = parse(path, await contentOf(world, path));
  const name = file["current-context"];
  if (!name) throw wrong(path, "current-context", "is not set; run `kubectl config use-context NAME` on the file");
  const context = file.contexts?.find((entry) => entry.name === name)?.context;
  if (context === undefined) throw wrong(path, "current-context", `names context "${name}", which the file does not have`);
  const clusterKey = `clusters["${context.cluster}"].cluster`;
  const cluster = file.clusters?.find((entry) => entry.name === context.cluster)?.cluster;
  if (cluster === undefined)
    throw wrong(path, `contexts["${name}"].context.cluster`, `names cluster "${context.cluster}", which the file does not have`);
  const userEntry = context.user ? file.users?.find((entry) => entry.name === context.user) : { user: {} };
  if (userEntry === undefined)
    throw wrong(path, `contexts["${name}"].context.user`, `names user "${context.user}", which the file does not have`);
  const folder = dirname(path);
  return {
    path,
    context: name,
    cluster: { ...cluster, "certificate-authority": beside(folder, cluster["certificate-authority"]) },
    user: withPathsBeside(folder, userEntry.user ?? {}),
    clusterKey,
    userKey: `users["${context.user ?? ""}"].user`,
  };
}

/** The complaint about one key of a kubeconfig file. Never quotes a value that could be a secret. */
export function wrong(path: string, key: string, complaint: string, cause?: unknown): KubeConfigError {
  return new KubeConfigError(`kubeconfig ${path}: ${key} ${complaint}`, cause === undefined ? undefined : { cause });
}

async function contentOf(world: World, path: string): Promise<string> {
  try {
    return Buffer.from(await world.files.read(path)).toString("utf8");
  } catch (cause) {
    throw new KubeConfigError(`cannot read kubeconfig ${path}: ${codeOf(cause)}; check --kubeconfig and the file's permissions`, { cause });
  }
}

function parse(path: string, text: string): z.infer<typeof fileSchema> {
  const lines = new LineCounter();
  // Pretty errors quote the source, and the source holds tokens.
  const document = parseDocument(text, { prettyErrors: false, lineCounter: lines, logLevel: "silent" });
  const trouble = document.errors[0];
  if (trouble !== undefined) {
    const { line, col } = lines.linePos(trouble.pos[0]);
    throw new KubeConfigError(`kubeconfig ${path} is not valid YAML: ${trouble.code} at line ${line}, column ${col}`);
  }
  const checked = fileSchema.safeParse(withoutNulls(contentIn(path, document)) ?? {});
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0]!;
  throw wrong(path, keyOf(issue.path), `is wrong: ${issue.message}`);
}

function contentIn(path: string, document: Pick<Document, "toJS">): unknown {
  try {
    return document.toJS();
  } catch {
    // Its message names the alias that leads nowhere, which may be a token that begins with an asterisk.
    throw new KubeConfigError(`kubeconfig ${path} is not valid YAML: an alias (*name) leads nowhere, or there are too many`);
  }
}

/** To the reference a null is as good as nothing. What a plugin is told of its cluster is passed on as it stands. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([key, inner]) => [key, key === "extension" ? inner : withoutNulls(inner)]));
}

function keyOf(path: readonly PropertyKey[]): string {
  const key = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
  return key === "" ? "the file" : key.replace(/^\./, "");
}

function beside(folder: string, path: string | undefined): string | undefined {
  return path === undefined || path === "" || isAbsolute(path) ? path : join(folder, path);
}

function withPathsBeside(folder: string, user: UserEntry): UserEntry {
  const { exec } = user;
  return {
    ...user,
    "client-certificate": beside(folder, user["client-certificate"]),
    "client-key": beside(folder, user["client-key"]),
    tokenFile: beside(folder, user.tokenFile),
    // A bare name is looked up in PATH; anything with a separator is a path.
    exec: exec?.command.includes("/") ? { ...exec, command: beside(folder, exec.command)! } : exec,
  };
}
