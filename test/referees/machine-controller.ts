/**
 * Gardener's machine-controller-manager on a real API server and the simulated AWS. It knows no endpoint but AWS's own: it is led to the
 * simulated one by a proxy that ends TLS, which Go's proxy variables and `AWS_CA_BUNDLE` let it trust.
 */
import { writeFile } from "node:fs/promises";
import { type RequestListener, request } from "node:http";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { parse } from "yaml";
import { behindProxy } from "../../src/runtime/testing/connect-proxy.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { go } from "../../src/sandbox/cluster/assets/go.ts";
import type { Bed } from "../bed/bed.ts";
import { freePort } from "../bed/free-port.ts";
import { apply } from "../bed/manifests.ts";
import { machineController } from "./go-programs.ts";

const module = "github.com/gardener/machine-controller-manager";
export const machineNamespace = "d8-cloud-instance-manager";

/** Every kind that it waits for at its start. */
const kinds = ["machines", "machinesets", "machinedeployments"];
const classes = ["aws", "openstack", "azure", "gcp", "alicloud", "packet"].map((provider) => `${provider}machineclasses`);

/** Its definitions, which are of a version that API servers have left behind, in the present one. */
export async function installMachineDefinitions({ cluster }: Bed): Promise<void> {
  const folder = join(import.meta.dirname, "machine-controller-manager");
  const sources = (await go(["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module], folder, { environment: process.env })).trim();
  for (const plural of [...kinds, ...classes]) {
    const file = join(sources, "kubernetes/crds", `machine.sapcloud.io_${plural}.yaml`);
    const old = parse(Buffer.from(await realWorld().files.read(file)).toString("utf8")) as OldDefinition;
    await apply(cluster.admin, presentForm(old) as object);
  }
}

interface OldDefinition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: object;
    readonly scope: string;
    readonly subresources?: object;
    readonly additionalPrinterColumns?: readonly { readonly JSONPath: string }[];
  };
}

/** Without its schema, as the platform has it: what its fork reads beyond it would be lost. */
function presentForm({ metadata: { name }, spec: { group, names, scope, subresources = {} } }: OldDefinition): object {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
    spec: { group, names, scope, versions: [{ name: "v1alpha1", served: true, storage: true, schema, subresources }] },
  };
}

export interface StartOptions {
  /** Where the simulated AWS is served. */
  readonly aws: string;
  readonly region: string;
}

/** Starts it; it ends with the test. Gives the name of its log. */
export async function startMachineController(t: TestContext, { cluster }: Bed, { aws, region }: StartOptions): Promise<string> {
  const program = await machineController((line) => process.stderr.write(`${line}\n`));
  const { folder, supervision, admin } = cluster.real;
  const behind = await behindProxy(t, { hosts: [`ec2.${region}.amazonaws.com`], answer: forwardTo(aws) });
  const bundle = join(folder, "aws-authority.pem");
  await writeFile(bundle, behind.ca);
  const log = join(folder, "machine-controller-manager.log");
  const kubeconfig = await cluster.kubeconfigWith("machine-controller-manager", admin);
  const flags = [
    `--target-kubeconfig=${kubeconfig}`,
    `--namespace=${machineNamespace}`,
    `--port=${await freePort()}`,
    "--leader-elect=false",
    "--v=3",
    "--machine-safety-orphan-vms-period=5m",
    "--machine-drain-timeout=1m",
    "--bootstrap-token-auth-extra-groups=system:bootstrappers:d8-node-manager",
  ];
  const environment = { HOME: folder, HTTPS_PROXY: behind.proxy, AWS_CA_BUNDLE: bundle, AWS_EC2_METADATA_DISABLED: "true" };
  const child = await supervision.start(program, flags, { log, folder, environment });
  t.after(async () => {
    child.signal("SIGKILL");
    await child.exit();
  });
  return log;
}

/** Hands every request on as it is: the name of the host says which service is meant. */
function forwardTo(url: string): RequestListener {
  return (incoming, outgoing) => {
    const forwarded = request(new URL(incoming.url ?? "/", url), { method: incoming.method, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  };
}
