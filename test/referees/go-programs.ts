/** The referees that are small programs of ours around somebody's Go packages, built once for each content of their sources. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cached, cachedPath, contentKey } from "../../deploy/build/cache.ts";
import { go, goBuild } from "../../src/sandbox/cluster/assets/go.ts";

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

const conformance = ["gateway-conformance", ["go.mod", "go.sum", "main.go"]] as const;

/** The Gateway API's own conformance suite. */
export function gatewayConformance(say?: (line: string) => void): Promise<string> {
  return build(...conformance, say);
}

/** The suite and the definitions that it is about. */
export async function gatewayReferee(say?: (line: string) => void): Promise<void> {
  await gatewayApiManifest(say);
  await gatewayConformance(say);
}

/** What is made last of it. */
export async function builtGatewayReferee(): Promise<string> {
  return cachedPath(await cacheName(...conformance));
}

/** The definitions of the Gateway API, of the version that the suite is of, as one manifest. */
export async function gatewayApiManifest(say: (line: string) => void = () => {}): Promise<string> {
  const folder = folderOf("gateway-conformance");
  const make = async (output: string) => {
    const environment = process.env;
    await go(["mod", "download", "sigs.k8s.io/gateway-api"], folder, { environment });
    const module = (await go(["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api"], folder, { environment })).trim();
    const standard = join(module, "config", "crd", "standard");
    const files = (await readdir(standard)).filter((name) => name.startsWith("gateway.networking.k8s.io_")).toSorted();
    const texts = await Promise.all(files.map((name) => readFile(join(standard, name), "utf8")));
    await writeFile(output, texts.join("\n---\n"));
  };
  return await cached(await gatewayApiKey(), make, { say });
}

/** Where they are once they are fetched. */
export async function builtGatewayApi(): Promise<string> {
  return cachedPath(await gatewayApiKey());
}

const gatewayApiKey = async () =>
  `referees/gateway-api-${contentKey(await readFile(join(folderOf("gateway-conformance"), "go.mod")))}.yaml`;

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
