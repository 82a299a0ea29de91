/** The referees that are small programs of ours around somebody's Go packages, built once for each content of their sources. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cached, cachedPath, contentKey } from "../../deploy/build/cache.ts";
import { goBuild } from "../../src/sandbox/cluster/assets/go.ts";

/** The program that holds kubelet's own plugin package. The first build takes minutes: it compiles a good part of Kubernetes. */
export function kubeletReferee(say?: (line: string) => void): Promise<string> {
  return build("kubelet", ["go.mod", "go.sum", "main.go"], say);
}

/** The program that verifies certificates with Go's own package. */
export function certificateReferee(say?: (line: string) => void): Promise<string> {
  return build("x509", ["go.mod", "main.go"], say);
}

/** What Go's standard library reads from a text. */
export function goValuesReferee(say?: (line: string) => void): Promise<string> {
  return build("go-values", ["go.mod", "main.go"], say);
}

/** Kubernetes' own translation of volumes from before CSI. */
export function translationReferee(say?: (line: string) => void): Promise<string> {
  return build("csi-translation", ["go.mod", "go.sum", "main.go"], say);
}

/** The CSI project's own test suite for drivers, as it is. */
export function csiSanity(say?: (line: string) => void): Promise<string> {
  return build("csi-sanity", ["go.mod", "go.sum"], say, "github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity");
}

/** Gardener's machine controller with the AWS driver in it, as it is but for two packages that the present Go needs newer. */
export function machineController(say?: (line: string) => void): Promise<string> {
  const program = "github.com/gardener/machine-controller-manager/cmd/machine-controller-manager";
  return build("machine-controller-manager", modules, say, program);
}

/** Where it is once it is built. */
export async function builtMachineController(): Promise<string> {
  return cachedPath(await cacheName("machine-controller-manager", modules));
}

const modules = ["go.mod", "go.sum"];

async function build(name: string, files: readonly string[], say: (line: string) => void = () => {}, program = "."): Promise<string> {
  const make = async (output: string) => {
    say(`building the referee ${name} with Go (up to some minutes, once)`);
    await goBuild({ folder: folderOf(name), package: program, modulesAreFixed: true, output }, { environment: process.env });
  };
  return await cached(await cacheName(name, files), make, { say });
}

const folderOf = (name: string) => join(import.meta.dirname, name);

async function cacheName(name: string, files: readonly string[]): Promise<string> {
  const sources = await Promise.all(files.map((file) => readFile(join(folderOf(name), file))));
  return `referees/${name}-${contentKey(...sources)}`;
}
