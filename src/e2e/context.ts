/** What a case of the suite for real accounts works with. */
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import type { ClusterId } from "../identity/cluster-id.ts";
import { type NodeView, nodeView } from "../identity/node-view.ts";
import { nodes } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { messageOf } from "../runtime/message-of.ts";
import { sleep, type World } from "../runtime/world.ts";

export interface Context {
  readonly world: World;
  readonly kube: KubeClient;
  readonly cloud: Cloud;
  readonly ask: Ask;
  readonly cluster: ClusterId;
  readonly vpc: string;
  /** Of this run: in the name of every object, and the tag of everything in AWS. */
  readonly run: string;
  /** Where the objects are made. */
  readonly namespace: string;
  /** Whether pods can be run, and so requests be answered. */
  readonly pods: boolean;
  /** The image of the server that answers requests. */
  readonly image: string;
  /** Whether network load balancers have security groups (`NLBSecurityGroupMode = Managed`). */
  readonly managedNetworkGroups: boolean;
  /** The cluster's pods, where routes are on; else empty. */
  readonly clusterCidr: string;
  /** How often what is waited for is looked at, and for how long. */
  readonly pollMs: number;
  readonly timeoutMs: number;
  /** The Node that may be drained; empty: none. */
  readonly interruptNode: string;
  /** Asks a server outside of the cluster, by the name of its URL or another host. */
  request(url: string, host?: string): Promise<Answer>;
  /** UIDs of the Services that this run has made, by name: its load balancers are named after them. */
  readonly made: Map<string, string>;
  /** What has to be put back at the end, by what it is. */
  readonly undo: Map<string, (context: Context) => Promise<void>>;
  /** Says of the case that is running what was left out. */
  leftOut(what: string): void;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A case cannot be run on this cluster; the message says what it needs. */
export class NotHere extends Error {
  override readonly name = "NotHere";
}

/** Something is not as it has to be. */
export class CaseFailed extends Error {
  override readonly name = "CaseFailed";
}

export function expect(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new CaseFailed(otherwise);
}

/** Looks until it holds; rejects with why it did not the last time. */
export async function eventually<T>(context: Context, look: () => Promise<T>): Promise<T> {
  const { world, pollMs, timeoutMs, ask } = context;
  const until = world.clock.now() + timeoutMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      ask.signal.throwIfAborted();
      if (error instanceof NotHere) throw error;
      if (world.clock.now() + pollMs > until) {
        throw new CaseFailed(`after ${Math.round(timeoutMs / 1000)} s: ${messageOf(error)}`, { cause: error });
      }
    }
    await sleep(world.clock, pollMs, ask.signal);
  }
}

/** Nodes that are ready and take pods. */
export async function readyNodes({ kube, ask }: Context): Promise<readonly NodeView[]> {
  const { items } = await kube.list(nodes, { signal: ask.signal });
  return items
    .map(nodeView)
    .filter((node) => !node.unschedulable && node.conditions.some(({ type, status }) => type === "Ready" && status === "True"));
}

/** The tag of everything that a run makes in AWS, and the label of its objects. */
export const mark = "fairlead-e2e";

/** The labels of everything that a run makes in the cluster. */
export function labelsOf({ run }: Context): Record<string, string> {
  return { [mark]: run };
}

/** The name of an object of this run. */
export function nameOf({ run }: Context, what: string): string {
  return `e2e-${run}-${what}`;
}

/** A deletion of what may be gone already. */
export async function gone(deletion: Promise<void>): Promise<void> {
  await deletion.catch((error: unknown) => {
    if (!isApiError(error, "not-found")) throw error;
  });
}

/** A name of DNS as it stands in a status: it becomes part of URLs, and of what a client in a pod runs. */
export function hostOf(hostname: string | undefined, of: string): string {
  expect(hostname !== undefined && hostname !== "", `${of} has no address`);
  expect(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(hostname), `${of} has an address that is no name: ${JSON.stringify(hostname)}`);
  return hostname;
}
