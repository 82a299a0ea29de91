/** The start-up taint and the pre-stop hook, against an API server of three kinds of objects. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { KubeClient } from "../../kube/client.ts";
import { loadKubeConfig } from "../../kube/config/load.ts";
import { openGate } from "../../runtime/gate.ts";
import type { HttpRequest, HttpResponse } from "../../runtime/http.ts";
import { silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { awaitDetachments } from "./pre-stop.ts";
import { removeStartupTaint, startupTaint } from "./startup-taint.ts";

interface Taint {
  readonly key: string;
  readonly effect: string;
}

const taint = (key: string): Taint => ({ key, effect: "NoExecute" });

async function bed() {
  const world = virtualWorld(1);
  const state = {
    taints: [] as Taint[] | null,
    nodeExists: true,
    registered: false,
    forbidden: false,
    attachments: [] as { readonly node: string; readonly attacher: string }[],
    patches: 0,
    /** Done once, right before the next patch is carried out. */
    meanwhile: undefined as (() => void) | undefined,
  };
  const send = async ({ method, url, body }: HttpRequest): Promise<HttpResponse> => {
    if (state.forbidden) return answer(403, { kind: "Status", status: "Failure", reason: "Forbidden", code: 403 });
    const missing = answer(404, { kind: "Status", status: "Failure", reason: "NotFound", code: 404 });
    if (url.pathname === "/apis/storage.k8s.io/v1/volumeattachments") {
      const items = state.attachments.map(({ node, attacher }, index) => ({
        metadata: { name: `va-${index}` },
        spec: { nodeName: node, attacher, source: {} },
      }));
      return answer(200, { kind: "VolumeAttachmentList", apiVersion: "storage.k8s.io/v1", metadata: { resourceVersion: "1" }, items });
    }
    if (url.pathname === "/apis/storage.k8s.io/v1/csinodes/node-1") {
      const drivers = state.registered ? [{ name: "ebs.csi.aws.com", nodeID: "i-1", allocatable: { count: 25 } }] : [];
      return answer(200, { kind: "CSINode", apiVersion: "storage.k8s.io/v1", metadata: { name: "node-1" }, spec: { drivers } });
    }
    if (!state.nodeExists) return missing;
    if (method === "PATCH") {
      state.patches++;
      state.meanwhile?.();
      state.meanwhile = undefined;
      const [expected, wanted] = JSON.parse(String(body)) as { value: Taint[] | null }[];
      if (!isDeepStrictEqual(expected!.value, state.taints))
        return answer(422, { kind: "Status", status: "Failure", reason: "Invalid", code: 422 });
      state.taints = wanted!.value;
    }
    return answer(200, {
      kind: "Node",
      apiVersion: "v1",
      metadata: { name: "node-1", resourceVersion: "1" },
      spec: { taints: state.taints ?? undefined },
    });
  };
  const host = { world, log: silentLog, metrics: newRegistry() };
  const config = await loadKubeConfig(world, { master: "http://cluster" });
  const kube = new KubeClient({ host, config, gate: openGate(), userAgent: "test", connect: () => ({ send, close: async () => {} }) });
  const ended = new AbortController();
  return { world, state, kube, host, ended };
}

function answer(status: number, body: object): HttpResponse {
  return {
    status,
    headers: { "content-type": "application/json" },
    body: (async function* () {
      yield Buffer.from(JSON.stringify(body));
    })(),
  };
}

test("the taint goes when kubelet knows the driver and its limit, and others' taints stay", async () => {
  const { world, state, kube, host, ended } = await bed();
  state.taints = [taint("other"), taint(startupTaint)];
  const looking = removeStartupTaint(kube, "node-1", host, ended.signal).catch(() => {});
  await world.advance(10_000);
  assert.equal(state.taints.length, 2);
  state.registered = true;
  await world.advance(10_000);
  assert.deepEqual(state.taints, [taint("other")]);
  state.taints = [taint(startupTaint)];
  await world.advance(10_000);
  assert.equal(state.taints, null, "one that is added later goes too");
  ended.abort();
  await looking;
});

test("a taint that somebody adds at the same moment is not lost", async () => {
  const { world, state, kube, host, ended } = await bed();
  state.taints = [taint(startupTaint)];
  state.registered = true;
  state.meanwhile = () => {
    state.taints = [taint(startupTaint), taint("late")];
  };
  const looking = removeStartupTaint(kube, "node-1", host, ended.signal).catch(() => {});
  await world.advance(10_000);
  assert.deepEqual(state.taints, [taint("late")]);
  assert.equal(state.patches, 2);
  ended.abort();
  await looking;
});

test("where the driver may not read its Node it gives up quietly", async () => {
  const { world, state, kube, host, ended } = await bed();
  state.forbidden = true;
  const looking = removeStartupTaint(kube, "node-1", host, ended.signal);
  await world.advance(60_000);
  await looking;
});

test("the hook of a node that is not drained ends at once, and without a name it fails", async () => {
  const { state, kube, ended } = await bed();
  state.attachments = [{ node: "node-1", attacher: "ebs.csi.aws.com" }];
  await awaitDetachments(kube, "node-1", ended.signal);
  await assert.rejects(awaitDetachments(kube, undefined, ended.signal), /CSI_NODE_NAME is not set/);
});

for (const key of [
  "node.kubernetes.io/unschedulable",
  "ToBeDeletedByClusterAutoscaler",
  "karpenter.sh/disrupted",
  "karpenter.sh/disruption",
]) {
  test(`the hook of a node with ${key} waits for the volumes of this driver on this node`, async () => {
    const { world, state, kube, ended } = await bed();
    state.taints = [taint(key)];
    state.attachments = [
      { node: "node-1", attacher: "ebs.csi.aws.com" },
      { node: "node-2", attacher: "ebs.csi.aws.com" },
      { node: "node-1", attacher: "efs.csi.aws.com" },
    ];
    let done = false;
    const hook = awaitDetachments(kube, "node-1", ended.signal).then(() => {
      done = true;
    });
    await world.advance(20_000);
    assert.equal(done, false);
    state.attachments = state.attachments.slice(1);
    await world.advance(5_000);
    assert.equal(done, true);
    await hook;
  });
}

test("a Node that is gone counts as drained", async () => {
  const { world, state, kube, ended } = await bed();
  state.nodeExists = false;
  state.attachments = [{ node: "node-1", attacher: "ebs.csi.aws.com" }];
  let done = false;
  const hook = awaitDetachments(kube, "node-1", ended.signal).then(() => {
    done = true;
  });
  await world.advance(5_000);
  assert.equal(done, false);
  state.attachments = [];
  await world.advance(5_000);
  assert.equal(done, true);
  await hook;
});
