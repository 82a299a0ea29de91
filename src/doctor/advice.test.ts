/** What the doctor advises does no harm, and does what it says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { InstanceLookup } from "../aws/instances.ts";
import type { NodeView } from "../identity/node-view.ts";
import { checkGroups, checkRouteTables } from "./check-aws.ts";
import { checkProviderIds } from "./check-cluster.ts";
import { checkInstances } from "./check-tags.ts";
import { examineNode } from "./examine-node.ts";
import type { Known, Picture } from "./picture.ts";

const known = <T>(value: T): Known<T> => ({ known: true, value });
const cluster = { id: "shop", legacy: false };
const owned = (id: string) => ({ [`kubernetes.io/cluster/${id}`]: "owned" });

function found(id: string, more: object): [string, InstanceLookup] {
  const instance = { id, state: "running", tags: owned("shop"), groups: [], vpc: "vpc-1", interfaces: [], ...more };
  return [id, { kind: "found", instance } as unknown as InstanceLookup];
}

function node(name: string, id: string, zone = "us-east-1a"): NodeView {
  const metadata = { name, uid: name, resourceVersion: "1", creationTimestamp: "2026-06-01T11:00:00Z", labels: {} };
  return { metadata, providerId: `aws:///${zone}/${id}`, taints: [] } as unknown as NodeView;
}

/** As much of a picture as these checks look at. */
function picture(more: object): Picture {
  const whole = { features: ["nodes", "load-balancers", "routes"], cluster: known(cluster), routeTableIds: [], vpc: "vpc-1" };
  return { ...whole, caller: known({ arn: "", region: "us-east-1" }), ...more } as unknown as Picture;
}

const [a, b] = ["i-0aaaaaaaaaaaaaaaa", "i-0bbbbbbbbbbbbbbbb"] as const;

test("with the credentials of another account no Node is advised to be deleted", () => {
  const nodes = known([node("a", a), node("b", b)]);
  const lookups: readonly [string, InstanceLookup][] = [a, b].map((id) => [id, { kind: "not-found" }]);
  const findings = checkProviderIds(picture({ nodes, instances: known(new Map(lookups)) }));
  assert.deepEqual(
    findings.map(({ level }) => level),
    ["problem", "problem"],
  );
  for (const { remedy = "" } of findings) assert.match(remedy, /^aws sts get-caller-identity /);
  const one = checkProviderIds(picture({ nodes, instances: known(new Map([found(a, {}), lookups[1]!])) }));
  assert.match(one[0]?.remedy ?? "", /^kubectl delete node b /, "where the others are known it is this one that is wrong");
});

test("in another region than that of all Nodes none is advised to be deleted", () => {
  const nodes = known([node("a", a, "eu-west-1a")]);
  const [finding] = checkProviderIds(picture({ nodes, instances: known(new Map([[a, { kind: "not-found" }]])) }));
  assert.match(finding?.what ?? "", /zone eu-west-1a is not in us-east-1/);
  assert.match(finding?.remedy ?? "", /^aws sts get-caller-identity /);
});

test("a machine of another cloud is not advised to be deleted, and is no problem", () => {
  const hybrid = { ...node("far", a), providerId: "eks-hybrid:///eu-west-1/shop/mi-1" };
  const [finding] = checkProviderIds(picture({ nodes: known([hybrid]), instances: known(new Map()) }));
  assert.equal(finding?.level, "warning");
  assert.match(finding?.remedy ?? "", /^# nothing, if it is/);
});

test("a security group of another cluster is not advised to be tagged for this one", () => {
  const advice = (...tags: readonly object[]) => {
    const groups = tags.map((each, index) => ({ id: `sg-${index}`, tags: each }));
    const instances = known(new Map([found(a, { groups: groups.map(({ id }) => id) })]));
    return checkGroups(picture({ groups: known(groups), instances }))[0]?.remedy ?? "";
  };
  assert.match(advice({}, {}), /^aws ec2 create-tags --resources sg-0 /);
  assert.match(advice(owned("other"), {}), /^aws ec2 create-tags --resources sg-1 /);
  assert.match(advice(owned("other"), owned("other")), /^# sg-0, sg-1: tagged for another cluster/);
});

test("a main route table of another cluster is not advised to be tagged for this one", () => {
  const advice = (tags: object) => checkRouteTables(picture({ routeTables: known([{ id: "rtb-1", main: true, tags }]) }))[0]?.remedy ?? "";
  assert.match(advice({}), /^aws ec2 create-tags --resources rtb-1 --tags Key=kubernetes\.io\/cluster\/shop,Value=shared$/);
  assert.match(advice(owned("other")), /^# rtb-1: tagged for another cluster/);
});

test("the tag that is to be removed is one that the instance has", () => {
  const advice = (tags: object) => checkInstances(picture({ instances: known(new Map([found(a, { tags })])) }))[0]?.remedy ?? "";
  assert.match(advice({ ...owned("shop"), ...owned("other") }), /--tags Key=kubernetes\.io\/cluster\/other {3}#/);
  assert.match(advice({ ...owned("shop"), KubernetesCluster: "other" }), /--tags Key=KubernetesCluster {3}#/);
});

test("one instance of another cluster does not make the cluster's own id a wrong one", () => {
  const guest = node("guest", a);
  const [, lookup] = found(a, { tags: owned("other") });
  const facts = { node: guest, all: [guest, node("b", b)], lookup, cluster, vpc: "vpc-1", region: "us-east-1", groups: [], metadata: [] };
  const told = (beside: ReadonlyMap<string, InstanceLookup>) =>
    examineNode({ ...facts, now: Date.parse("2026-06-01T12:00:00Z"), beside }).map(({ remedy = "" }) => remedy);
  assert.match(told(new Map([found(b, {})]))[0] ?? "", /^# find out why its kubelet has joined this cluster/);
  assert.match(told(new Map([found(b, { tags: owned("other") })]))[0] ?? "", /^# set KubernetesClusterID=other /);
});
