/** What the doctor asks about lies in the partition it runs in: elsewhere AWS refuses the ARN before it looks at the permission. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cloud, Clouds } from "../aws/cloud.ts";
import { askPermissions } from "./ask-permissions.ts";
import { actionsOfGrant, permissions } from "./permissions.ts";
import { simulate } from "./policy-simulator.ts";
import { probe, type Samples } from "./probes.ts";
import { checkableFeatures } from "./programs.ts";

const ask = { signal: new AbortController().signal, cause: "doctor" };
const regions = {
  aws: "eu-west-1",
  "aws-cn": "cn-northwest-1",
  "aws-us-gov": "us-gov-east-1",
  "aws-iso": "us-iso-west-1",
  "aws-eusc": "eusc-de-east-1",
};

function samplesIn(region: string): Samples {
  const [instance, networkInterface, securityGroup, routeTable, vpc] = ["i-1", "eni-1", "sg-1", "rtb-1", "vpc-1"] as const;
  return { instance, networkInterface, securityGroup, routeTable, vpc, region, account: "123456789012", clusterId: "shop" };
}

/** A cloud that notes what it is asked. */
function listening(inputs: object[]): Cloud {
  const call = async (_action: unknown, input: object) => {
    inputs.push(input);
    return {};
  };
  return { call } as unknown as Cloud;
}

function arnsIn(inputs: readonly object[]): readonly string[] {
  return [...JSON.stringify(inputs).matchAll(/"(arn:[^"]+)"/g)].map(([, arn = ""]) => arn);
}

for (const [partition, region] of Object.entries(regions)) {
  test(`in ${region} every ARN of the doctor's questions is of the partition ${partition}`, async () => {
    const inputs: object[] = [];
    for (const { calls } of permissions["load-balancers"]) {
      for (const action of calls) await probe(listening(inputs), "load-balancers", action, samplesIn(region), ask);
    }
    const asked: string[] = [];
    const clouds = {
      in: (where: string) => {
        asked.push(where);
        return listening(inputs);
      },
    } as unknown as Clouds;
    const role = `arn:${partition}:iam::123456789012:role/shop`;
    const grants = checkableFeatures.flatMap((feature) => permissions[feature]);
    const questions = grants.flatMap((grant) => actionsOfGrant(grant).map((action) => ({ action, grant })));
    await simulate(clouds, role, questions, samplesIn(region), ask);
    const arns = arnsIn(inputs);
    assert.ok(arns.length > 8, `${arns}`);
    assert.deepEqual(
      arns.filter((arn) => !arn.startsWith(`arn:${partition}:`)),
      [],
    );
    assert.deepEqual(asked, [region], "credentials of a partition are known only in it");
  });
}

for (const [partition, region] of Object.entries(regions)) {
  test(`in ${region} the registry's login is tried in ${partition} only, and that of the public registry where there is one`, async () => {
    const asked = new Set<string>();
    const cloudIn = (where: string) => ({ ...listening([]), region: where, call: async () => void asked.add(where) }) as unknown as Cloud;
    const clouds = { in: cloudIn } as unknown as Clouds;
    const subject = { arn: `arn:${partition}:iam::123456789012:root`, kind: "caller" } as const;
    const { answers } = await askPermissions({
      cloud: cloudIn(region),
      clouds,
      subject,
      features: ["registry"],
      samples: samplesIn(region),
      ask,
    });
    assert.deepEqual([...asked].sort(), partition === "aws" ? [region, "us-east-1"] : [region]);
    assert.equal(
      answers.some(({ action }) => action === "ecr-public:GetAuthorizationToken"),
      partition === "aws",
    );
  });
}

test("what EC2 allows on everything or nothing is asked about everything", async () => {
  const inputs: object[] = [];
  const clouds = { in: () => listening(inputs) } as unknown as Clouds;
  const grant = { sid: "Read", why: "", calls: [], resources: ["*"] };
  const questions = [{ action: "ec2:DescribeAccountAttributes", grant }];
  await simulate(clouds, "arn:aws:iam::123456789012:role/shop", questions, samplesIn("us-east-1"), ask);
  assert.deepEqual((inputs[0] as { ResourceArns?: unknown }).ResourceArns, ["*"]);
});
