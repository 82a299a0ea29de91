/** A second load balancer controller in the same cluster. It keeps a finalizer and publishes addresses on the Services that are its own. */
import { sleep } from "../../src/runtime/world.ts";
import type { ServicesScene, Stored } from "./services-scene.ts";
import { servicesPath } from "./services-users.ts";

export const otherClass = "service.k8s.aws/nlb";
const finalizer = "service.k8s.aws/resources";
const prefix = "service.beta.kubernetes.io/aws-load-balancer-";
/** No load balancer of the simulated account has this in its host name. */
const signature = "-feedfacefeedface.elb.us-east-1.amazonaws.com";

/** Whether it made the address. */
export const isTheirAddress = (hostname: string | undefined) => hostname?.endsWith(signature) ?? false;

/** Whether a Service is its own: by class, or by the annotation that both controllers know. */
export function isTheirs({ metadata, spec }: Stored): boolean {
  if (spec?.type !== "LoadBalancer") return false;
  if (spec.loadBalancerClass !== undefined) return spec.loadBalancerClass === otherClass;
  return ["external", "nlb-ip"].includes(metadata.annotations?.[`${prefix}type`] ?? "");
}

/** What it has written, by the UID of the Service. */
export class OtherController {
  readonly #scene: ServicesScene;
  readonly #published = new Map<string, string>();

  constructor(scene: ServicesScene) {
    this.#scene = scene;
  }

  /** Works until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { chance, world } = this.#scene;
    while (!signal.aborted) {
      for (const service of this.#scene.services()) await this.#reconcile(service);
      await sleep(world.clock, chance.between(500, 8_000), signal).catch(() => {});
    }
  }

  /** A user has edited it. With the type of a Service the API server takes its address away: that is nobody's damage. */
  edited(service: Stored): void {
    if (!isTheirs(service)) this.#published.delete(service.metadata.uid);
  }

  /** What somebody else has done to it. */
  damage(): string[] {
    return this.#scene.services().flatMap((service) => {
      const { uid, name } = service.metadata;
      const address = this.#published.get(uid);
      if (address === undefined || !isTheirs(service)) return [];
      const held = service.metadata.finalizers?.includes(finalizer) ? [] : [`${name} has lost ${finalizer}`];
      const is = hostnameOf(service);
      return is === address ? held : [...held, `${name} was published as ${address} and is now ${is ?? "not published"}`];
    });
  }

  async #reconcile(service: Stored): Promise<void> {
    const { uid, name, deletionTimestamp, annotations } = service.metadata;
    const path = `${servicesPath}/${name}`;
    const held = service.metadata.finalizers?.includes(finalizer);
    if (!isTheirs(service) || deletionTimestamp !== undefined) {
      this.#published.delete(uid);
      if (held) await this.#say(path, { metadata: { "$deleteFromPrimitiveList/finalizers": [finalizer] } });
      return;
    }
    if (!held) await this.#say(path, { metadata: { finalizers: [finalizer] } });
    const hostname = `${(annotations?.[`${prefix}name`] ?? `k8s-${name}`).replace(/^-/, "").toLowerCase()}${signature}`;
    // A name is for new load balancers.
    const wanted = this.#published.get(uid) ?? hostname;
    if (hostnameOf(service) !== wanted)
      await this.#say(`${path}/status`, { status: { loadBalancer: { ingress: [{ hostname: wanted }] } } });
    this.#published.set(uid, wanted);
  }

  async #say(path: string, body: object): Promise<void> {
    await this.#scene.say("other controller", "PATCH", path, body);
  }
}

const hostnameOf = ({ status }: Stored) => status?.loadBalancer?.ingress?.[0]?.hostname;
