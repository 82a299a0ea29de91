import { request } from "undici";
import { services } from "../../kube/builtin.ts";
import type { Service } from "../../kube/types.ts";
import { balancerOf, type Picture } from "../view/picture.ts";
import { accountAsBefore } from "./account.ts";
import type { Objection, Scene, Stage } from "./scene.ts";

const namespace = "default";
const names = ["default/shop", "default/game"];

/** Load balancers appear, change and go. */
export const servicesBalanced: Scene = {
  title: "Services get load balancers",
  about:
    "A Service of type LoadBalancer asks for an address that the world can reach. Fairlead makes a load balancer in AWS, with its listeners, " +
    "health checks and firewall rules, and the nodes behind it; it follows every change of the Service; and when the Service goes, " +
    "not a rule of it is left in the account.",
  needs: ["cloud-node-controller", "service-lb-controller"],
  async play(stage) {
    const { sandbox, say, expect } = stage;
    const { kube, cloud } = sandbox;
    const before = cloud.controls.snapshot();
    say("kubectl create: Service shop for a classic load balancer, Service game for a network load balancer");
    await kube.create(services, wish("shop", {}));
    await kube.create(services, wish("game", { "service.beta.kubernetes.io/aws-load-balancer-type": "nlb" }));
    await expect("both have an address", (picture) => (served(picture).length === 2 ? undefined : `${served(picture).length} of 2 have`));
    await expect("AWS finds every node healthy behind both", (picture) => everyNodeHealthy(picture), 30_000);

    for (const name of names) await reaches(name, stage);

    say("kubectl patch: Service game serves port 443 as well");
    const ports = [httpPort, { name: "https", port: 443, targetPort: 8443, protocol: "TCP" }];
    await kube.patch(services, { namespace, name: "game" }, { merge: { spec: { ports } } });
    await expect("its load balancer listens on both ports", (picture) => {
      const listening = served(picture).find(({ name }) => name === "default/game");
      const there = listening && balancerOf(listening, picture)?.ports.toSorted((a, b) => a - b);
      return there?.join() === "80,443" ? undefined : `it listens on ${there?.join(", ") || "none"}`;
    });

    say("kubectl delete: both Services");
    await kube.delete(services, { namespace, name: "shop" });
    await kube.delete(services, { namespace, name: "game" });
    await expect(
      "both are gone",
      (picture) => (picture.services.length === 0 ? undefined : "their load balancers are being taken down"),
      90_000,
    );
    await expect("the AWS account is exactly as it was before", () => accountAsBefore(before, cloud));
  },
};

/** A client at this machine gets through the load balancer to a node. */
async function reaches(name: string, { sandbox, say, expect }: Stage): Promise<void> {
  const url = () => {
    const picture = sandbox.picture();
    const service = picture.services.find((each) => each.name === name);
    return service && balancerOf(service, picture)?.local.find(({ port }) => port === 80)?.url;
  };
  await expect(`port 80 of ${name} is open on this machine`, () => (url() === undefined ? "it is not" : undefined));
  say(`curl ${url()}`);
  const { body } = await request(url()!, { reset: true });
  const { pod } = (await body.json()) as { readonly pod: string };
  await expect(`${pod} answers`, () => (pod.startsWith(`${name} on ip-`) ? undefined : "somebody else does"));
}

const httpPort = { name: "http", port: 80, targetPort: 8080, protocol: "TCP" };

function wish(name: string, annotations: Readonly<Record<string, string>>): Service {
  return { metadata: { namespace, name, annotations }, spec: { type: "LoadBalancer", selector: { app: name }, ports: [httpPort] } };
}

function served(picture: Picture): Picture["services"] {
  return picture.services.filter(({ name, address }) => names.includes(name) && address !== undefined);
}

function everyNodeHealthy(picture: Picture): Objection {
  const nodes = picture.nodes.filter(({ node }) => node !== undefined).length;
  const lagging = served(picture).flatMap((service) => {
    const healthy = balancerOf(service, picture)?.healthy ?? 0;
    return healthy === nodes ? [] : [`${healthy} of ${nodes} behind ${service.name}`];
  });
  return lagging.length === 0 ? undefined : lagging.join(", ");
}
