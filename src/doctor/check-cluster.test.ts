import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeView } from "../identity/node-view.ts";
import { testedMinors } from "../process/tested.ts";
import { checkAccess, checkKubelets, checkLease, checkServer } from "./check-cluster.ts";
import type { Finding } from "./finding.ts";
import type { Known, Picture } from "./picture.ts";

const unknown = { known: false, why: "refused", kind: "failed" } as const;
const known = <T>(value: T): Known<T> => ({ known: true, value });

/** A picture in which nothing is known but this. */
function picture(seen: Partial<Picture>): Picture {
  return {
    features: ["nodes"],
    caller: unknown,
    skewMs: undefined,
    permissions: unknown,
    cluster: unknown,
    vpc: undefined,
    nodes: unknown,
    instances: unknown,
    subnets: unknown,
    groups: unknown,
    routeTables: unknown,
    routeTableIds: [],
    metadata: unknown,
    hostNetwork: true,
    access: unknown,
    namespace: "kube-system",
    server: unknown,
    lease: unknown,
    queueUrl: "",
    queue: unknown,
    rules: unknown,
    scalingGroups: unknown,
    controllers: unknown,
    now: Date.parse("2026-06-01T12:00:00Z"),
    ...seen,
  };
}

const levels = (findings: readonly Finding[]) => findings.map(({ level }) => level);

test("an API server is too old, outside of what is tested, or right", () => {
  const verdict = (version: string) => levels(checkServer(picture({ server: known(version) })))[0];
  const [from = 0, to = from] = [testedMinors[0], testedMinors.at(-1)];
  const versions = ["v1.29.9", "v1.30.0", `v1.${from - 1}.2`, `v1.${from}.0-eks-1`, `v1.${to}.1`, `v1.${to + 1}.0`, "v2"];
  assert.deepEqual(versions.map(verdict), ["problem", "warning", "warning", "ok", "ok", "warning", "warning"]);
  assert.equal(levels(checkServer(picture({})))[0], "problem");
});

test("a lease is nobody's, ours, another program's, or given up long ago", () => {
  const verdict = (writer: string, fresh: boolean) => levels(checkLease(picture({ lease: known({ holder: "a_1", writer, fresh }) })))[0];
  assert.equal(levels(checkLease(picture({ lease: known(undefined) })))[0], "ok");
  assert.equal(verdict("fairlead", true), "ok");
  assert.equal(verdict("aws-cloud-controller-manager", true), "warning");
  assert.equal(verdict("aws-cloud-controller-manager", false), "ok");
});

test("a node that waits for minutes is told of; one that has just joined is not", () => {
  const node = (name: string, creationTimestamp: string) =>
    ({
      metadata: { name, uid: "u", resourceVersion: "1", creationTimestamp, labels: {} },
      providerId: "",
      taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" }],
    }) as unknown as NodeView;
  const look = (...nodes: NodeView[]) => checkKubelets(picture({ nodes: known(nodes) }));
  assert.deepEqual(levels(look(node("new", "2026-06-01T11:58:00Z"))), ["ok"]);
  const [told] = look(node("new", "2026-06-01T11:58:00Z"), node("old", "2026-06-01T11:00:00Z"));
  assert.equal(told?.level, "warning");
  assert.match(told?.what ?? "", /: old$/);
  assert.equal(told?.remedy, "kubectl describe node old");
});

test("access that cannot be asked about is a warning, not a fault", () => {
  assert.deepEqual(levels(checkAccess(picture({}))), ["warning"]);
});

test("before the installation the doctor says in one line that the roles are not there yet", () => {
  const answers = (...allowed: readonly boolean[]) =>
    known([
      {
        account: "kube-system/fairlead-controller-manager",
        answers: allowed.map((each) => ({ need: { verb: "get", group: "", resource: "nodes" }, allowed: each })),
      },
    ]);
  assert.deepEqual(levels(checkAccess(picture({ access: answers(false, false, false) }))), ["warning"]);
  assert.deepEqual(levels(checkAccess(picture({ access: answers(false, true, false) }))), ["problem", "problem"]);
});
