import { services } from "../../kube/builtin.ts";
import { targetGroupBindings } from "../../loadbalancers/targets/binding.ts";
import { DeployedPods } from "../deployed-pods.ts";
import { balancerOf, type Picture } from "../view/picture.ts";
import { Clients } from "./clients.ts";
import { repeated } from "./repeated.ts";
import type { Objection, Scene, Stage } from "./scene.ts";

const namespace = "default";
const name = "web";
const port = 8080;
const size = 3;
const gatePrefix = "target-health.elbv2.k8s.aws/";
/** So long a pod goes on after it was asked to end, and so long its connections are let go on. */
const drainSeconds = 5;
const annotations = {
  "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type": "ip",
  "service.beta.kubernetes.io/aws-load-balancer-target-group-attributes": `deregistration_delay.timeout_seconds=${drainSeconds}`,
};

/** Pods are replaced one by one while clients send requests. */
export const rollingUpdate: Scene = {
  title: "A rolling update loses no request",
  about:
    "A Deployment replaces its pods one by one, and takes a new pod for ready as soon as its containers are: the load balancer may know nothing " +
    "of it yet. With a readiness gate a pod is ready only when the load balancer sends it traffic. Clients send requests all the time, and " +
    "each has to be answered.",
  needs: ["cloud-node-controller"],
  async play(stage) {
    const { sandbox, say, expect } = stage;
    const { kube, cloud, machines } = sandbox;
    const pods = new DeployedPods({ kube, cloud, machines, namespace, name, port, preStopSeconds: drainSeconds });
    say(`kubectl create: Service ${name} with the class service.k8s.aws/nlb, whose targets are its pods`);
    await kube.create(services, {
      metadata: { namespace, name, annotations },
      spec: {
        type: "LoadBalancer",
        loadBalancerClass: "service.k8s.aws/nlb",
        allocateLoadBalancerNodePorts: false,
        selector: { app: name },
        ports: [{ name: "http", port: 80, targetPort: port, protocol: "TCP" }],
      },
    });
    const gates = await gatesOf(stage);
    say(`kubectl create: Deployment ${name} of ${size} pods with the readiness gate ${gates.join(", ")}`);
    for (let i = 0; i < size; i++) await pods.create(1, gates);
    await allReady(pods, 1, stage);
    await expect("its port is open on this machine", (picture) => (urlIn(picture) === undefined ? "it is not" : undefined), 60_000);

    const clients = new Clients(urlIn(sandbox.picture())!, sandbox.world.clock);
    say(`curl ${clients.url}   (again and again)`);
    void clients.start();
    try {
      await expect("clients are answered", () => (clients.answered > 20 ? undefined : `${clients.answered} were`));
      say(`kubectl rollout restart: Deployment ${name}`);
      for (const old of pods.running(1)) {
        await pods.create(2, gates);
        await allReady(pods, 2, stage);
        await pods.end(old);
      }
      await expect("the pods of before have ended", (picture) =>
        picture.pods.some((pod) => pod.name.startsWith(`${namespace}/${name}-v1-`)) ? "one is still there" : undefined,
      );
    } finally {
      await clients.stop();
    }
    await expect(`none of ${clients.sent} requests has failed`, () => clients.failure);

    say(`kubectl delete: Service and Deployment ${name}`);
    await kube.delete(services, { namespace, name });
    await expect("its load balancer is gone", ({ balancers }) =>
      balancers.some(({ local }) => local.some(({ url }) => url === clients.url)) ? "it is still there" : undefined,
    );
    await pods.remove();
  },
};

const serviceIn = (picture: Picture) => picture.services.find((each) => each.name === `${namespace}/${name}`);

function urlIn(picture: Picture): string | undefined {
  const service = serviceIn(picture);
  return service && balancerOf(service, picture)?.local.find((each) => each.port === 80)?.url;
}

/** The gates that the webhook gives new pods: one for each binding of the Service. */
async function gatesOf({ sandbox: { kube }, expect }: Stage): Promise<readonly string[]> {
  const { look } = repeated(async () => {
    const { items } = await kube.list(targetGroupBindings, { namespace });
    return items.filter(({ spec }) => spec?.serviceRef.name === name).map(({ metadata }) => gatePrefix + metadata.name);
  });
  await expect("its target group has a binding", () => (look()?.length ? undefined : "not yet"), 60_000);
  return look() ?? [];
}

/** Waits until every pod of a version is ready. */
async function allReady(pods: DeployedPods, version: number, { expect }: Stage): Promise<void> {
  const { look } = repeated(() => pods.look());
  const waiting = (): Objection => {
    look();
    const unready = pods.running(version).filter((pod) => !pods.isReady(pod));
    return unready.length === 0 ? undefined : `${unready.join(", ")} waits for the load balancer`;
  };
  await expect(`${pods.running(version).length} pods of version ${version} are ready`, waiting, 60_000);
}
