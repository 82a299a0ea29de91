/** Every command line of the documentation, as it stands there: run, or marked as needing an account. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { helm } from "../../deploy/build/helm.ts";
import { nodes } from "../../src/kube/builtin.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { bed, type TestCluster } from "../bed/bed.ts";
import { type InstalledPackage, installPackage } from "../bed/package.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Every page; the quick start's command lines have a test of their own. */
const pages = globSync("*.md", { cwd: join(root, "docs") })
  .map(withoutEnding)
  .filter((page) => page !== "README")
  .sort();
const run = promisify(execFile);

function withoutEnding(file: string): string {
  return file.slice(0, -".md".length);
}

let installed: InstalledPackage;
before(async () => {
  installed = await installPackage();
});
after(() => installed.remove());

interface Block {
  readonly language: string;
  readonly text: string;
}

async function blocksOf(page: string): Promise<readonly Block[]> {
  const text = await readFile(join(root, "docs", `${page}.md`), "utf8");
  return [...text.matchAll(/^ *```(.+)\n([\s\S]*?)^ *```$/gm)].map(([, language = "", body = ""]) => ({ language, text: body }));
}

/** A shell as an operator would have it: the tools, a cluster, an account. */
async function shellIn(t: TestContext, cluster: TestCluster) {
  const cloud = createCloud({ world: realWorld() });
  const network = standardNetwork(cloud, { clusterId: "shop" });
  const [instance] = launchNodes(cloud, network, 1).map(({ id }) => cloud.account.ec2.instances.update(id, { state: "running" }));
  const [aws, metadata] = await Promise.all([serve(cloud), serveTransport(cloud.imds(instance!.id))]);
  t.after(() => Promise.all([aws.close(), metadata.close()]));
  const { privateDnsName: name, zone, id } = instance!;
  await cluster.admin.create(nodes, { metadata: { name }, spec: { providerID: `aws:///${zone}/${id}` } });
  const folder = join(cluster.real.folder, "desk");
  await mkdir(join(folder, "bin"), { recursive: true });
  await cp(join(root, "deploy"), join(folder, "deploy"), { recursive: true, force: true });
  await symlink(await helm(), join(folder, "bin/helm")).catch(() => {});
  const env = {
    PATH: [join(folder, "bin"), installed.bin, dirname(process.execPath), process.env.PATH].join(":"),
    HOME: folder,
    KUBECONFIG: join(cluster.real.folder, "admin.kubeconfig"),
    AWS_ENDPOINT_URL: aws.url,
    AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url,
  };
  return (script: string) => run("sh", ["-euc", script], { cwd: folder, env, maxBuffer: 1e8 });
}

test("every command line is in a block that says whether it can be run", async () => {
  const all = [...pages, ...globSync("{runbooks,reference}/*.md", { cwd: join(root, "docs") }).map(withoutEnding), "README", "../README"];
  for (const page of all) {
    for (const { language } of await blocksOf(page))
      assert.match(language, /^(sh|sh account|yaml|ini|mermaid|json|ts)$/, `${page}: ${language}`);
    const unmarked = /\n\n {4}(\.|aws|curl|docker|fairlead|helm|kubectl|node|npm|npx) .*/.exec(
      await readFile(join(root, "docs", `${page}.md`), "utf8"),
    );
    assert.equal(unmarked?.[0].trim(), undefined, `${page}: neither run nor marked`);
  }
});

for (const page of pages) {
  const scripts = (await blocksOf(page)).filter(({ language }) => language === "sh").map(({ text }) => text);
  if (scripts.length === 0 || page === "quick-start") continue;
  test(`the command lines of docs/${page}.md work, in their order`, async (t) => {
    const { cluster } = await bed(t);
    const shell = await shellIn(t, cluster);
    // Whoever follows the page has nothing installed yet, or what the pages before say.
    await shell(
      "helm uninstall fairlead --namespace kube-system --ignore-not-found; kubectl delete --ignore-not-found -f deploy/manifests/rbac.yaml",
    );
    const installs = /helm (upgrade|uninstall) fairlead/;
    if (scripts.some((script) => installs.test(script)) && !scripts[0]?.includes("--install")) {
      await shell(
        "helm upgrade --install fairlead deploy/chart --namespace kube-system --set image.repository=registry.example.org/fairlead",
      );
    }
    for (const script of scripts) {
      await assert.doesNotReject(shell(script), script);
    }
  });
}

test("every page is in the list of pages, and every link leads somewhere", async () => {
  const index = await readFile(join(root, "docs/README.md"), "utf8");
  for (const page of ["quick-start", ...pages]) assert.ok(index.includes(`(${page}.md)`), page);
  const runbooks = globSync("runbooks/*.md", { cwd: join(root, "docs") }).map(withoutEnding);
  for (const page of ["quick-start", ...pages, ...runbooks, "README"]) {
    const text = await readFile(join(root, "docs", `${page}.md`), "utf8");
    for (const [, target = ""] of text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
      if (/^https?:/.test(target)) continue;
      await assert.doesNotReject(readFile(join(root, "docs", dirname(page), target)), `${page}: ${target}`);
    }
  }
});
