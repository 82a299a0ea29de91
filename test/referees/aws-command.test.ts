/** The real `aws` command works against the simulated AWS, as an operator types it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { realWorld } from "../../src/runtime/world.ts";
import { type Cloud, createCloud } from "../../src/sandbox/cloud/cloud.ts";
import { launchNodes, type Network, standardNetwork } from "../../src/sandbox/cloud/network.ts";
import { Shapes } from "../../src/sandbox/cloud/protocol/shapes.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { classicWebAcls } from "../../src/sandbox/cloud/waf/waf-regional.ts";
import { obtainPython, type PythonProgram } from "./python.ts";

const world = realWorld();
const shapes = new Shapes();
const image = "ami-0123456789abcdef0";
let program: PythonProgram;
let home: string;

before(async () => {
  program = (await obtainPython({ world, say: (line) => process.stderr.write(`${line}\n`) })).aws;
  home = await mkdtemp(join(tmpdir(), "fairlead-aws-"));
});

after(() => rm(home, { recursive: true, force: true }));

interface Ran {
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

interface Bed {
  readonly cloud: Cloud;
  readonly network: Network;
  /** Runs `aws …`; every blank separates arguments but those within single quotes. */
  run(command: string): Promise<Ran>;
  /** What a command that must succeed prints. */
  aws(command: string): Promise<string>;
  /** The same, read as JSON. */
  json(command: string): Promise<unknown>;
}

/** A cluster's network with three nodes in a cloud of its own, behind a socket. */
async function bed(t: TestContext): Promise<Bed> {
  const cloud = createCloud({ world, shapes, settings: { speed: Number.POSITIVE_INFINITY } });
  const network = standardNetwork(cloud, { clusterId: "test" });
  launchNodes(cloud, network, 3);
  const served = await serve(cloud);
  t.after(() => served.close());
  const run = (command: string) => runAws(served.url, argumentsOf(command));
  const aws = async (command: string) => {
    const { status, output, errors } = await run(command);
    assert.equal(status, 0, `aws ${command}: ${errors}`);
    return output.trimEnd();
  };
  return { cloud, network, run, aws, json: async (command) => JSON.parse(await aws(command)) };
}

function runAws(url: string, args: readonly string[]): Promise<Ran> {
  const environment = {
    PATH: world.environment.PATH,
    // Whoever runs the tests may have profiles, endpoints and a pager of their own.
    HOME: home,
    AWS_ENDPOINT_URL: url,
    AWS_DEFAULT_REGION: "us-east-1",
    AWS_DEFAULT_OUTPUT: "json",
    AWS_ACCESS_KEY_ID: "AKIAREFEREEREFEREE00",
    AWS_SECRET_ACCESS_KEY: "referee",
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_MAX_ATTEMPTS: "1",
  };
  return new Promise((resolve) => {
    execFile(program.command, [...program.args, ...args], { env: environment }, (error, output, errors) => {
      resolve({ status: error === null ? 0 : Number(error.code), output, errors });
    });
  });
}

function argumentsOf(command: string): readonly string[] {
  return [...command.matchAll(/'([^']*)'|\S+/g)].map(([whole, quoted]) => quoted ?? whole);
}

describe("the aws command", { concurrency: 2 }, () => {
  test("says who one is", async (t) => {
    const { json } = await bed(t);
    const identity = (await json("sts get-caller-identity")) as { Account: string; Arn: string };
    assert.equal(identity.Account, "123456789012");
    assert.equal(identity.Arn, "arn:aws:iam::123456789012:user/owner");
  });

  test("lists the running instances of a cluster, picking fields", async (t) => {
    const { aws, cloud } = await bed(t);
    const text = await aws(
      "ec2 describe-instances --output text --filters Name=tag:kubernetes.io/cluster/test,Values=owned" +
        " Name=instance-state-name,Values=running --query 'Reservations[].Instances[].[InstanceId,PrivateIpAddress,Placement.AvailabilityZone]'",
    );
    const expected = cloud.account.ec2.instances.values().map(({ id }) => id);
    assert.deepEqual(
      text
        .split("\n")
        .map((line) => line.split("\t")[0])
        .sort(),
      [...expected].sort(),
    );
    assert.match(text, /^i-0[0-9a-f]{16}\t10\.0\.\d+\.\d+\tus-east-1[abc]$/m);
  });

  test("runs an instance, waits for it, and terminates it", async (t) => {
    const { aws, json, network } = await bed(t);
    const id = await aws(
      `ec2 run-instances --image-id ${image} --instance-type t3.micro --subnet-id ${network.privateSubnetIds[0]} --output text` +
        " --tag-specifications 'ResourceType=instance,Tags=[{Key=Name,Value=extra}]' --query 'Instances[0].InstanceId'",
    );
    assert.match(id, /^i-0[0-9a-f]{16}$/);
    assert.equal(await aws(`ec2 wait instance-running --instance-ids ${id}`), "");
    const ending = await json(`ec2 terminate-instances --instance-ids ${id} --query 'TerminatingInstances[].CurrentState.Name'`);
    assert.deepEqual(ending, ["shutting-down"]);
    const left = await json("ec2 describe-instances --filters Name=tag:Name,Values=extra --query 'Reservations[].Instances[].State.Name'");
    assert.deepEqual(left, ["terminated"]);
  });

  test("tags things and finds them by their tags", async (t) => {
    const { aws, json, network } = await bed(t);
    await aws(`ec2 create-tags --resources ${network.vpcId} ${network.nodeGroupId} --tags Key=team,Value=network Key=empty,Value=`);
    const tagged = (await json(
      "ec2 describe-tags --filters Name=key,Values=team --query 'Tags[].[ResourceType,ResourceId,Value]'",
    )) as string[][];
    assert.deepEqual(tagged.sort(), [
      ["security-group", network.nodeGroupId, "network"],
      ["vpc", network.vpcId, "network"],
    ]);
    await aws(`ec2 delete-tags --resources ${network.vpcId} --tags Key=team`);
    const found = await json("ec2 describe-vpcs --filters Name=tag-key,Values=team --query Vpcs");
    assert.deepEqual(found, []);
  });

  test("reads long lists in pieces and goes on where it stopped", async (t) => {
    const { cloud, network, json } = await bed(t);
    launchNodes(cloud, network, 9);
    type Page = { Reservations: { Instances: { InstanceId: string }[] }[]; NextToken?: string };
    const list = "ec2 describe-instances --page-size 5 --max-items";
    const first = (await json(`${list} 7`)) as Page;
    assert.equal(first.Reservations.length, 7);
    const rest = (await json(`${list} 100 --starting-token ${first.NextToken}`)) as Page;
    const ids = [...first.Reservations, ...rest.Reservations].map(({ Instances }) => Instances[0]!.InstanceId);
    assert.equal(new Set(ids).size, 12);
    assert.equal(rest.NextToken, undefined);
  });

  test("opens a port of a security group and closes it again", async (t) => {
    const { aws, json, network } = await bed(t);
    const group = await aws(
      `ec2 create-security-group --group-name web --description web --vpc-id ${network.vpcId} --query GroupId --output text`,
    );
    const rule = await aws(
      `ec2 authorize-security-group-ingress --group-id ${group} --protocol tcp --port 443 --cidr 203.0.113.0/24` +
        " --query 'SecurityGroupRules[0].SecurityGroupRuleId' --output text",
    );
    const described = await json(`ec2 describe-security-groups --group-ids ${group} --query 'SecurityGroups[0].IpPermissions'`);
    assert.deepEqual(described, [
      {
        IpProtocol: "tcp",
        FromPort: 443,
        ToPort: 443,
        UserIdGroupPairs: [],
        IpRanges: [{ CidrIp: "203.0.113.0/24" }],
        Ipv6Ranges: [],
        PrefixListIds: [],
      },
    ]);
    await aws(`ec2 revoke-security-group-ingress --group-id ${group} --security-group-rule-ids ${rule}`);
    await aws(`ec2 delete-security-group --group-id ${group}`);
  });

  test("shows routes as text", async (t) => {
    const { aws, network } = await bed(t);
    const text = await aws(
      `ec2 describe-route-tables --route-table-ids ${network.publicTableId} --output text` +
        " --query 'RouteTables[].Routes[].[DestinationCidrBlock,GatewayId,State]'",
    );
    assert.deepEqual(text.split("\n").sort(), [`0.0.0.0/0\t${network.internetGatewayId}\tactive`, "10.0.0.0/16\tlocal\tactive"]);
  });

  test("makes a classic load balancer, registers an instance, shows its health and deletes it", async (t) => {
    const { aws, json, network, cloud } = await bed(t);
    const [node] = cloud.account.ec2.instances.values();
    const name = await aws(
      `elb create-load-balancer --load-balancer-name web --subnets ${network.publicSubnetIds.join(" ")} --security-groups ${network.nodeGroupId}` +
        " --listeners Protocol=TCP,LoadBalancerPort=80,InstanceProtocol=TCP,InstancePort=31080 --query DNSName --output text",
    );
    assert.match(name, /^web-\d+\.us-east-1\.elb\.amazonaws\.com$/);
    await aws(`elb register-instances-with-load-balancer --load-balancer-name web --instances ${node!.id}`);
    const health = await json("elb describe-instance-health --load-balancer-name web --query 'InstanceStates[].InstanceId'");
    assert.deepEqual(health, [node!.id]);
    const described = await json("elb describe-load-balancers --query 'LoadBalancerDescriptions[].[LoadBalancerName,Scheme,VPCId]'");
    assert.deepEqual(described, [["web", "internet-facing", network.vpcId]]);
    assert.equal(await aws("elb delete-load-balancer --load-balancer-name web"), "");
    assert.deepEqual(await json("elb describe-load-balancers --query LoadBalancerDescriptions"), []);
  });

  test("makes a network load balancer with a listener, waits for it and shows the health of its targets", async (t) => {
    const { aws, json, network, cloud } = await bed(t);
    const [node] = cloud.account.ec2.instances.values();
    const balancer = await aws(
      `elbv2 create-load-balancer --name net --type network --subnets ${network.publicSubnetIds.join(" ")}` +
        " --query 'LoadBalancers[0].LoadBalancerArn' --output text",
    );
    assert.match(balancer, /:loadbalancer\/net\/net\/[0-9a-f]{16}$/);
    const group = await aws(
      `elbv2 create-target-group --name tcp --protocol TCP --port 31080 --vpc-id ${network.vpcId}` +
        " --query 'TargetGroups[0].TargetGroupArn' --output text",
    );
    await aws(`elbv2 register-targets --target-group-arn ${group} --targets Id=${node!.id}`);
    await aws(
      `elbv2 create-listener --load-balancer-arn ${balancer} --protocol TCP --port 80 --default-actions Type=forward,TargetGroupArn=${group}`,
    );
    await aws(`elbv2 wait load-balancer-available --load-balancer-arns ${balancer}`);
    const health = await json(`elbv2 describe-target-health --target-group-arn ${group} --query 'TargetHealthDescriptions[].Target'`);
    assert.deepEqual(health, [{ Id: node!.id, Port: 31080 }]);
    const listed = await json("elbv2 describe-load-balancers --query 'LoadBalancers[].[LoadBalancerName,Type,State.Code]'");
    assert.deepEqual(listed, [["net", "network", "active"]]);
  });

  test("makes an application load balancer with a certificate and rules, guards it, and finds it by its tags", async (t) => {
    const { aws, json, network, cloud } = await bed(t);
    const certificate = await aws(
      "acm request-certificate --domain-name shop.example.com --validation-method DNS --query CertificateArn --output text",
    );
    await aws(`acm wait certificate-validated --certificate-arn ${certificate}`);
    const balancer = await aws(
      `elbv2 create-load-balancer --name shop --subnets ${network.publicSubnetIds.join(" ")} --tags Key=team,Value=shop` +
        " --query 'LoadBalancers[0].LoadBalancerArn' --output text",
    );
    const listener = await aws(
      `elbv2 create-listener --load-balancer-arn ${balancer} --protocol HTTPS --port 443 --certificates CertificateArn=${certificate}` +
        " --default-actions Type=fixed-response,FixedResponseConfig={StatusCode=404} --query 'Listeners[0].ListenerArn' --output text",
    );
    for (const [priority, path] of ["/a/*", "/b/*"].entries()) {
      await aws(
        `elbv2 create-rule --listener-arn ${listener} --priority ${20 - priority} --conditions Field=path-pattern,Values=${path}` +
          " --actions Type=redirect,RedirectConfig={Host=new.example.com,StatusCode=HTTP_302}",
      );
    }
    const rules = await json(`elbv2 describe-rules --listener-arn ${listener} --query 'Rules[].[Priority,Conditions[0].Values[0]]'`);
    assert.deepEqual(rules, [
      ["19", "/b/*"],
      ["20", "/a/*"],
      ["default", null],
    ]);
    assert.deepEqual(await json(`acm describe-certificate --certificate-arn ${certificate} --query Certificate.InUseBy`), [balancer]);
    const acl = await aws(
      "wafv2 create-web-acl --name guard --scope REGIONAL --default-action Allow={}" +
        " --visibility-config SampledRequestsEnabled=false,CloudWatchMetricsEnabled=false,MetricName=m --query Summary.ARN --output text",
    );
    await aws(`wafv2 associate-web-acl --web-acl-arn ${acl} --resource-arn ${balancer}`);
    assert.equal(await aws(`wafv2 get-web-acl-for-resource --resource-arn ${balancer} --query WebACL.Name --output text`), "guard");
    classicWebAcls(cloud.account).put("1", { id: "1", name: "old" });
    await aws(`waf-regional associate-web-acl --web-acl-id 1 --resource-arn ${balancer}`);
    const old = await aws(`waf-regional get-web-acl-for-resource --resource-arn ${balancer} --query WebACLSummary.Name --output text`);
    assert.equal(old, "old");
    assert.equal(await aws("shield get-subscription-state --query SubscriptionState --output text"), "INACTIVE");
    const found = await json(
      "resourcegroupstaggingapi get-resources --tag-filters Key=team,Values=shop --query 'ResourceTagMappingList[].ResourceARN'",
    );
    assert.deepEqual(found, [balancer]);
  });

  test("gets passwords for registries", async (t) => {
    const { aws } = await bed(t);
    assert.match(await aws("ecr get-login-password"), /^\S{100,}$/);
    assert.match(await aws("ecr-public get-login-password"), /^\S{100,}$/);
  });

  test("reports refusals by their code, and fails", async (t) => {
    const { run, cloud } = await bed(t);
    const refusals = {
      "ec2 describe-instances --instance-ids i-0123456789abcdef0": /\(InvalidInstanceID\.NotFound\).*'i-0123456789abcdef0'/,
      "ec2 describe-vpcs --dry-run": /\(DryRunOperation\)/,
      "elb describe-load-balancers --load-balancer-names nobody": /\(LoadBalancerNotFound\)/,
      "elbv2 describe-target-groups --names nobody": /\(TargetGroupNotFound\)/,
      "acm describe-certificate --certificate-arn arn:aws:acm:us-east-1:123456789012:certificate/0": /\(ResourceNotFoundException\)/,
    };
    for (const [command, expected] of Object.entries(refusals)) {
      const { status, errors } = await run(command);
      assert.notEqual(status, 0, command);
      assert.match(errors, expected);
    }
    cloud.controls.deny("ec2:DescribeSubnets");
    assert.match((await run("ec2 describe-subnets")).errors, /\(UnauthorizedOperation\)/);
  });
});
