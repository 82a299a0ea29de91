/** `fairlead install-credential-provider`: puts the ECR credential provider where kubelet looks for it, and keeps it there. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, copyFile, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asYaml, credentialProviderConfig } from "../registry/config.ts";
import { FlagError, type FlagSection, flag, parseFlags } from "../runtime/flags.ts";
import { bool, duration, string } from "../runtime/flags-kinds.ts";
import { flagUsage } from "../runtime/flags-usage.ts";
import { sleep, uuid, type World } from "../runtime/world.ts";
import type { Command } from "./command.ts";
import { failure } from "./failure.ts";

const flags = {
  "bin-dir": flag(string, "", "Folder of kubelet's --image-credential-provider-bin-dir."),
  "config-dir": flag(string, "", "Folder for ecr-credential-provider.yaml, which kubelet's --image-credential-provider-config names."),
  "service-account-tokens": flag(bool, false, "Let service accounts choose the role to pull with (Kubernetes 1.34 or later)."),
  source: flag(string, "", "The executable to install. Empty: the one beside this program."),
  once: flag(bool, false, "Exit once it is installed, instead of checking periodically."),
  period: flag(duration, 3_600_000, "How often to check that it is still there."),
  help: flag(bool, false, "Print this.", { shorthand: "h" }),
};

/** The flags by section, for completion and help. */
export const sections: readonly FlagSection[] = [{ title: "Installation", flags }];

const name = "ecr-credential-provider";

/** Installs, and unless told otherwise stays to repair. Kubelet is never touched: it finds the new file at its next call. */
export const run: Command = async ({ argv, world, console, stopSignal }) => {
  const say = (line: string) => console.out(`${line}\n`);
  try {
    const { values } = parseFlags(flags, argv);
    if (values.help) {
      say(`Puts the ECR credential provider on a node.\n\n${flagUsage(sections, console.columns)}`);
      return 0;
    }
    if (!values["bin-dir"] || !values["config-dir"]) throw new FlagError("--bin-dir and --config-dir are needed");
    const source = values.source || join(dirname(process.argv[1] ?? ""), name);
    const config = asYaml(credentialProviderConfig({ serviceAccountTokens: values["service-account-tokens"] }));
    const stop = values.once ? undefined : stopSignal();
    for (;;) {
      await installExecutable(source, join(values["bin-dir"], name), world, say);
      await installConfig(join(values["config-dir"], `${name}.yaml`), config, world, say);
      if (stop === undefined) return 0;
      await sleep(world.clock, values.period, stop).catch(() => {});
      if (stop.aborted) return 0;
    }
  } catch (error) {
    return failure("install-credential-provider", error, console);
  }
};

/** Written beside its place and renamed over it: whoever runs the old one goes on with it, nobody ever sees half of the new one. */
async function installExecutable(source: string, target: string, world: World, say: (line: string) => void): Promise<void> {
  const wanted = await digestOf(source);
  if (wanted === undefined) throw new Error(`there is no executable at ${source}: this image is not the one with the credential provider`);
  if ((await digestOf(target)) === wanted) return;
  await mkdir(dirname(target), { recursive: true });
  const beside = `${target}.${uuid(world.random)}`;
  try {
    await copyFile(source, beside);
    await chmod(beside, 0o755);
    await rename(beside, target);
  } finally {
    await rm(beside, { force: true });
  }
  say(`installed ${target} (sha256 ${wanted})`);
}

async function installConfig(target: string, config: string, world: World, say: (line: string) => void): Promise<void> {
  const present = await world.files.read(target).catch(() => undefined);
  if (present !== undefined && Buffer.from(present).toString("utf8") === config) return;
  await world.files.write(target, config, 0o644);
  say(`wrote ${target}; kubelet reads it at its next start`);
}

/** Undefined when there is no such file. Read piece by piece: it is a hundred megabytes. */
async function digestOf(path: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return hash.digest("hex");
}
