/** What an operator runs by hand: the generator of kubelet's configuration, and the self-test of a node. */
import type { World } from "../runtime/world.ts";
import { asYaml, credentialProviderConfig } from "./config.ts";
import { formatDuration } from "./duration.ts";
import { asFailure, PluginFailure } from "./errors.ts";
import { hostMatches, matchImages } from "./hosts.ts";
import { imageHost } from "./image.ts";
import { type Obtained, obtainLogin } from "./plugin.ts";
import { inTime, journalOf, type Process } from "./program.ts";
import type { CredentialRequest } from "./request.ts";
import { responseLine } from "./response.ts";

/** Runs `config` or `test` to its exit status. */
export async function runTool(tool: "config" | "test", args: readonly string[], process: Process): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    await process.writeStdout((await import("./help.ts")).help());
    return 0;
  }
  return tool === "config" ? await printConfig(args, process) : await testImage(args, process);
}

async function printConfig(args: readonly string[], process: Process): Promise<number> {
  const { flags, positional } = readFlags(args, { "--service-account-tokens": "switch", "--output": "value" });
  if (positional.length > 0) throw new PluginFailure("BadArguments", `config takes no arguments: ${positional.join(" ")}`);
  const output = flags["--output"]?.at(-1) ?? "yaml";
  if (output !== "yaml" && output !== "json") throw new PluginFailure("BadArguments", `invalid argument "${output}" for "--output" flag`);
  const config = credentialProviderConfig({ serviceAccountTokens: flags["--service-account-tokens"] !== undefined });
  await process.writeStdout(output === "yaml" ? asYaml(config) : `${JSON.stringify(config, null, 2)}\n`);
  return 0;
}

async function testImage(args: readonly string[], process: Process): Promise<number> {
  const { flags, positional } = readFlags(args, { "--token-file": "value", "--annotation": "value" });
  const [name, ...more] = positional;
  if (name === undefined || more.length > 0) throw new PluginFailure("BadArguments", "test takes one argument, the name of an image");
  const say: Say = (label, value) => process.writeStdout(`${`${label}:`.padEnd(16)}${value}\n`);
  const journal = journalOf(process, { level: "warn", format: "text" });
  const image = withoutTag(name);
  await say("image", image);
  try {
    const { key } = imageHost(image);
    const pattern = matchImages().find((candidate) => hostMatches(candidate, key));
    await say(
      "kubelet",
      pattern === undefined ? "no pattern of the generated configuration matches: kubelet would not ask" : `asks, because of ${pattern}`,
    );
    const request = await requestFor(image, flags, process.world);
    journal.hide(request.serviceAccountToken);
    const outcome = await inTime(process, journal, (context) => obtainLogin(request, context));
    if (outcome.kind === "refused") {
      await say("result", "no credentials: the host is not an Amazon ECR registry, so kubelet pulls without them");
      return 1;
    }
    await report(outcome, request, process, say);
    return 0;
  } catch (error) {
    const failure = asFailure(error);
    if (failure.code === "BadArguments") throw failure;
    await say("result", `no credentials (${failure.code}); kubelet would pull without them`);
    journal.error(failure.message, failure.code, failure.hint);
    return 1;
  }
}

type Say = (label: string, value: string) => Promise<void>;

async function report(outcome: Obtained, request: CredentialRequest, process: Process, say: Say): Promise<void> {
  const { registry, identity, login } = outcome;
  const variant = [registry.kind, registry.kind === "private" && registry.fips ? "FIPS" : "", registry.dualStack ? "dual-stack" : ""];
  await say("registry", `${variant.filter(Boolean).join(", ")}, region ${outcome.region || "unknown"}`);
  await say("endpoint", outcome.endpoint.origin);
  await say("identity", identity.kind === "role" ? `role ${identity.arn}, from ${identity.from}` : `the node's, because ${identity.why}`);
  await say("credentials", outcome.credentialSource);
  await say("request id", outcome.requestId || "none");
  if (outcome.expiresAt !== undefined) await say("expires", new Date(outcome.expiresAt * 1000).toISOString());
  await say("kept for", formatDuration(outcome.cacheSeconds));
  const hidden = { username: login.username, password: `[hidden, ${login.password.length} characters]` };
  await say("answer", responseLine(request.apiVersion, outcome.cacheSeconds, outcome.image.key, hidden).trimEnd());
  await say("result", `credentials for user ${login.username} (${process.version})`);
}

async function requestFor(image: string, flags: Flags, world: World): Promise<CredentialRequest> {
  const annotations = (flags["--annotation"] ?? []).map((text): [string, string] => {
    const equals = text.indexOf("=");
    if (equals < 1)
      throw new PluginFailure("BadArguments", `invalid argument ${JSON.stringify(text)} for "--annotation" flag: expected key=value`);
    return [text.slice(0, equals), text.slice(equals + 1)];
  });
  const path = flags["--token-file"]?.at(-1);
  const token = path === undefined ? undefined : await readToken(world, path);
  return {
    apiVersion: "credentialprovider.kubelet.k8s.io/v1",
    image,
    serviceAccountToken: token,
    serviceAccountAnnotations: Object.fromEntries(annotations),
  };
}

async function readToken(world: World, path: string): Promise<string> {
  try {
    return Buffer.from(await world.files.read(path))
      .toString("utf8")
      .trim();
  } catch (cause) {
    throw new PluginFailure("BadArguments", `cannot read the token file ${path}`, { cause });
  }
}

/** Kubelet asks about the repository: it has taken tag and digest off. */
function withoutTag(image: string): string {
  const repository = image.split("@", 1)[0]!;
  const slash = repository.lastIndexOf("/");
  const colon = repository.indexOf(":", slash + 1);
  return slash < 0 || colon < 0 ? repository : repository.slice(0, colon);
}

type Flags = Readonly<Record<string, readonly string[] | undefined>>;

function readFlags(args: readonly string[], known: Readonly<Record<string, "switch" | "value">>): { flags: Flags; positional: string[] } {
  const flags: Record<string, string[]> = {};
  const positional: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (!arg.startsWith("-")) {
      positional.push(arg);
      continue;
    }
    const equals = arg.indexOf("=");
    const name = equals < 0 ? arg : arg.slice(0, equals);
    const kind = known[name];
    if (kind === undefined) throw new PluginFailure("BadArguments", `unknown flag: ${name}`);
    const value = equals >= 0 ? arg.slice(equals + 1) : kind === "switch" ? "true" : args[++index];
    if (value === undefined) throw new PluginFailure("BadArguments", `flag needs an argument: ${name}`);
    flags[name] = [...(flags[name] ?? []), value];
  }
  return { flags, positional };
}
