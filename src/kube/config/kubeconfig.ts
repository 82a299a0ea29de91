/** Kubeconfig files: read, merged, and reduced to the one context in use. */
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

const contextSchema = z.object({ cluster: z.string(), user: z.string().optional(), namespace: z.string().optional() });

/** Only the entries in use are checked further: a laptop's file often holds others that no current client could use. */
const named = { name: z.string() };
const fileSchema = z.object({
  "current-context": z.string().optional(),
  contexts: z.array(z.object({ ...named, context: z.unknown().optional() })).optional(),
  clusters: z.array(z.object({ ...named, cluster: z.unknown().optional() })).optional(),
  users: z.array(z.object({ ...named, user: z.unknown().optional() })).optional(),
});

type KubeconfigFile = z.infer<typeof fileSchema>;
/** A cluster entry as it stands in the file. */
export type ClusterEntry = z.infer<typeof clusterSchema>;
/** A user entry as it stands in the file. */
export type UserEntry = z.infer<typeof userSchema>;
/** The credential plugin of a user entry. */
export type ExecEntry = z.infer<typeof execSchema>;

/** An entry and where it was read, for messages: `clusters["prod"].cluster` of a file. */
export interface Located<T> {
  readonly path: string;
  readonly key: string;
  readonly entry: T;
}

/** The context in use, with relative paths resolved against the file that they stand in. */
export interface ChosenContext {
  /** The files that were read, as messages name them. */
  readonly origin: string;
  readonly context: string;
  readonly namespace: string | undefined;
  readonly cluster: Located<ClusterEntry>;
  readonly user: Located<UserEntry>;
}

/** Kubeconfig files in the order of their precedence. */
export interface KubeconfigFiles {
  readonly paths: readonly string[];
  /** Whether files that do not exist are skipped, as kubectl skips those of `$KUBECONFIG`. */
  readonly missing: "skipped" | "refused";
}

/**
 * Reads kubeconfig files and picks the context: the one named, else the current one. Several files are merged as kubectl
 * merges them: of entries with one name the first counts, whole; so does the first current-context. Undefined when there is
 * nothing in them.
 */
export async function readKubeconfig(world: World, files: KubeconfigFiles, context?: string): Promise<ChosenContext | undefined> {
  const read = await Promise.all(files.paths.map((path) => readFile(world, path, files.missing)));
  const merged = mergeKubeconfigs(read.filter((file) => file !== undefined));
  const empty = !merged.currentContext && merged.contexts.length + merged.clusters.length + merged.users.length === 0;
  return empty && files.missing === "skipped" ? undefined : choose(files.paths.join(":"), merged, context);
}

interface ReadFile {
  readonly path: string;
  readonly file: KubeconfigFile;
}

interface NamedEntry {
  readonly path: string;
  readonly name: string;
  readonly entry: unknown;
}

/** Files as one; the first entry of a name is the one that counts. */
interface Merged {
  readonly currentContext: string | undefined;
  readonly contexts: readonly NamedEntry[];
  readonly clusters: readonly NamedEntry[];
  readonly users: readonly NamedEntry[];
}

function mergeKubeconfigs(files: readonly ReadFile[]): Merged {
  const all = (entries: (file: KubeconfigFile) => readonly Omit<NamedEntry, "path">[]) =>
    files.flatMap(({ path, file }) => entries(file).map((entry) => ({ path, ...entry })));
  return {
    currentContext: files.find(({ file }) => file["current-context"])?.file["current-context"],
    contexts: all(({ contexts = [] }) => contexts.map(({ name, context }) => ({ name, entry: context }))),
    clusters: all(({ clusters = [] }) => clusters.map(({ name, cluster }) => ({ name, entry: cluster }))),
    users: all(({ users = [] }) => users.map(({ name, user }) => ({ name, entry: user ?? {} }))),
  };
}

function choose(origin: string, merged: Merged, asked: string | undefined): ChosenContext {
  const { currentContext, contexts, clusters, users } = merged;
  const name = asked || currentContext;
  if (!name) throw wrong(origin, "current-context", "is not set; run `kubectl config use-context NAME` on the file");
  const chosen = contexts.find((context) => context.name === name);
  if (chosen === undefined) {
    throw asked
      ? new KubeConfigError(`--context names "${name}", which kubeconfig ${origin} does not have${known(contexts)}`)
      : wrong(origin, "current-context", `names context "${name}", which the file does not have${known(contexts)}`);
  }
  const contextKey = `contexts["${name}"].context`;
  const context = checked(contextSchema, chosen, contextKey);
  const cluster = clusters.find((entry) => entry.name === context.cluster);
  if (cluster === undefined)
    throw wrong(chosen.path, `${contextKey}.cluster`, `names cluster "${context.cluster}", which the file does not have${known(clusters)}`);
  const user = context.user ? users.find((entry) => entry.name === context.user) : { path: chosen.path, entry: {} };
  if (user === undefined)
    throw wrong(chosen.path, `${contextKey}.user`, `names user "${context.user}", which the file does not have${known(users)}`);
  const [clusterKey, userKey] = [`clusters["${context.cluster}"].cluster`, `users["${context.user ?? ""}"].user`];
  return {
    origin,
    context: name,
    namespace: context.namespace || undefined,
    cluster: {
      path: cluster.path,
      key: clusterKey,
      entry: clusterBeside(dirname(cluster.path), checked(clusterSchema, cluster, clusterKey)),
    },
    user: { path: user.path, key: userKey, entry: userBeside(dirname(user.path), checked(userSchema, user, userKey)) },
  };
}

/** The names to choose from. Names are no secrets. */
function known(entries: readonly NamedEntry[]): string {
  return entries.length > 0 ? `; it has ${[...new Set(entries.map(({ name }) => JSON.stringify(name)))].join(", ")}` : "";
}

function checked<T>(schema: z.ZodType<T>, { path, entry }: Pick<NamedEntry, "path" | "entry">, key: string): T {
  const result = schema.safeParse(entry);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  throw wrong(path, `${key}${stepsOf(issue.path)}`, `is wrong: ${issue.message}`);
}

/** The complaint about one key of a kubeconfig file. Never quotes a value that could be a secret. */
export function wrong(path: string, key: string, complaint: string, cause?: unknown): KubeConfigError {
  return new KubeConfigError(`kubeconfig ${path}: ${key} ${complaint}`, cause === undefined ? undefined : { cause });
}

async function readFile(world: World, path: string, missing: KubeconfigFiles["missing"]): Promise<ReadFile | undefined> {
  try {
    return { path, file: parse(path, Buffer.from(await world.files.read(path)).toString("utf8")) };
  } catch (cause) {
    if (cause instanceof KubeConfigError) throw cause;
    if (missing === "skipped" && codeOf(cause) === "ENOENT") return undefined;
    throw new KubeConfigError(`cannot read kubeconfig ${path}: ${codeOf(cause)}; check --kubeconfig and the file's permissions`, { cause });
  }
}

function parse(path: string, text: string): KubeconfigFile {
  const lines = new LineCounter();
  // Pretty errors quote the source, and the source holds tokens.
  const document = parseDocument(text, { prettyErrors: false, lineCounter: lines, logLevel: "silent" });
  const trouble = document.errors[0];
  if (trouble !== undefined) {
    const { line, col } = lines.linePos(trouble.pos[0]);
    throw new KubeConfigError(`kubeconfig ${path} is not valid YAML: ${trouble.code} at line ${line}, column ${col}`);
  }
  const result = fileSchema.safeParse(withoutNulls(contentIn(path, document)) ?? {});
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  throw wrong(path, stepsOf(issue.path).replace(/^\./, "") || "the file", `is wrong: ${issue.message}`);
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

function stepsOf(path: readonly PropertyKey[]): string {
  return path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
}

function beside(folder: string, path: string | undefined): string | undefined {
  return path === undefined || path === "" || isAbsolute(path) ? path : join(folder, path);
}

function clusterBeside(folder: string, cluster: ClusterEntry): ClusterEntry {
  return { ...cluster, "certificate-authority": beside(folder, cluster["certificate-authority"]) };
}

function userBeside(folder: string, user: UserEntry): UserEntry {
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
