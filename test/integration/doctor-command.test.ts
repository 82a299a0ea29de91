/** `fairlead doctor` as an operator and as the chart's init container run it: a process, a real API server, AWS over sockets. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Finding } from "../../src/doctor/finding.ts";
import { actionsOfFeature } from "../../src/doctor/permissions.ts";
import { nodes } from "../../src/kube/builtin.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { launchNodes, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { type Bed, bed } from "../bed/bed.ts";

async function soundCluster(t: TestContext, { cluster, fairlead }: Bed) {
  const cloud = createCloud({ world: realWorld() });
  const network = standardNetwork(cloud, { clusterId: "shop" });
  const instances = launchNodes(cloud, network, 2).map(({ id }) => cloud.account.ec2.instances.update(id, { state: "running" }));
  for (const { privateDnsName: name, zone, id } of instances) {
    await cluster.admin.create(nodes, { metadata: { name }, spec: { providerID: `aws:///${zone}/${id}` } });
  }
  const [aws, metadata] = await Promise.all([serve(cloud), serveTransport(cloud.imds(instances[0]!.id))]);
  t.after(() => Promise.all([aws.close(), metadata.close()]));
  const environment = { AWS_ENDPOINT_URL: aws.url, AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url };
  const kubeconfig = await (await cluster.fairlead()).kubeconfig();
  const doctor = async (...flags: readonly string[]) => {
    const process = await fairlead(["doctor", ...flags], { environment: { ...environment, KUBECONFIG: kubeconfig } });
    const { code } = await process.exit();
    return { code, text: await process.logs() };
  };
  return { cloud, instances, doctor };
}

test("with the shipped roles the doctor can look at everything, and ends with 0 when all is well", async (t) => {
  const { doctor } = await soundCluster(t, await bed(t));
  const { code, text } = await doctor("--features=nodes,load-balancers,routes,tagging");
  assert.equal(code, 0, text);
  assert.match(text, /^CHECK +STATUS +WHAT\n/);
  assert.match(text, /\nAll is well\.\n$/);
  assert.match(text, /^api server +ok +v1\.36/m);
});

test("a problem makes it end with 1, in a table and in JSON; --exit-zero is for those who only want to read", async (t) => {
  const { cloud, doctor } = await soundCluster(t, await bed(t));
  const denied = ["ec2:DescribeSubnets", "elasticloadbalancing:RegisterTargets"];
  const features = ["nodes", "load-balancers"] as const;
  const needed = features.flatMap(actionsOfFeature).filter((action) => !denied.includes(action));
  cloud.controls.change({ policy: [{ effect: "allow", actions: [...needed, "sts:*", "iam:SimulatePrincipalPolicy"] }] });
  const table = await doctor();
  assert.equal(table.code, 1);
  assert.match(
    table.text,
    /^permissions +problem +ec2:DescribeSubnets, elasticloadbalancing:RegisterTargets are not allowed to role shop-node /m,
  );
  assert.match(table.text, /\n +→ aws --region us-east-1 iam put-role-policy --role-name shop-node /);
  assert.match(table.text, /\n1 problem\n$/);
  const { code, text } = await doctor("-o", "json", "--exit-zero");
  assert.equal(code, 0);
  const { counts, findings } = JSON.parse(text) as { counts: Record<string, number>; findings: Finding[] };
  assert.equal(counts.problem, 1);
  assert.deepEqual(
    findings.filter(({ level }) => level === "problem").map(({ check }) => check),
    ["permissions"],
  );
});

test("a wrong call ends with 64 and says what is wrong", async (t) => {
  const { fairlead } = await bed(t);
  const process = await fairlead(["doctor", "--features=everything"]);
  assert.equal((await process.exit()).code, 64);
  assert.match(await process.logs(), /"everything" is not one of nodes, load-balancers, .*, registry/);
});
