import { realWorld, type World } from "../../runtime/world.ts";
import type { Command } from "../command.ts";

/** Runs a command with these words and gives its status and all it said. */
export async function said(run: Command, argv: readonly string[], world: World = realWorld()) {
  let out = "";
  let err = "";
  const console = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
    columns: 0,
    watched: false,
  };
  const status = await run({ argv, console, world, stopSignal: () => new AbortController().signal });
  return { status, out, err };
}
