/** The examples for kops, Cluster API and kubeadm, judged by the installers' own definitions and types. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parse, parseAllDocuments } from "yaml";
import { bed, eventually, type TestCluster } from "../bed/bed.ts";
import { goStructs, installerFiles, unknownKeys } from "./installers.ts";

const examples = fileURLToPath(new URL("../../deploy/examples/", import.meta.url));
const run = promisify(execFile);

function kubectl(cluster: TestCluster, ...args: readonly string[]) {
  return run("kubectl", args, { env: { ...process.env, KUBECONFIG: join(cluster.real.folder, "admin.kubeconfig") }, maxBuffer: 1e8 });
}

/** Their conversions are done by webhooks that nobody runs here. */
async function install(cluster: TestCluster): Promise<void> {
  const folder = await installerFiles();
  const definitions = await Promise.all(
    globSync("*.yaml", { cwd: folder }).map(async (file) => {
      const definition = parse(await readFile(join(folder, file), "utf8"));
      delete definition.spec.conversion;
      // An API server wants to know who approved of a group in k8s.io.
      definition.metadata.annotations = { ...definition.metadata.annotations, "api-approved.kubernetes.io": "unapproved, a test" };
      return definition;
    }),
  );
  const file = join(cluster.real.folder, "installers.json");
  await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: definitions }));
  await kubectl(cluster, "apply", "--server-side", "--force-conflicts", "-f", file);
}

const judge = (cluster: TestCluster, file: string) => kubectl(cluster, "create", "--dry-run=server", "--validate=strict", "-f", file);

test("the examples for kops and Cluster API are what their definitions allow, strictly", async (t) => {
  const { cluster } = await bed(t);
  await install(cluster);
  for (const example of ["kops.yaml", "cluster-api.yaml"]) {
    await eventually(async () => void (await judge(cluster, join(examples, example))), 30_000);
  }
  const text = await readFile(join(examples, "kops.yaml"), "utf8");
  const misspelt = join(cluster.real.folder, "misspelt.yaml");
  await writeFile(misspelt, text.replace("configureCloudRoutes:", "configureCloudRoute:"));
  await assert.rejects(judge(cluster, misspelt), /unknown field "spec\.cloudControllerManager\.configureCloudRoute"/);
});

test("the example for kubeadm has no key that kubeadm's types do not have", async () => {
  const structs = await goStructs(join(await installerFiles(), "types.go"));
  assert.ok(structs.get("NodeRegistrationOptions")?.has("kubeletExtraArgs"));
  const text = await readFile(join(examples, "kubeadm.yaml"), "utf8");
  const unknown = (yaml: string) =>
    parseAllDocuments(yaml).flatMap((document) => {
      const value = document.toJS() as { readonly kind: string };
      assert.ok(structs.has(value.kind), value.kind);
      return unknownKeys(value, value.kind, structs, value.kind);
    });
  assert.deepEqual(unknown(text), []);
  assert.deepEqual(unknown(text.replace("caCertHashes", "caCertHash")), ["JoinConfiguration.discovery.bootstrapToken.caCertHash"]);
});
