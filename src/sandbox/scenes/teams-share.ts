import { request } from "undici";
import { services } from "../../kube/builtin.ts";
import type { Ingress } from "../../kube/types.ts";
import { ingresses } from "../../loadbalancers/ingress/seen.ts";
import type { Picture } from "../view/picture.ts";
import type { Objection, Scene, Stage } from "./scene.ts";

const namespace = "default";
const teams = ["red", "green", "blue"] as const;
const group = { "alb.ingress.kubernetes.io/group.name": "teams" };
const mistake = "alb.ingress.kubernetes.io/listen-ports";

/** Three Ingresses share a load balancer, and one of them makes a mistake. */
export const teamsShare: Scene = {
  title: "Three teams share a load balancer",
  about:
    "Ingresses of one group share an application load balancer, each with rules for its own host. When one team makes a mistake, it is told " +
    "so, and goes on with the rules that it had; the others do not notice, and can be changed and deleted.",
  needs: ["cloud-node-controller"],
  async play(stage) {
    const { sandbox, say, expect, holds } = stage;
    const { kube } = sandbox;
    say("kubectl create: Services and Ingresses red, green and blue, all of the group teams");
    for (const team of teams) {
      const ports = [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP" }];
      await kube.create(services, { metadata: { namespace, name: team }, spec: { type: "NodePort", selector: { app: team }, ports } });
      await kube.create(ingresses, ingressOf(team, `${team}.example.com`));
    }
    await expect("one load balancer stands for all of them", (picture) =>
      shared(picture).length === 1 ? undefined : `there are ${shared(picture).length}`,
    );
    await expect("its port is open on this machine", (picture) => (urlIn(picture) === undefined ? "it is not" : undefined), 30_000);
    for (const team of teams) await answers(team, `${team}.example.com`, stage);

    say('kubectl annotate: green asks for listen-ports "eighty"');
    await annotate("green", { [mistake]: "eighty" }, stage);
    await expect("green is told so in an Event", ({ events }) =>
      events.some(({ reason, about }) => reason === "FailedBuildModel" && about.endsWith("/green")) ? undefined : "there is none yet",
    );
    for (const team of teams) await answers(team, `${team}.example.com`, stage);

    say("kubectl patch: blue serves another host; green's mistake is still there");
    await kube.patch(ingresses, { namespace, name: "blue" }, { merge: { spec: ingressOf("blue", "sea.example.com").spec } });
    await answers("blue", "sea.example.com", stage);
    await answers("green", "green.example.com", stage);

    say("kubectl annotate: green takes it back");
    await annotate("green", { [mistake]: null }, stage);
    await holds("everything that is wanted stands", 1_000, (picture) => (shared(picture).length === 1 ? undefined : "it does not"));

    say("kubectl delete: all three Ingresses");
    for (const team of teams) await kube.delete(ingresses, { namespace, name: team });
    await expect("the load balancer is gone", (picture) => (shared(picture).length === 0 ? undefined : "it is still there"), 90_000);
    for (const team of teams) await kube.delete(services, { namespace, name: team });
  },
};

const shared = (picture: Picture) => picture.balancers.filter(({ kind }) => kind === "application");

const urlIn = (picture: Picture) => shared(picture)[0]?.local.find(({ port }) => port === 80)?.url;

/** A client at this machine reaches a team's Service by its host. */
async function answers(team: string, host: string, { sandbox, say, expect }: Stage): Promise<void> {
  const url = urlIn(sandbox.picture());
  say(`curl --header 'Host: ${host}' ${url}`);
  let told = "";
  let isAsking = false;
  const ask = async () => {
    isAsking = true;
    try {
      const { body } = await request(url!, { headers: { host }, reset: true });
      told = await body.text();
    } catch (error) {
      told = String(error);
    }
    isAsking = false;
  };
  const objection = (): Objection => {
    if (told.includes(`${namespace}/${team} on ip-`)) return undefined;
    if (!isAsking) void ask();
    return told === "" ? "nobody answers" : `the answer is ${told.slice(0, 80)}`;
  };
  await expect(`${team} answers`, objection, 40_000);
}

function ingressOf(team: string, host: string): Ingress {
  const backend = { service: { name: team, port: { number: 80 } } };
  return {
    metadata: { namespace, name: team, annotations: group },
    spec: { ingressClassName: "alb", rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }] },
  };
}

function annotate(name: string, annotations: Readonly<Record<string, string | null>>, { sandbox }: Stage): Promise<unknown> {
  return sandbox.kube.patch(ingresses, { namespace, name }, { merge: { metadata: { annotations } } });
}
