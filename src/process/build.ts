/** Which build this is. */
import { arch, platform } from "node:os";
import manifest from "../../package.json" with { type: "json" };

/** Put in place of the name by the bundler; absent when run from source. */
declare const FAIRLEAD_BUILD: { readonly commit: string; readonly date: string } | undefined;

const stamp = typeof FAIRLEAD_BUILD === "undefined" ? undefined : FAIRLEAD_BUILD;

/** The version, and what the bundler stamped. */
export const build = {
  version: `v${manifest.version}`,
  commit: stamp?.commit ?? "unknown",
  date: stamp?.date ?? "1970-01-01T00:00:00Z",
  /** As container images name it. */
  platform: `${platform()}/${{ x64: "amd64" }[arch() as string] ?? arch()}`,
} as const;

/** `--version=raw`: all there is to know, in the shape Kubernetes programs print it. */
export function rawVersion(version: string): string {
  const [major = "", minor = ""] = version.slice(1).split(".");
  const fields = {
    Major: major,
    Minor: minor,
    GitVersion: version,
    GitCommit: build.commit,
    GitTreeState: stamp ? "clean" : "",
    BuildDate: build.date,
    GoVersion: "",
    Compiler: `node ${process.version}`,
    Platform: build.platform,
  };
  const parts = Object.entries(fields).map(([name, value]) => `${name}:${JSON.stringify(value)}`);
  return `version.Info{${parts.join(", ")}}`;
}
