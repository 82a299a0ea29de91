/** The scripts for nodes, rendered by Go's own template engine and run by bash in a folder that stands for the machine's root. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";
import { parse } from "yaml";

import { bootstrapNetworks } from "../../src/discovery/artifacts/bashible/bootstrap.ts";
import { bashibleSteps } from "../../src/discovery/artifacts/bashible/steps.ts";
import type { HttpRequest, Transport } from "../../src/runtime/http.ts";
import { launchNodes } from "../../src/sandbox/cloud/network.ts";
import { networkBed } from "../../src/sandbox/cloud/testing.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { renderScript } from "../bed/machine-templates.ts";

/** A machine: its root, programs of its own before those of this one, and scripts that run on it. */
class Machine {
  readonly root: string;
  readonly #t: TestContext;

  private constructor(t: TestContext, root: string) {
    this.#t = t;
    this.root = root;
  }

  static async start(t: TestContext): Promise<Machine> {
    const root = await mkdtemp(join(tmpdir(), "machine-"));
    t.after(() => rm(root, { recursive: true }));
    for (const folder of ["bin", "dev", "etc", "var/lib"]) await mkdir(join(root, folder), { recursive: true });
    return new Machine(t, root);
  }

  /** A program that leaves its arguments in a file and then does this. */
  async program(name: string, does = ":"): Promise<void> {
    await this.file(`bin/${name}`, `#!/bin/bash\necho "${name} $*" >>"${this.root}/ran"\n${does}\n`);
    await chmod(join(this.root, "bin", name), 0o755);
  }

  async file(path: string, text: string | Buffer): Promise<void> {
    await mkdir(join(this.root, path, ".."), { recursive: true });
    await writeFile(join(this.root, path), text);
  }

  async read(path: string): Promise<string | undefined> {
    return await readFile(join(this.root, path), "utf8").catch(() => undefined);
  }

  /** What programs of its own were called with, one call a line. */
  async ran(): Promise<string[]> {
    return (await this.read("ran"))?.trimEnd().split("\n") ?? [];
  }

  /** Runs a script as strictly as a platform may. */
  async run(script: string, { group = "worker", before = "", variables = {} as Record<string, string> } = {}) {
    const here = (text: string) => text.replaceAll(/(?<![\w.}])\/(var\/lib|etc|opt|dev\/(?!null))/g, `${this.root}/$1`);
    const file = join(this.root, "script");
    await writeFile(file, `set -Eeuo pipefail\n${before}\n${here(await renderScript(this.#t, script, group))}\n`);
    const child = spawn("bash", [file], { env: { PATH: `${this.root}/bin:/usr/bin:/bin`, ...variables } });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { status, output };
  }
}

const steps = bashibleSteps(undefined);
const variablesFile = "var/lib/bashible/cloud-provider-variables";
const configFile = "var/lib/bashible/kubelet-credential-provider-config.yaml";
const binary = "opt/deckhouse/bin/ecr-credential-provider";
const functions = 'bb-flag-set() { echo "flag $1"; }';

/** A machine in a simulated account, with the script that asks that account in the place of AWS. */
async function launched(t: TestContext) {
  const { cloud, network } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  const requests: HttpRequest[] = [];
  const ec2: Transport = (request) => {
    requests.push(request);
    return cloud.handle(request);
  };
  const [api, metadata] = [await serveTransport(ec2), await serveTransport(cloud.imds(node!.id))];
  t.after(api.close);
  t.after(metadata.close);
  const machine = await Machine.start(t);
  await machine.program("hostnamectl");
  await machine.program("sleep");
  return {
    cloud,
    machine,
    requests,
    metadata: metadata.url,
    named: (tags: Readonly<Record<string, string>>) => cloud.account.ec2.instances.put(node!.id, { ...node!, tags }),
    script: bootstrapNetworks.replace("http://169.254.169.254", metadata.url).replace('"https://ec2.%s.%s"', `"${api.url}" + "%.0s%.0s"`),
  };
}

test("bootstrap: the host name becomes the Name tag, asked of EC2 with the node's role, once", async (t) => {
  const { cloud, machine, script, named, requests, metadata } = await launched(t);
  named({ Name: "demo-worker-5f7c9", other: "x" });
  const denied = cloud.controls.deny("ec2:DescribeTags");
  const refused = await machine.run(script);
  assert.equal(refused.status, 1);
  assert.match(refused.output, /set the host name: .* answered 403/);
  assert.deepEqual(await machine.ran(), ["sleep 2", "sleep 2"], "three tries, two seconds apart");
  assert.doesNotMatch(refused.output, /Credential=|SecretAccessKey/);
  denied();
  assert.deepEqual(await machine.run(script), { status: 0, output: "" });
  assert.deepEqual((await machine.ran()).slice(2), ["hostnamectl set-hostname demo-worker-5f7c9"]);
  assert.equal(await machine.read("var/lib/bashible/hosname-set-as-in-aws"), "");
  assert.equal((await machine.run(script)).status, 0);
  assert.equal((await machine.ran()).length, 3, "it is done once");
  // The simulated account looks at the scope of a signature only: AWS's own signer says what it must be.
  const { url, headers } = requests.at(-1)!;
  assert.equal(headers.authorization, await signedBySdk(metadata, url, headers));
});

/** The header that the SDK's signer gives a request, with the keys that the metadata service gives the machine. */
async function signedBySdk(metadata: string, url: URL, headers: Readonly<Record<string, string>>): Promise<string> {
  const token = await (
    await fetch(`${metadata}/latest/api/token`, { method: "PUT", headers: { "x-aws-ec2-metadata-token-ttl-seconds": "60" } })
  ).text();
  const read = async (path: string) =>
    await (await fetch(`${metadata}/latest/meta-data/${path}`, { headers: { "x-aws-ec2-metadata-token": token } })).text();
  const role = await read("iam/security-credentials/");
  const keys = JSON.parse(await read(`iam/security-credentials/${role}`)) as {
    AccessKeyId: string;
    SecretAccessKey: string;
    Token: string;
  };
  const credentials = { accessKeyId: keys.AccessKeyId, secretAccessKey: keys.SecretAccessKey, sessionToken: keys.Token };
  const signer = new SignatureV4({
    credentials,
    region: await read("placement/region"),
    service: "ec2",
    sha256: Sha256,
    applyChecksum: false,
  });
  const date = headers["x-amz-date"]!;
  const signingDate = new Date(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  const { headers: signed } = await signer.sign(
    {
      method: "GET",
      protocol: "http:",
      hostname: url.hostname,
      path: "/",
      query: Object.fromEntries(url.searchParams),
      headers: { host: headers.host! },
    },
    { signingDate },
  );
  return signed.authorization!;
}

test("bootstrap: a tag that cannot be a host name, and none at all, are told by what is wrong", async (t) => {
  const { machine, script, named } = await launched(t);
  named({ Name: "a node; reboot" });
  assert.match((await machine.run(script)).output, /tag Name of instance i-\w+ cannot be a host name: 'a node; reboot'/);
  named({});
  assert.match((await machine.run(script)).output, /has no tag Name, or its role may not call ec2:DescribeTags/);
  assert.deepEqual(new Set(await machine.ran()), new Set(["sleep 2"]));
});

test("modules: asked for on Ubuntu without erofs alone, and a machine does without", async (t) => {
  const machine = await Machine.start(t);
  await machine.file("etc/os-release", "ID=debian\n");
  await machine.program("modinfo", "exit 1");
  await machine.program("apt-get", "exit 100");
  await machine.program("uname", "echo 6.8.0-1029-aws");
  const step = steps["000_add_extra_modules.sh.tpl"]!;
  assert.deepEqual(await machine.run(step), { status: 0, output: "" });
  assert.deepEqual(await machine.ran(), []);
  await machine.file("etc/os-release", 'NAME="Ubuntu"\nID=ubuntu\n');
  const failed = await machine.run(step);
  assert.equal(failed.status, 0);
  assert.match(failed.output, /warning: linux-modules-extra-6\.8\.0-1029-aws cannot be installed/);
  await machine.program("apt-get");
  assert.equal((await machine.run(step)).output, "");
  assert.ok((await machine.ran()).includes("apt-get -qy install linux-modules-extra-6.8.0-1029-aws"));
});

test("variables: kubelet keeps a machine up for 225 seconds, 15 of them for critical pods", async (t) => {
  const machine = await Machine.start(t);
  for (const _ of [1, 2]) assert.deepEqual(await machine.run(steps["000_set_cloud_variables.sh.tpl"]!), { status: 0, output: "" });
  assert.equal(await machine.read(variablesFile), 'shutdown_grace_period="225"\nshutdown_grace_period_critical_pods="15"\n');
});

/** What an NVMe controller says of itself, with the name in the vendor's part. */
function controllerData(name: string): Buffer {
  const data = Buffer.alloc(4096);
  data.write(name.padEnd(32), 3072, "latin1");
  return data;
}

test("aliases: the first run of a master links volumes to the names they are attached by, while the data disk is not installed", async (t) => {
  const machine = await Machine.start(t);
  for (const [index, name] of ["/dev/sda1", "xvdf", "ephemeral0:sdb"].entries()) {
    await machine.file(`dev/nvme${index}n1`, "");
    await machine.file(`data/nvme${index}n1`, controllerData(name));
  }
  await machine.program("nvme", `cat "${machine.root}/data/$(basename "$3")"`);
  const step = steps["001_create_nvme_ebs_aliases.sh.tpl"]!;
  const first = { variables: { FIRST_BASHIBLE_RUN: "yes" } };
  assert.deepEqual(await machine.run(step, { group: "worker", ...first }), { status: 0, output: "" });
  assert.deepEqual(await machine.run(step, { group: "master" }), { status: 0, output: "" });
  assert.deepEqual(await machine.ran(), []);
  for (const _ of [1, 2]) assert.deepEqual(await machine.run(step, { group: "master", ...first }), { status: 0, output: "" });
  assert.equal(await readlink(join(machine.root, "dev/xvdf")), join(machine.root, "dev/nvme1n1"));
  assert.equal(await readlink(join(machine.root, "dev/sda1")), join(machine.root, "dev/nvme0n1"));
  assert.equal(await readlink(join(machine.root, "dev/ephemeral0:sdb")).catch(() => undefined), undefined);
  await rm(join(machine.root, "dev/xvdf"));
  await machine.file("var/lib/bashible/kubernetes-data-device-installed", "");
  await machine.run(step, { group: "master", ...first });
  assert.equal(await machine.read("dev/xvdf"), undefined, "the data disk is installed: names do not matter any more");
});

test("aliases: a disk that no tool can name, or an image without a tool, keeps nobody from the other disks and from going on", async (t) => {
  const machine = await Machine.start(t);
  for (const index of [0, 1, 2]) await machine.file(`dev/nvme${index}n1`, "");
  const step = steps["001_create_nvme_ebs_aliases.sh.tpl"]!;
  const first = { group: "master", variables: { FIRST_BASHIBLE_RUN: "yes" } };
  const bare = await machine.run(step, first);
  assert.equal(bare.status, 0, "the platform looks for the disk itself, or tells that it is not there");
  assert.match(bare.output, /warning: .*nvme0n1 has no name of a volume/);
  // As Amazon's own does for a disk of the machine itself.
  await machine.program(
    "ebsnvme-id",
    'case "$2" in *nvme1n1) echo "[ERROR] Not an EBS device" >&2; exit 1 ;; *nvme2n1) echo sdf ;; *) echo /dev/xvda ;; esac',
  );
  await symlink(join(machine.root, "dev/nvme9n1"), join(machine.root, "dev/sdf"));
  const { status, output } = await machine.run(step, first);
  assert.equal(status, 0, output);
  assert.match(output, /nvme1n1 has no name of a volume/);
  assert.equal(await readlink(join(machine.root, "dev/xvda")), join(machine.root, "dev/nvme0n1"));
  assert.equal(await readlink(join(machine.root, "dev/sdf")), join(machine.root, "dev/nvme2n1"), "a link that led nowhere");
});

test("binaries: fetched once from where the settings say, and only what its checksum says is installed", async (t) => {
  const machine = await Machine.start(t);
  await machine.program("uname", "echo x86_64");
  let served = "a program";
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.end(served);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const sha256 = createHash("sha256").update(served).digest("hex");
  const text = bashibleSteps({ amd64: { url: "https://files.example.org/it", sha256 } })["006_install_aws_specific_binaries.sh.tpl"]!;
  const step = text.replace("https://files.example.org", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  for (const _ of [1, 2]) assert.deepEqual(await machine.run(step), { status: 0, output: "" });
  assert.equal(requests, 1);
  assert.equal(await machine.read(binary), "a program");
  assert.equal((await stat(join(machine.root, binary))).mode & 0o777, 0o755);
  await machine.file(binary, "another one");
  served = "somebody else's program";
  const refused = await machine.run(step);
  assert.equal(refused.status, 1);
  assert.match(refused.output, /not what its checksum says, and is not installed/);
  assert.equal(await machine.read(binary), "another one");
  server.close();
  server.closeAllConnections();
  assert.deepEqual(await machine.run(step), {
    status: 0,
    output: "the credential provider for ECR cannot be fetched; what is there stays\n",
  });
  const without = await Machine.start(t);
  assert.deepEqual(await without.run(steps["006_install_aws_specific_binaries.sh.tpl"]!), { status: 0, output: "" });
});

test("credential provider: enabled where the program is, and kubelet is restarted when its configuration changes", async (t) => {
  const machine = await Machine.start(t);
  await machine.file("var/lib/bashible/first_run", "");
  const step = steps["007_enable_ecr_credential_provider.sh.tpl"]!;
  const absent = await machine.run(step, { before: functions });
  assert.deepEqual([absent.status, await machine.read(configFile)], [0, undefined]);
  assert.match(absent.output, /is not there: images of ECR are pulled without a login/);
  await machine.file(binary, "");
  await chmod(join(machine.root, binary), 0o755);
  assert.equal((await machine.run(step, { before: "bb-flag-set() { return 1; }" })).status, 1, "ended before kubelet was told");
  const enabled = await machine.run(step, { before: functions });
  assert.deepEqual(enabled, { status: 0, output: "flag kubelet-need-restart\nflag kubelet-enable-credential-provider\n" });
  const config = parse((await machine.read(configFile))!) as { kind: string; apiVersion: string; providers: object[] };
  assert.deepEqual([config.apiVersion, config.kind], ["kubelet.config.k8s.io/v1", "CredentialProviderConfig"]);
  assert.deepEqual(config.providers, [
    {
      name: "ecr-credential-provider",
      apiVersion: "credentialprovider.kubelet.k8s.io/v1",
      defaultCacheDuration: "0",
      matchImages: ["dkr.ecr", "dkr.ecr-fips"].flatMap((service) =>
        ["amazonaws.com", "amazonaws.com.cn", "sc2s.sgov.gov", "c2s.ic.gov"].map((suffix) => `*.${service}.*.${suffix}`),
      ),
    },
  ]);
  assert.equal((await machine.run(step, { before: functions })).output, "flag kubelet-enable-credential-provider\n");
  assert.match((await machine.run(step)).output, /this platform has no bb-flag-set/);
});
