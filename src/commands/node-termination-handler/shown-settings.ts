/** The effective settings as the log shows them once at the start, under the names that the reference's users search for. Pure. */
import { printValue } from "../../runtime/flags.ts";
import { flagTable, type Options } from "./flags.ts";
import { renamed } from "./options.ts";

export const settingsMessage = "aws-node-termination-handler arguments";

type Name = keyof Options;

/** Old names say nothing that their new ones do not. */
const left: ReadonlySet<string> = new Set(["help", ...renamed.map(([old]) => old)]);
/** The only one that the reference does not write with underscores. */
const otherKeys: Readonly<Record<string, string>> = { "managed-tag": "ManagedTag" };
const hidden = ["webhook-url", "webhook-headers", "webhook-template"] as const satisfies readonly Name[];

/** One field per setting, for a log of JSON. What belongs to the webhook may be secret and has none. */
export function settingFields(options: Options): Readonly<Record<string, unknown>> {
  const names = shownNames().filter((name) => !hidden.some((each) => each === name));
  return Object.fromEntries(names.map((name) => [otherKeys[name] ?? name.replaceAll("-", "_"), options[name]]));
}

/** One line per setting, for a log that people read. */
export function settingLines(options: Options): readonly string[] {
  return shownNames().map((name) => `${name}: ${hiddenValue(name, options) ?? printValue(flagTable[name] as never, options[name])}`);
}

function shownNames(): readonly Name[] {
  return (Object.keys(flagTable) as Name[]).filter((name) => !left.has(name));
}

function hiddenValue(name: Name, options: Options): string | undefined {
  if (name === "webhook-url") return options[name] === "" ? "" : "<provided-not-displayed>";
  return hidden.some((each) => each === name) ? "<not-displayed>" : undefined;
}
