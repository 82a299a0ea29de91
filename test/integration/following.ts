/** An informer under test and the story it told, checked as it is told. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { nodes } from "../../src/kube/builtin.ts";
import { type Informer, informer, type Trimmed } from "../../src/kube/informer.ts";
import type { Frozen } from "../../src/kube/resource.ts";
import type { Node } from "../../src/kube/types.ts";
import type { Host } from "../../src/runtime/host.ts";
import { eventually, type TestCluster, testHost } from "../bed/bed.ts";

type View = Frozen<Trimmed<Node>>;

/** What was told of one Node, in order: `add`, `update`, `delete`, each with the uid. */
export type Story = readonly { readonly what: "add" | "update" | "delete"; readonly uid: string; readonly object: View }[];

export interface Following {
  readonly informer: Informer<Trimmed<Node>>;
  readonly host: Host;
  story(node: { readonly name: string }): Story;
  /** Resolves when the store holds exactly what the server does and the stories lead there. */
  agrees(): Promise<void>;
  /** The value of a counter, summed over its labels. */
  counted(metric: string): Promise<number>;
  stop(): Promise<void>;
}

/** Follows Nodes as our controllers do: with the roles that we ship, until the test ends. */
export async function followNodes(t: TestContext, cluster: TestCluster, server?: URL, host = testHost()): Promise<Following> {
  const client = await (await cluster.fairlead()).client(server, host);
  const followed = informer({ client, of: nodes });
  const stories = new Map<string, Story>();
  const broken: string[] = [];
  followed.subscribe((before, after) => {
    const name = (after ?? before)!.metadata.name;
    const story = stories.get(name) ?? [];
    const last = story.at(-1);
    if ((last?.what === "delete" ? undefined : last?.object) !== before) broken.push(`${name}: told another past than it was told before`);
    if (before && after && before.metadata.uid !== after.metadata.uid) broken.push(`${name}: another object passed off as an update`);
    const what = !before ? "add" : !after ? "delete" : "update";
    stories.set(name, [...story, { what, uid: (after ?? before)!.metadata.uid, object: (after ?? before)! }]);
  });
  const stopping = new AbortController();
  const running = followed.run(stopping.signal);
  const stop = async () => {
    stopping.abort();
    await running;
    await client.close();
  };
  t.after(stop);
  await followed.synced;
  return {
    informer: followed,
    host,
    story: ({ name }) => stories.get(name) ?? [],
    stop,
    agrees: () =>
      eventually(async () => {
        const onServer = (await cluster.admin.list(nodes)).items.map(stateOf).sort();
        assert.deepEqual(followed.list().map(stateOf).sort(), onServer, "the store against the server");
        const told = [...stories.values()].map((story) => story.at(-1)!).filter(({ what }) => what !== "delete");
        assert.deepEqual(told.map(({ object }) => stateOf(object)).sort(), onServer, "what handlers were told against the server");
        assert.deepEqual(broken, []);
      }, 40_000),
    async counted(metric) {
      const { values } = (await host.metrics.getSingleMetric(metric)?.get()) ?? assert.fail(`no metric ${metric}`);
      return values.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

function stateOf({
  metadata,
}: {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
}): string {
  return `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`;
}
