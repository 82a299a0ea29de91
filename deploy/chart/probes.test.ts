import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";

const folder = join(import.meta.dirname, "..", "manifests");

interface Probe {
  readonly httpGet?: { readonly port: string | number };
}

interface Container {
  readonly name: string;
  readonly ports?: readonly { readonly name?: string }[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
}

/** Probes that ask at a port by a name that their own container does not declare. */
function lostProbes({ name, ports = [], ...probes }: Container): readonly string[] {
  return (["livenessProbe", "readinessProbe", "startupProbe"] as const).flatMap((kind) => {
    const port = probes[kind]?.httpGet?.port;
    return typeof port !== "string" || ports.some((each) => each.name === port) ? [] : [`${kind} of ${name} at port ${port}`];
  });
}

test("every probe finds its port: kubelet looks for a name among the ports of the same container, and without it one is never ready", async () => {
  const lost: string[] = [];
  let seen = 0;
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".yaml"))) {
    for (const document of parseAllDocuments(await readFile(join(folder, file), "utf8"))) {
      const object = document.toJS() as { readonly spec?: { readonly template?: { readonly spec?: { containers?: Container[] } } } } | null;
      const containers = object?.spec?.template?.spec?.containers ?? [];
      seen += containers.length;
      lost.push(...containers.flatMap(lostProbes).map((probe) => `${file}: ${probe}`));
    }
  }
  assert.ok(seen > 5, `${seen} containers`);
  assert.deepEqual(lost, []);
});
