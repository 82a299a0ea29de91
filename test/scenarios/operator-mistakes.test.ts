/** What operators get wrong most often: for each mistake one command says what is wrong and what to do, on one screen. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { explainService } from "../../src/commands/explain.ts";
import { plan } from "../../src/commands/plan.ts";
import { asTable } from "../../src/doctor/report.ts";
import { nodes, pods } from "../../src/kube/builtin.ts";
import { command } from "../bed/command.ts";
import { type DoctorWorld, doctorWorld, type Look } from "../bed/doctor-world.ts";
import { certificate, type ServiceWish, type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

/** A terminal as most people have it. */
const screen = { lines: 50, columns: 120 };

interface Mistake {
  readonly what: string;
  /** Makes the mistake and runs the one command; resolves with what it prints. */
  run(t: TestContext): Promise<string>;
  readonly wrong: RegExp;
  readonly remedy: RegExp;
}

/** `fairlead doctor`, as the controllers' pod would run it. */
function doctor(make: (world: DoctorWorld) => Promise<void> | void, look?: Look): Mistake["run"] {
  return async () => {
    const world = await doctorWorld();
    await make(world);
    return asTable(await world.findings({ flags: ["--features=nodes,load-balancers"], ...look }));
  };
}

/** `fairlead plan service/web`, or `explain` of it once the controllers have tried for five minutes. */
function service(which: typeof plan, wish: ServiceWish, argv: readonly string[] = ["service/web"]): Mistake["run"] {
  return async (t) => {
    const world: ServiceWorld = await serviceWorld();
    t.after(() => world.close());
    if (which === explainService) world.start();
    await world.create("web", wish);
    if (which === explainService) await world.world.advance(300_000);
    const { out, err } = await command(world, which, ...argv);
    return out + err;
  };
}

async function badKubeconfig(t: TestContext): Promise<string> {
  const world = await serviceWorld();
  t.after(() => world.close());
  const config = "current-context: prod\ncontexts: [{name: prod, context: {cluster: shop}}]\nclusters: [{name: other, cluster: {}}]\n";
  await world.world.files.write("/k/config", config, 0o600);
  const { out, err } = await command({ ...world, flags: ["--kubeconfig=/k/config"] }, plan, "--all-namespaces");
  return out + err;
}

const config = (text: string): Look => ({
  flags: ["--features=nodes,load-balancers", "--cloud-config=/cloud.conf"],
  files: { "/cloud.conf": `[Global]\n${text}\n` },
});

const mistakes: readonly Mistake[] = [
  {
    what: "no subnet is tagged for load balancers",
    run: doctor(({ cloud }) => {
      for (const { id } of [...cloud.account.ec2.subnets.values()]) cloud.account.ec2.subnets.update(id, { tags: {} });
    }),
    wrong: /^subnets +warning +none carries kubernetes\.io\/role\/elb/m,
    remedy: /→ aws --region us-east-1 ec2 create-tags --resources subnet-.* --tags Key=kubernetes\.io\/role\/elb,Value=1/,
  },
  {
    what: "a typo in the key of an annotation",
    run: service(plan, { annotations: { intrnal: "true" } }),
    wrong: /\? .*aws-load-balancer-intrnal is not known and has no effect/,
    remedy: /did you mean .*aws-load-balancer-internal/,
  },
  {
    what: "a typo in the value of an annotation",
    run: service(plan, { annotations: { "connection-idle-timeout": "6o" } }),
    wrong: /! .*aws-load-balancer-connection-idle-timeout=6o/,
    remedy: /takes a number of seconds/,
  },
  {
    what: "a value in the wrong case",
    run: service(plan, { annotations: { internal: "False" } }),
    wrong: /\? .*aws-load-balancer-internal="False" is treated as internal/,
    remedy: /write "true", or "false" for internet-facing/,
  },
  {
    what: "a certificate that does not exist",
    run: service(explainService, { annotations: { "ssl-cert": certificate.replace("11111111", "99999999") } }),
    wrong: /What to do next\n.*aws-load-balancer-ssl-cert does not exist in this account and region/,
    remedy: /request or import it in the region of the cluster/,
  },
  {
    what: "a permission that is missing",
    run: doctor(({ cloud }) => {
      cloud.controls.change({
        policy: [{ effect: "allow", actions: ["sts:*", "iam:*", "ec2:*"] }],
      });
    }),
    wrong: /^permissions +problem +elasticloadbalancing:\w+.* not allowed to role shop-node \(load-balancers\)/m,
    remedy: /→ aws --region us-east-1 iam put-role-policy --role-name shop-node .*file:\/\/deploy\/iam\/load-balancers\.json/,
  },
  {
    what: "a wrong cluster id",
    run: doctor(() => {}, config("KubernetesClusterID = shp")),
    wrong: /^cluster id +problem +it is set to shp, but the instances of the Nodes are tagged for shop$/m,
    remedy: /→ # set KubernetesClusterID=shop in the \[Global\] section of the cloud config; tag nothing for shp/,
  },
  {
    what: "two cluster tags on one instance",
    run: doctor(({ cloud, instances: [, second] }) => {
      const { instances } = cloud.account.ec2;
      instances.update(second!.id, { tags: { ...instances.get(second!.id)!.tags, "kubernetes.io/cluster/other": "owned" } });
    }),
    wrong: /^instances +problem +tagged for shop and for another cluster too: i-\w+ \(other\)/m,
    remedy: /→ aws --region us-east-1 ec2 delete-tags --resources i-\w+ --tags Key=kubernetes\.io\/cluster\/other /,
  },
  {
    what: "a kubelet without --cloud-provider=external",
    run: doctor(async ({ kube }) => {
      await kube.create(nodes, { metadata: { name: "plain" } });
    }),
    wrong: /^kubelets +problem +.*plain; their kubelet lacks --cloud-provider=external/m,
    remedy: /→ # add --cloud-provider=external to kubelet's flags, then: kubectl delete node/,
  },
  {
    what: "a load balancer class that Fairlead does not serve",
    run: service(explainService, { spec: { loadBalancerClass: "example.org/nlb" } }),
    wrong: /Who serves it\n {2}another controller, by loadBalancerClass example\.org\/nlb/,
    remedy: /create the Service again without spec\.loadBalancerClass/,
  },
  {
    what: "two controller managers that do not compete for one Lease",
    run: doctor(async ({ kube }) => {
      const labels = { "app.kubernetes.io/part-of": "fairlead", "app.kubernetes.io/component": "controller-manager" };
      const containers = [{ name: "manager", image: "x", args: ["--cloud-provider=aws", "--leader-elect=false"] }];
      for (const namespace of ["kube-system", "default"]) {
        await kube.create(pods, { metadata: { namespace, name: "fairlead-controller-manager-0", labels }, spec: { containers } });
      }
    }),
    wrong: /^controllers +problem +several work at once, against each other: .*fairlead-controller-manager-0 \(no election\)/m,
    remedy: /→ # give all of them the same --leader-elect-resource-name and namespace/,
  },
  {
    what: "a kubeconfig that contradicts itself",
    run: badKubeconfig,
    wrong: /kubeconfig \/k\/config: contexts\["prod"\]\.context\.cluster names cluster "shop", which the file does not have/,
    remedy: /it has "other"/,
  },
  {
    what: "credentials that have expired",
    run: async () => {
      const world = await doctorWorld();
      const arn = `arn:aws:iam::${world.cloud.account.id}:role/ann`;
      const { credentials } = world.cloud.account.principals.open(arn, "ann", 900);
      world.cloud.account.principals.expire("ann");
      const environment = {
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        AWS_SESSION_TOKEN: credentials.sessionToken,
        AWS_REGION: "us-east-1",
      };
      return asTable(await world.findings({ flags: ["--features=nodes,load-balancers"], environment }));
    },
    wrong: /^credentials +problem +.*expired/m,
    remedy: /→ .*aws sts get-caller-identity/,
  },
];

for (const { what, run, wrong, remedy } of mistakes) {
  test(`one command tells of ${what}, and what to do, on one screen`, async (t) => {
    const printed = await run(t);
    assert.match(printed, wrong, printed);
    assert.match(printed, remedy, printed);
    const lines = printed.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / screen.columns)), 0);
    assert.ok(lines <= screen.lines, `${lines} lines:\n${printed}`);
  });
}
