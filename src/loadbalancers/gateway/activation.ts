/** Whether the API server serves what Gateways need: asked again while it does not, so that nobody has to restart anything. */
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { Source } from "../../runtime/controller.ts";
import type { Host } from "../../runtime/host.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { sleep } from "../../runtime/world.ts";
import { configurationGroup } from "./configuration.ts";
import type { Flavour } from "./flavours.ts";
import { gatewayGroup } from "./grants.ts";

/** Kinds by group and version. */
export type Served = ReadonlyMap<string, ReadonlySet<string>>;

const apis = [`${gatewayGroup}/v1`, `${gatewayGroup}/v1beta1`, `${configurationGroup}/v1`] as const;
const configurations = ["LoadBalancerConfiguration", "TargetGroupConfiguration", "ListenerRuleConfiguration"];

export async function discover(kube: KubeClient, signal: AbortSignal): Promise<Served> {
  const found = await Promise.all(apis.map(async (api) => [api, await kindsOf(api, kube, signal)] as const));
  return new Map(found);
}

async function kindsOf(api: string, kube: KubeClient, signal: AbortSignal): Promise<ReadonlySet<string>> {
  try {
    const { resources = [] } = JSON.parse(await kube.raw(`/apis/${api}`, { signal })) as { resources?: { kind: string }[] };
    return new Set(resources.map(({ kind }) => kind));
  } catch (error) {
    if (isApiError(error, "not-found")) return new Set();
    throw error;
  }
}

/** Kinds that are not served and that a kind of Gateway cannot do without. */
export function missingKinds({ routeKinds }: Pick<Flavour, "routeKinds">, served: Served): readonly string[] {
  const needs: readonly (readonly [(typeof apis)[number], readonly string[]])[] = [
    [`${gatewayGroup}/v1`, ["Gateway", "GatewayClass", ...routeKinds]],
    [`${gatewayGroup}/v1beta1`, ["ReferenceGrant"]],
    [`${configurationGroup}/v1`, configurations],
  ];
  return needs.flatMap(([api, kinds]) => kinds.filter((kind) => !served.get(api)?.has(kind)).map((kind) => `${kind}.${api}`));
}

export const servesSets = (served: Served) => served.get(`${gatewayGroup}/v1`)?.has("ListenerSet") ?? false;

/** How often is looked for definitions that are not there yet. */
const lookMs = 30_000;

/** What several controllers of a process ask for: one look serves all of them. */
export class Discovery {
  readonly #kube: KubeClient;
  readonly #host: Host;
  #last: { readonly at: number; readonly served: Promise<Served> } | undefined;

  constructor(kube: KubeClient, host: Host) {
    this.#kube = kube;
    this.#host = host;
  }

  served(signal: AbortSignal): Promise<Served> {
    const now = this.#host.world.clock.monotonic();
    if (this.#last === undefined || now - this.#last.at >= lookMs / 2) this.#last = { at: now, served: discover(this.#kube, signal) };
    return this.#last.served;
  }
}

type Enqueue = Parameters<Source["start"]>[0];

/** Something that can be followed when the kinds that it needs are served. */
export interface Opening {
  readonly what: string;
  missing(served: Served): readonly string[];
  /** Resolves when everything is known that it follows. */
  synced(): Promise<unknown>;
  open(enqueue: Enqueue, signal: AbortSignal): void;
}

/** Opens each when it can be, in their order, and all that can be at once: nobody acts on a part of what there is. Resolves when those are open that can be opened now; `onLooked` is told when it is known which. */
export function openings(all: readonly Opening[], discovery: Discovery, { world, log }: Host, onLooked: () => void = () => {}): Source {
  return {
    name: "definitions",
    async start(enqueue, signal) {
      let closed = all;
      let told = "";
      const look = async () => {
        try {
          const served = await discovery.served(signal);
          const open = closed.filter((each) => each.missing(served).length === 0);
          closed = closed.filter((each) => !open.includes(each));
          const missing = [...new Set(closed.flatMap((each) => each.missing(served)))].join(", ");
          if (missing !== told && missing !== "")
            log.info("waits for definitions that the API server does not serve", { waits: closed.map(({ what }) => what), missing });
          told = missing;
          await Promise.all(open.map((each) => each.synced()));
          signal.throwIfAborted();
          for (const each of open) each.open(enqueue, signal);
          onLooked();
        } catch (error) {
          signal.throwIfAborted();
          log.error("cannot tell which kinds the API server serves", { error: messageOf(error) });
        }
      };
      await look();
      const later = async () => {
        while (closed.length > 0) {
          await sleep(world.clock, lookMs, signal);
          await look();
        }
      };
      // Rejects when it is asked to end.
      void later().catch(() => {});
    },
  };
}
