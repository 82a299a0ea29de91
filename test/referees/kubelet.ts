/** Builds the program that holds kubelet's own plugin package, once for each content of its sources. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cached, contentKey } from "../../deploy/build/cache.ts";
import { run } from "../../deploy/build/run.ts";

const folder = join(import.meta.dirname, "kubelet");

/** The path of the program. The first build takes minutes, because it compiles a good part of Kubernetes. */
export async function kubeletReferee(): Promise<string> {
  const sources = await Promise.all(["go.mod", "go.sum", "main.go"].map((name) => readFile(join(folder, name))));
  return await cached(`referees/kubelet-${contentKey(...sources)}`, async (path) => {
    await run("go", ["build", "-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", path, "."], { cwd: folder });
  });
}
