/** A person's command on a machine outside AWS: what nobody tells it, it finds in the cluster. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { stringify } from "yaml";
import { explainService } from "../../src/commands/explain.ts";
import { plan } from "../../src/commands/plan.ts";
import { command } from "../bed/command.ts";
import { type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

const kubeconfig = stringify({
  "current-context": "other",
  contexts: [
    { name: "prod", context: { cluster: "prod", namespace: "shop" } },
    { name: "other", context: { cluster: "nowhere" } },
  ],
  clusters: [{ name: "prod", cluster: { server: "http://cluster" } }],
});

/** A cluster in eu-west-1, and a desk with nothing but a kubeconfig and credentials. */
async function desk(t: TestContext): Promise<{ world: ServiceWorld; run: (...argv: string[]) => ReturnType<typeof command> }> {
  const world = await serviceWorld({ region: "eu-west-1" });
  t.after(() => world.close());
  await world.world.files.write("/k/config", kubeconfig, 0o600);
  await world.say("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
  const spec = { type: "LoadBalancer", ports: [{ port: 80, nodePort: 31080 }] };
  await world.say("POST", "/api/v1/namespaces/shop/services", { metadata: { name: "web" }, spec });
  const flags = ["--kubeconfig=/k/config", "--context=prod"];
  return { world, run: (...argv) => command({ world: world.world, aws: world.aws, cluster: world.cluster, flags }, plan, ...argv) };
}

/** The pod of the controllers, with this cloud config in a ConfigMap. */
async function install(world: ServiceWorld, cloudConfig: string, volume: object = { configMap: { name: "manager" } }): Promise<void> {
  const args = ["--cloud-provider=aws", "--cloud-config=/etc/fairlead/cloud.conf", "--cluster-cidr=10.244.0.0/16"];
  const container = { name: "manager", image: "x", args, volumeMounts: [{ name: "config", mountPath: "/etc/fairlead" }] };
  await world.say("POST", "/api/v1/namespaces/kube-system/configmaps", {
    metadata: { name: "manager" },
    data: { "cloud.conf": cloudConfig },
  });
  await world.say("POST", "/api/v1/namespaces/kube-system/pods", {
    metadata: {
      name: "manager-0",
      labels: { "app.kubernetes.io/part-of": "fairlead", "app.kubernetes.io/component": "controller-manager" },
    },
    spec: { containers: [container], volumes: [{ name: "config", ...volume }] },
  });
}

/** The pod of `fairlead cluster`, with its file in a ConfigMap, or elsewhere. */
async function installHost(world: ServiceWorld, config: string, volume: object = { configMap: { name: "host" } }): Promise<void> {
  const args = ["cluster", "--config=/etc/fairlead/cluster.yaml"];
  const container = { name: "cluster", image: "x", args, volumeMounts: [{ name: "config", mountPath: "/etc/fairlead" }] };
  const data = { "cluster.yaml": config, "cloud.conf": "[Global]\nElbSecurityGroup=sg-of-the-controllers\nNLBSecurityGroupMode=Managed\n" };
  await world.say("POST", "/api/v1/namespaces/kube-system/configmaps", { metadata: { name: "host" }, data });
  const labels = { "app.kubernetes.io/part-of": "fairlead", "app.kubernetes.io/component": "cluster" };
  await world.say("POST", "/api/v1/namespaces/kube-system/pods", {
    metadata: { name: "cluster-0", labels },
    spec: { containers: [container], volumes: [{ name: "config", ...volume }] },
  });
}

test("region, VPC, cluster id and namespace are those of the Nodes and the context", async (t) => {
  const { run } = await desk(t);
  const { status, out, err } = await run("service/web");
  assert.equal(status, 2, err);
  assert.match(out, /^service shop\/web: \d+ steps$/m);
  assert.match(out, /create classic load balancer/);
  assert.equal(err, "");
});

test("the same plan comes out as with everything told", async (t) => {
  const { world, run } = await desk(t);
  const told = await command(world, plan, "service/shop/web", "-o", "json");
  assert.equal((await run("service/web", "-o", "json")).out, told.out);
});

test("the controllers' own cloud config is gone by, and their --cluster-cidr", async (t) => {
  const { world, run } = await desk(t);
  await install(world, `[Global]\nElbSecurityGroup=sg-of-the-controllers\n`);
  assert.match((await run("service/web", "-o", "json")).out, /sg-of-the-controllers/);
  const routes = await run("routes");
  assert.match(routes.out, /^routes: /, routes.err);
});

test("a cloud config that cannot be read from here is named; what is given by flag goes first", async (t) => {
  const { world, run } = await desk(t);
  await install(world, "", { hostPath: { path: "/etc/kubernetes" } });
  const { status, err } = await run("service/web");
  assert.equal(status, 2);
  assert.match(err, /pod kube-system\/manager-0 are given --cloud-config=\/etc\/fairlead\/cloud\.conf, which cannot be read from here/);
  assert.equal((await run("service/web", "--cloud-config=/etc/cloud")).err, "");
});

test("a Service that is named without a namespace is that of --namespace before that of the context", async (t) => {
  const { run } = await desk(t);
  assert.match((await run("service/web", "-n", "default")).err, /there is no Service default\/web/);
});

test("explain finds its way alike", async (t) => {
  const { world } = await desk(t);
  const flags = ["--kubeconfig=/k/config", "--context=prod"];
  const { status, out, err } = await command(
    { world: world.world, aws: world.aws, cluster: world.cluster, flags },
    explainService,
    "service/web",
  );
  assert.equal(status, 0, err);
  assert.match(out, /^Service shop\/web$/m);
});

test("an API server that does not answer is said at once, and not taken for an account that tells nothing", async (t) => {
  const { world } = await desk(t);
  const cluster = { ...world.cluster, send: () => Promise.reject(new Error("connect ECONNREFUSED")) };
  const flags = ["--kubeconfig=/k/config", "--context=prod"];
  const { status, err } = await command({ world: world.world, aws: world.aws, cluster, flags }, plan, "-A");
  assert.equal(status, 1);
  assert.equal(err, "fairlead plan: connect ECONNREFUSED\n");
});

const hostFile = `
process: {cloud-config: /etc/fairlead/cloud.conf}
controller-manager: {cluster-name: bazaar, cluster-cidr: 10.244.0.0/16}
`;

test("where fairlead cluster runs, its file tells the cloud config, the cluster's name and the pod CIDRs", async (t) => {
  const { world, run } = await desk(t);
  await installHost(world, hostFile);
  const annotations = { "service.beta.kubernetes.io/aws-load-balancer-type": "nlb" };
  const spec = { type: "LoadBalancer", ports: [{ port: 80, nodePort: 31081 }] };
  await world.say("POST", "/api/v1/namespaces/shop/services", { metadata: { name: "net", annotations }, spec });
  const planned = await run("service/web", "-o", "json");
  assert.match(planned.out, /sg-of-the-controllers/, planned.err);
  const routes = await run("routes");
  assert.match(routes.out, /^routes: /, routes.err);
  const flags = ["--kubeconfig=/k/config", "--context=prod"];
  const surroundings = { world: world.world, aws: world.aws, cluster: world.cluster, flags };
  const explained = await command(surroundings, explainService, "service/web");
  assert.match(explained.out, /sg-of-the-controllers/, explained.err);
  const named = async (...flags: string[]) => (await run("service/net", "-o", "json", ...flags)).out;
  assert.equal(await named(), await named("--cluster-name=bazaar"));
  assert.notEqual(await named(), await named("--cluster-name=kubernetes"));
});

test("a file of fairlead cluster that cannot be read from here is named", async (t) => {
  const { world, run } = await desk(t);
  await installHost(world, hostFile, { secret: { secretName: "host" } });
  const { status, err } = await run("service/web");
  assert.equal(status, 2);
  assert.match(err, /pod kube-system\/cluster-0 is given --config=\/etc\/fairlead\/cluster\.yaml, which cannot be read from here/);
});
