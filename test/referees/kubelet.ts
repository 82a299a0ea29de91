/** Builds the program that holds kubelet's own plugin package, once for each content of its sources. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cached, contentKey } from "../../deploy/build/cache.ts";
import { goBuild } from "../../src/sandbox/cluster/assets/go.ts";

const folder = join(import.meta.dirname, "kubelet");

/** The path of the program. The first build takes minutes, because it compiles a good part of Kubernetes. */
export async function kubeletReferee(say: (line: string) => void = () => {}): Promise<string> {
  const sources = await Promise.all(["go.mod", "go.sum", "main.go"].map((name) => readFile(join(folder, name))));
  const make = async (output: string) => {
    say("building the referee that holds kubelet's code with Go (some minutes, once)");
    await goBuild({ folder, package: ".", modulesAreFixed: true, output }, { environment: process.env });
  };
  return await cached(`referees/kubelet-${contentKey(...sources)}`, make, { say });
}
