import { dirname, join } from "node:path";
import { objectsIn } from "../../commands/manifest-file.ts";
import { services } from "../../kube/builtin.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Ingress } from "../../kube/types.ts";
import { gateways } from "../../loadbalancers/gateway/api.ts";
import { ingresses } from "../../loadbalancers/ingress/seen.ts";
import type { Cloud } from "../cloud/cloud.ts";
import type { LoadBalancer, TargetGroup } from "../cloud/elbv2/state.ts";
import { type Printed, runCommand } from "../commands.ts";
import { apply, remove } from "../manifests.ts";
import type { Picture } from "../view/picture.ts";
import { sameBehaviour } from "./behaviour.ts";
import { ask, Clients } from "./clients.ts";
import { repeated } from "./repeated.ts";
import type { Objection, Scene, Stage } from "./scene.ts";

const namespace = "default";
const name = "shop";
const host = "shop.example.com";
const help = "Write to help@example.com";
/** Who answers which path. */
const answers = { "/": "Service shop", "/cart": "Service cart", "/help": help } as const;

/** Requests go from an Ingress to the Gateway that takes its place, and none is lost. */
export const ingressMoves: Scene = {
  title: "An Ingress moves to a Gateway",
  about:
    "The Gateway API is the successor of Ingress. Fairlead prints the Gateway that gives the same as an Ingress, and compares the two load " +
    "balancers before anything is made. The Gateway gets one of its own beside the Ingress's, so that names can move when it serves, and back " +
    "if need be. Clients send requests all the time, and each has to be answered.",
  needs: ["cloud-node-controller"],
  async play(stage) {
    const { sandbox, say, show, expect } = stage;
    const { kube, cloud, world, access } = sandbox;
    say(`kubectl create: Services shop and cart, and Ingress ${name} for ${host}`);
    for (const each of ["shop", "cart"]) {
      const ports = [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP" }];
      await kube.create(services, { metadata: { namespace, name: each }, spec: { type: "NodePort", selector: { app: each }, ports } });
    }
    await kube.create(ingresses, ingress);
    const old = await addressOf("the Ingress", stage, async () => {
      const { status } = await kube.get(ingresses, { namespace, name });
      return status?.loadBalancer?.ingress?.[0]?.hostname;
    });
    await answersAt(old, stage);

    const clients = new Clients(urlOf(old)(sandbox.picture())!, world.clock, host);
    say(`curl --header 'Host: ${host}' ${clients.url}   (again and again)`);
    void clients.start();
    try {
      const file = join(dirname(access.file), `${name}.yaml`);
      const objects = await migrate(file, stage);
      say(`fairlead plan -f ${name}.yaml`);
      const planned = await runCommand(sandbox, "plan", "-f", file);
      show(planned.out.trimEnd().split("\n"));
      await expect("all of it is new: nothing of the Ingress is changed or deleted", () => touched(planned, cloud));

      say(`kubectl apply -f ${name}.yaml`);
      for (const object of objects) await apply(kube, object);
      const fresh = await addressOf("the Gateway", stage, async () => {
        const { status } = (await kube.get(gateways, { namespace, name })) as { status?: { addresses?: readonly { value: string }[] } };
        return status?.addresses?.[0]?.value;
      });
      await answersAt(fresh, stage);
      await expect("both load balancers do the same: only their names and tags differ", () => sameBehaviour(cloud, old, fresh));

      say(`DNS: ${host} now leads to the load balancer of the Gateway`);
      clients.url = urlOf(fresh)(sandbox.picture())!;
      const moved = clients.answered;
      await expect("clients are answered there", () => (clients.answered > moved + 20 ? undefined : `${clients.answered - moved} were`));
      say(`kubectl delete: Ingress ${name}`);
      await kube.delete(ingresses, { namespace, name });
      await expect("its load balancer is gone", ({ balancers }) =>
        balancers.some(({ dnsName }) => dnsName === old) ? "it is still there" : undefined,
      );
      const rest = await runCommand(sandbox, "plan", `gateway/${name}`);
      await expect(`fairlead plan gateway/${name}: nothing to do`, () => (rest.status === 0 ? undefined : rest.out + rest.err));
      await clients.stop();
      await expect(`none of ${clients.sent} requests has failed`, () => clients.failure);

      say(`kubectl delete -f ${name}.yaml, and both Services`);
      for (const object of objects.toReversed()) await remove(kube, object);
      await expect("its load balancer is gone too", ({ balancers }) =>
        balancers.some(({ dnsName }) => dnsName === fresh) ? "it is still there" : undefined,
      );
    } finally {
      await clients.stop();
    }
    for (const each of ["shop", "cart"]) await kube.delete(services, { namespace, name: each });
  },
};

const ingress: Ingress = {
  metadata: {
    namespace,
    name,
    annotations: {
      "alb.ingress.kubernetes.io/scheme": "internet-facing",
      "alb.ingress.kubernetes.io/healthcheck-path": "/up",
      "alb.ingress.kubernetes.io/load-balancer-attributes": "idle_timeout.timeout_seconds=120",
      "alb.ingress.kubernetes.io/actions.help": JSON.stringify({
        type: "fixed-response",
        fixedResponseConfig: { contentType: "text/plain", statusCode: "200", messageBody: help },
      }),
    },
  },
  spec: {
    ingressClassName: "alb",
    rules: [
      {
        host,
        http: {
          paths: [
            { path: "/help", pathType: "Exact", backend: { service: { name: "help", port: { name: "use-annotation" } } } },
            { path: "/cart", pathType: "Prefix", backend: { service: { name: "cart", port: { number: 80 } } } },
            { path: "/", pathType: "Prefix", backend: { service: { name: "shop", port: { number: 80 } } } },
          ],
        },
      },
    ],
  },
};

/** Writes what the command prints to a file. */
async function migrate(file: string, { sandbox, say, show, expect }: Stage): Promise<readonly KubeObject[]> {
  say(`fairlead migrate ingress/${name} > ${name}.yaml`);
  const { status, out, err } = await runCommand(sandbox, "migrate", `ingress/${name}`);
  await sandbox.world.files.write(file, out, 0o600);
  const objects = objectsIn(out) as readonly KubeObject[];
  show(objects.map(({ kind, metadata }) => `${kind} ${metadata?.name}`));
  await expect("it has found nothing that the Gateway would do otherwise", () =>
    status === 0 ? undefined : `it ended with ${status}: ${err}`,
  );
  return objects;
}

/** Waits for the address of something that has a load balancer, and until that listens on this machine. */
async function addressOf(owner: string, { expect }: Stage, read: () => Promise<string | undefined>): Promise<string> {
  const { look } = repeated(read);
  const objection = (picture: Picture) => {
    const address = look();
    if (!address) return `${owner} has no address yet`;
    return urlOf(address)(picture) === undefined ? "its port is not open yet" : undefined;
  };
  await expect(`the load balancer of ${owner} is open to you`, objection, 60_000);
  return look()!;
}

const urlOf = (address: string) => (picture: Picture) =>
  picture.balancers.find(({ dnsName }) => dnsName === address)?.local.find(({ port }) => port === 80)?.url;

/** A client at this machine asks for every path. */
async function answersAt(address: string, { sandbox, say, expect }: Stage): Promise<void> {
  const url = urlOf(address)(sandbox.picture())!;
  const paths = Object.keys(answers) as (keyof typeof answers)[];
  say(`curl --header 'Host: ${host}' '${url}{${paths.join(",")}}'`);
  const { look } = repeated(() => Promise.all(paths.map(async (path) => whoAnswers((await ask(url + path, host)).text))));
  await expect(
    "Service shop, Service cart and the text of /help answer",
    () => {
      const told = look();
      const wrong = paths.find((path, i) => told?.[i] !== answers[path]);
      return wrong === undefined ? undefined : `the answer to ${wrong} is ${told?.[paths.indexOf(wrong)] ?? "none"}`;
    },
    40_000,
  );
}

const whoAnswers = (text: string) => {
  const [, service] = /"pod":"default\/(\w+) on /.exec(text) ?? [];
  return service === undefined ? text.slice(0, 80) : `Service ${service}`;
};

/** Objects to a plan that speaks of anything that the Ingress has in AWS. */
function touched({ status, out, err }: Printed, { account: { store, ec2 } }: Cloud): Objection {
  if (status !== 2) return `it ended with ${status}: ${out}${err}`;
  const balancers = store.table<LoadBalancer>("elbv2/load-balancers").values();
  const groups = store.table<TargetGroup>("elbv2/target-groups").values();
  const own = [...balancers, ...groups, ...ec2.securityGroups.values()].filter(
    ({ tags }) => tags["ingress.k8s.aws/stack"] === `${namespace}/${name}`,
  );
  const named = own.filter((each) => out.includes(each.name));
  if (own.length === 0) return "the Ingress has nothing";
  return named.length === 0 ? undefined : `it names ${named.map((each) => each.name).join(", ")}`;
}
