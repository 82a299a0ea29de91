/** Looks for a program where it may already be. */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { World } from "../../../runtime/world.ts";
import { isOlder, type Program, versionIn } from "./programs.ts";

export interface Finding {
  readonly path?: string;
  /** Every place looked at and why it did not do, for the message when nothing does. */
  readonly tried: readonly string[];
  /** The part of `tried` that is worth telling even when another place does: a program is there but will not do. */
  readonly refused: readonly string[];
}

/** Looks in KUBEBUILDER_ASSETS, then PATH, then at `cached`. A program too old for us is passed over, with a note. */
export async function atHand(program: Program, cached: string, world: World): Promise<Finding> {
  const { KUBEBUILDER_ASSETS: given, PATH: path = "" } = world.environment;
  const tried: string[] = [];
  const refused: string[] = [];
  const places = [
    { name: "KUBEBUILDER_ASSETS", folders: given ? [given] : [], none: given ? `${given} has no ${program.name}` : "not set" },
    { name: "PATH", folders: path.split(delimiter).filter(Boolean), none: `has no ${program.name}` },
  ];
  for (const { name, folders, none } of places) {
    const file = await firstExecutable(folders.map((folder) => join(folder, program.name)));
    if (file) {
      const objection = await objectionTo(file, program);
      if (!objection) return { path: file, tried, refused };
      refused.push(`${name}: ${objection}`);
    }
    tried.push(file ? refused.at(-1)! : `${name}: ${none}`);
  }
  // The cache holds what we put there under a name with its version: no need to ask the program again.
  if (await firstExecutable([cached])) return { path: cached, tried, refused };
  tried.push(`cache: ${cached} is not there`);
  return { tried, refused };
}

async function firstExecutable(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // Not here; the next place may have it.
    }
  }
  return undefined;
}

async function objectionTo(file: string, program: Program): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await promisify(execFile)(file, ["--version"], { timeout: 10_000 });
    const version = versionIn(stdout || stderr);
    if (!version) return `${file} does not tell its version; passed over`;
    return isOlder(version, program.minimum)
      ? `${file} is ${version}, older than ${program.minimum}, which streaming lists need; passed over`
      : undefined;
  } catch (error) {
    return `${file} cannot be run (${(error as Error).message.split("\n")[0]}); passed over`;
  }
}
