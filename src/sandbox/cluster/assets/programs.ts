/** The programs a real cluster is made of, and which versions of them will do. */

export interface Program {
  /** Name of its file, in every place it is looked for. */
  readonly name: "etcd" | "kube-apiserver";
  /** What we obtain when none is at hand. */
  readonly version: string;
  /** The oldest that serves streaming lists. */
  readonly minimum: string;
}

/** Before 3.5.13 etcd does not confirm a watch's progress reliably, so the apiserver refuses streaming lists on it. */
export const etcd: Program = { name: "etcd", version: "3.7.3", minimum: "3.5.13" };

/** Since 1.34 streaming lists are on by default. */
export const kubeApiserver: Program = { name: "kube-apiserver", version: "1.36.3", minimum: "1.34.0" };

/** The first version number in what a program says of itself: `etcd Version: 3.7.3`, `Kubernetes v1.36.3`. */
export function versionIn(text: string): string | undefined {
  return /\bv?(\d+\.\d+\.\d+)/.exec(text)?.[1];
}

/** Whether `version` is older than `other`; both are three numbers. */
export function isOlder(version: string, other: string): boolean {
  const [left, right] = [version.split(".").map(Number), other.split(".").map(Number)];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at >= 0 && left[at]! < right[at]!;
}

export interface Platform {
  /** As Go names them: linux, darwin; amd64, arm64. */
  readonly os: string;
  readonly arch: string;
}

/** This machine in Go's words. */
export function thisPlatform(): Platform {
  const { platform, arch } = process;
  return { os: platform === "win32" ? "windows" : platform, arch: arch === "x64" ? "amd64" : arch };
}
