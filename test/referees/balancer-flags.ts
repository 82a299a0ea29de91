/** What a load balancer controller is told of its place: the reference's, and ours. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { realWorld } from "../../src/runtime/world.ts";
import { freePort } from "../../src/sandbox/cluster/real/free-port.ts";
import type { TestCluster } from "../bed/cluster.ts";

export interface BalancerPlace {
  readonly clusterName: string;
  readonly region: string;
  readonly vpc: string;
}

/** What both are told alike. */
export const placeFlags = ({ clusterName, region, vpc }: BalancerPlace): readonly string[] => [
  `--cluster-name=${clusterName}`,
  `--aws-region=${region}`,
  `--aws-vpc-id=${vpc}`,
  "--enable-leader-election=false",
  "--health-probe-bind-addr=0",
];

const services = ["EC2", "Elastic Load Balancing v2", "ACM", "WAFV2", "WAF Regional", "Shield", "Resource Groups Tagging API", "STS"];

/** All of AWS at one address. */
export const endpointFlag = (url: string) => `--aws-api-endpoints=${services.map((name) => `${name}=${url}`).join(",")}`;

/** The reference serves its webhooks whether anybody asks them or not, and does not start without a certificate for them. */
export async function webhookFlags({ real: { folder, authority } }: TestCluster): Promise<readonly string[]> {
  const port = await freePort(realWorld());
  const certificates = join(folder, `webhook-${port}`);
  const { cert, key } = authority.server({ commonName: "webhook" }, ["127.0.0.1"]);
  await mkdir(certificates, { recursive: true });
  await writeFile(join(certificates, "tls.crt"), cert);
  await writeFile(join(certificates, "tls.key"), key);
  return [`--webhook-bind-port=${port}`, `--webhook-cert-dir=${certificates}`];
}
