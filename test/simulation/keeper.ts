/**
 * A controller small enough to be understood at a glance and with everything that makes controllers hard: a Node that
 * names its team has a record (a ConfigMap) and a tag on its instance, and neither stays behind when it no longer does.
 *
 *     wanted:   record with finalizer ──► tag
 *     unwanted: delete of the record ──► tag removed ──► finalizer removed
 */
import type { Cloud } from "../../src/aws/cloud.ts";
import { isAwsError } from "../../src/aws/errors.ts";
import { configMaps } from "../../src/kube/builtin.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { isApiError } from "../../src/kube/errors.ts";
import type { Informer, Trimmed } from "../../src/kube/informer.ts";
import type { ConfigMap, Node } from "../../src/kube/types.ts";
import { watchSource } from "../../src/kube/watch-source.ts";
import { again, type Controller, done, type Outcome } from "../../src/runtime/controller.ts";

export const namespace = "demo";
export const annotation = "example.com/team";
export const tagKey = "example.com/team";
export const finalizer = "example.com/keeper";

export interface KeeperOptions {
  readonly client: KubeClient;
  readonly cloud: Cloud;
  readonly nodes: Informer<Trimmed<Node>>;
  readonly records: Informer<Trimmed<ConfigMap>>;
}

/** What a Node asks for; undefined when it asks for nothing. */
export function wishOf(
  node: { readonly metadata: { readonly annotations?: object }; readonly spec?: { readonly providerID?: string } } | undefined,
) {
  const team = (node?.metadata.annotations as Record<string, string> | undefined)?.[annotation];
  const instance = node?.spec?.providerID?.split("/").at(-1);
  return team === undefined || instance === undefined ? undefined : { team, instance };
}

export function keeper({ client, cloud, nodes, records }: KeeperOptions): Controller {
  const nameOf = (before?: { metadata: { name: string } }, after?: { metadata: { name: string } }) => [(after ?? before)!.metadata.name];

  async function reconcile(name: string, signal: AbortSignal): Promise<Outcome> {
    const wish = wishOf(nodes.get(name));
    const record = records.get(`${namespace}/${name}`);
    if (record === undefined) {
      if (wish === undefined) return done;
      const metadata = { namespace, name, finalizers: [finalizer] };
      await client.create(configMaps, { metadata, data: wish }, { signal });
      return again(100, "the record is on its way into the cache");
    }
    if (record.metadata.deletionTimestamp !== undefined) return clean(name, record, signal);
    if (wish === undefined || record.data?.instance !== wish.instance) {
      await client.delete(configMaps, { namespace, name }, { uid: record.metadata.uid, signal });
      return done;
    }
    const { resourceVersion } = record.metadata;
    if (record.data.team !== wish.team) {
      await client.patch(
        configMaps,
        { namespace, name },
        { merge: { metadata: { resourceVersion }, data: { team: wish.team } } },
        { signal },
      );
      return done;
    }
    return tag(name, record.metadata.uid, wish, signal);
  }

  /** The record is looked at afresh: a tag without a record would be lost for ever. */
  async function tag(name: string, uid: string, wish: { team: string; instance: string }, signal: AbortSignal): Promise<Outcome> {
    const found = await cloud.instances.lookup(wish.instance, { cause: "keeper", signal });
    if (found.kind !== "found" || found.instance.state === "terminated") return again(60_000, "the instance is gone");
    if (found.instance.tags[tagKey] === wish.team) return again(60_000, "all is well");
    const live = await client.get(configMaps, { namespace, name }, { signal });
    if (live.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined || live.data?.team !== wish.team) {
      return again(500, "the record has changed");
    }
    await cloud.tags.create(wish.instance, { [tagKey]: wish.team }, { cause: "keeper", signal }).catch(unlessGone);
    return again(60_000, "tagged");
  }

  async function clean(
    name: string,
    record: { readonly data?: object; readonly metadata: { uid: string } },
    signal: AbortSignal,
  ): Promise<Outcome> {
    const instance = (record.data as { instance: string }).instance;
    const found = await cloud.instances.lookup(instance, { cause: "keeper", signal });
    if (found.kind === "absent") throw new Error(`instance ${instance} is absent from the answer, which proves nothing`);
    const value = found.kind === "found" ? found.instance.tags[tagKey] : undefined;
    if (value !== undefined) await cloud.tags.delete(instance, { [tagKey]: value }, { cause: "keeper", signal }).catch(unlessGone);
    const patch = { merge: { metadata: { uid: record.metadata.uid, finalizers: null } } };
    await client.patch(configMaps, { namespace, name }, patch, { signal }).catch((error: unknown) => {
      if (!isApiError(error, "not-found")) throw error;
    });
    return again(1000, "the record is going");
  }

  return {
    name: "keeper",
    sources: [watchSource(nodes, nameOf), watchSource(records, nameOf)],
    concurrency: 3,
    reconcile,
  };
}

function unlessGone(error: unknown): void {
  if (!isAwsError(error, "not-found")) throw error;
}
