import { arch } from "node:os";

/** What is built for, as container images name it. */
export type Architecture = "amd64" | "arm64";

export const architectures: readonly Architecture[] = ["amd64", "arm64"];

/** The architecture of the machine that builds. */
export function hostArchitecture(): Architecture {
  return arch() === "arm64" ? "arm64" : "amd64";
}
