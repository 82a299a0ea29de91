/** The load balancer that a group shares: its name, pools, security groups and tags. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SecurityGroup } from "../../aws/security-groups.ts";
import { bed, ingress, service, settings } from "./ingress.fixture.ts";
import type { IngressSettings } from "./settings.ts";
import type { ClassParams } from "./view.ts";

const shared = { "group.name": "g" };
type Rows = readonly Readonly<Record<string, string>>[];

function of(rows: Rows, given: Parameters<typeof bed>[0] = {}, params?: ClassParams) {
  const members = rows.map((annotations, i) => ingress(`a/${"xyz"[i]}`, { annotations: { ...shared, ...annotations } }));
  const result = bed(given).desire(...members.map((each) => (params ? ([each, params] as const) : each)));
  return { ...result, fault: (key: string) => result.faults.get(key)?.join("; ") ?? "" };
}

const withGates = (gates: Partial<IngressSettings["gates"]>, rest: Partial<IngressSettings> = {}) => ({
  settings: { ...settings, ...rest, gates: { ...settings.gates, ...gates } },
});

test("a name that one member chooses is everybody's, at most 32 characters, and two names are one too many", () => {
  assert.equal(of([{}, { "load-balancer-name": "chosen" }]).model.name, "chosen");
  assert.match(of([{ "load-balancer-name": "a" }, { "load-balancer-name": "b" }]).fault("a/y"), /conflicting load balancer name: a \| b/);
  assert.equal(of([{ "load-balancer-name": "x".repeat(32) }]).fault("a/x"), "");
  assert.match(of([{ "load-balancer-name": "x".repeat(33) }]).fault("a/x"), /load balancer name cannot be longer than 32 characters/);
  assert.equal(of([{ "load-balancer-name": "a" }], {}, { name: "p", loadBalancerName: "b" }).model.name, "b");
});

test("pools of addresses: none, one, the same, another, an empty one", () => {
  const coip = (...pools: readonly string[]) => of(pools.map((pool) => ({ "customer-owned-ipv4-pool": pool })));
  assert.equal(of([{}]).model.customerOwnedIpv4Pool, undefined);
  assert.equal(coip("ipv4pool-coip-1", "ipv4pool-coip-1").model.customerOwnedIpv4Pool, "ipv4pool-coip-1");
  assert.match(coip("ipv4pool-coip-1", "ipv4pool-coip-2").fault("a/y"), /conflicting CustomerOwnedIPv4Pool/);
  assert.match(coip("").fault("a/x"), /cannot use empty value for customer-owned-ipv4-pool annotation, ingress: a\/x/);
  const ipam = (...pools: readonly string[]) => of(pools.map((pool) => ({ "ipam-ipv4-pool-id": pool })));
  assert.equal(ipam("ipam-pool-1").model.ipv4IpamPool, "ipam-pool-1");
  assert.equal(ipam("").model.ipv4IpamPool, undefined, "an empty one is none");
  assert.match(ipam("ipam-pool-1", "ipam-pool-2").fault("a/y"), /conflicting ipv4 ipam pools/);
  const byClass = { name: "p", ipamConfiguration: { ipv4IPAMPoolId: "ipam-pool-9" } };
  assert.equal(of([{ "ipam-ipv4-pool-id": "ipam-pool-1" }], {}, byClass).model.ipv4IpamPool, "ipam-pool-9");
});

test("capacity: a wrong key, a wrong number, two that differ, nought, and the gate", () => {
  const key = "minimum-load-balancer-capacity";
  assert.equal(of([{ [key]: "CapacityUnits=0" }]).model.capacity, 0);
  assert.equal(of([{}]).model.capacity, undefined);
  assert.equal(of([{ [key]: "Units=1" }]).fault("a/x"), "invalid key to set the capacity: Units, Expected key: CapacityUnits");
  assert.equal(of([{ [key]: "CapacityUnits=x" }]).fault("a/x"), "invalid value to set the capacity: x");
  assert.equal(of([{ [key]: "CapacityUnits=1" }], withGates({ capacityReservation: false })).model.capacity, undefined);
  assert.equal(
    of([{ [key]: "Units=1" }], withGates({ capacityReservation: false })).fault("a/x"),
    "",
    "with the gate closed nobody reads it",
  );
});

const group = (id: string, name: string): SecurityGroup => ({ id, name: id, vpc: "vpc-1", tags: { Name: name } }) as never;

test("given security groups: by id and by name, in this order; all that carry a name; what is missing is named", () => {
  const groups = [group("sg-1", "one"), group("sg-2", "two"), group("sg-3", "two")];
  const on = (text: string, given = {}) => {
    const { model, fault } = of([{ "security-groups": text }], { groups, ...given });
    const ids =
      model.securityGroups.kind === "wanted"
        ? model.securityGroups.groups.map((each) => (each.kind === "given" ? each.id : "managed"))
        : [];
    return fault("a/x") || ids.join();
  };
  assert.equal(on("two, sg-1"), "sg-1,sg-2,sg-3");
  assert.equal(on(""), "managed,sg-backend", "an empty list is none");
  assert.match(
    on("sg-9,nine"),
    /couldn't find all security groups: requested ids \[sg-9\] but found \[\].*requested names \[nine\] but found \[\]/,
  );
  const conflicting = of([{ "security-groups": "sg-1" }, { "security-groups": "sg-2" }], { groups });
  assert.match(conflicting.fault("a/y"), /conflicting securityGroups: \[sg-1\] \| \[sg-2\]/);
  const half = of([{ "security-groups": "" }, { "security-groups": "sg-1" }], { groups });
  assert.match(half.fault("a/y"), /conflicting securityGroups/, "an empty list of one and a filled one of another");
});

test("given security groups: rules of targets are managed only where that is asked for, which takes the shared group", () => {
  const groups = [group("sg-1", "one")];
  const given = { "security-groups": "sg-1" };
  const networking = ({ bindings }: ReturnType<typeof of>) => bindings[0]?.spec.networking?.ingress?.[0]?.from?.[0];
  assert.equal(networking(of([given], { groups })), undefined);
  const managed = of([{ ...given, "manage-backend-security-group-rules": "true" }], { groups });
  assert.deepEqual(networking(managed), { securityGroup: { groupID: "sg-backend" } });
  const byFlag = of([given], { groups, ...withGates({}, { managesBackendRules: true }) });
  assert.deepEqual(networking(byFlag), { securityGroup: { groupID: "sg-backend" } });
  const { backendGroup: _, ...without } = { backendGroup: undefined, groups };
  const alone = of([{ ...given, "manage-backend-security-group-rules": "true" }], { ...without, backendGroup: undefined } as never);
  assert.match(alone.fault("a/x"), /backendSG feature is required to manage worker node SG rules when frontendSG manually specified/);
  const two = [
    { ...given, "manage-backend-security-group-rules": "true" },
    { ...given, "manage-backend-security-group-rules": "false" },
  ];
  assert.match(of(two, { groups }).fault("a/y"), /conflicting manage backend security group rules settings/);
  const own = of([{}], { backendGroup: undefined } as never);
  assert.deepEqual(networking(own), { securityGroup: { groupID: "<managed security group>" } }, "without a shared group its own lets in");
});

test("tags: whose it is goes first, then flags, the class, the Service and the Ingress; with the gate flags go last", () => {
  const services = [service("a/web", { annotations: { "alb.ingress.kubernetes.io/tags": "t=service,s=service" } })];
  const row = { tags: "t=ingress,s=ingress,i=ingress,d=ingress,elbv2.k8s.aws/cluster=mine" };
  const params: ClassParams = { name: "p", tags: [{ key: "t", value: "class" }] };
  const defaultTags = { d: "flag", t: "flag" };
  const tagsOf = (low: boolean) => {
    const { model } = of([row], { services, ...withGates({ defaultTagsLowPriority: low }, { defaultTags }) }, params);
    const [listener] = model.listeners;
    const managed = model.securityGroups.kind === "wanted" ? model.securityGroups.groups[0] : undefined;
    const pick = (tags: Readonly<Record<string, string>> = {}) => [tags.t, tags.s, tags.i, tags.d, tags["elbv2.k8s.aws/cluster"]].join();
    return {
      loadBalancer: pick(model.tags),
      listener: pick(listener?.tags),
      rule: pick(listener?.rules[0]?.tags),
      group: pick(managed?.kind === "managed" ? managed.group.tags : {}),
      targetGroup: pick(model.targetGroups[0]?.tags),
    };
  };
  const flagFirst = "flag,ingress,ingress,flag,prod";
  assert.deepEqual(tagsOf(false), {
    loadBalancer: flagFirst,
    listener: flagFirst,
    rule: flagFirst,
    group: flagFirst,
    targetGroup: "flag,service,ingress,flag,prod",
  });
  const flagLast = "class,ingress,ingress,ingress,prod";
  assert.deepEqual(tagsOf(true), {
    loadBalancer: flagLast,
    listener: flagLast,
    rule: flagLast,
    group: flagLast,
    targetGroup: "class,service,ingress,ingress,prod",
  });
});

test("tags that others keep are nobody's to set", () => {
  const given = withGates({}, { externalManagedTags: ["cost"] });
  assert.match(
    of([{ tags: "cost=1" }], given).fault("a/x"),
    /failed build tags for Ingress a\/x: external managed tag key cost cannot be specified/,
  );
  const byClass = of([{}], given, { name: "p", tags: [{ key: "cost", value: "1" }] });
  assert.match(byClass.fault("a/x"), /failed build tags for IngressClassParams p: external managed tag key cost/);
  const services = [service("a/web", { annotations: { "alb.ingress.kubernetes.io/tags": "cost=1" } })];
  assert.match(of([{}], { ...given, services }).fault("a/x"), /failed build tags for Ingress a\/x and Service a\/web: external managed/);
});

test("attributes: key by key; what the first member's class settles needs no agreement", () => {
  const rows = [{ "load-balancer-attributes": "a=1,b=1" }, { "load-balancer-attributes": "a=1,c=2" }];
  assert.deepEqual(of(rows).model.attributes, { a: "1", b: "1", c: "2" });
  const settled = of(
    [{ "load-balancer-attributes": "a=1" }, { "load-balancer-attributes": "a=2" }],
    {},
    {
      name: "p",
      loadBalancerAttributes: [{ key: "a", value: "3" }],
    },
  );
  assert.deepEqual([settled.fault("a/y"), settled.model.attributes], ["", { a: "3" }]);
});

test("subnets of a class: by tags anew at each look, and members that disagree about where they are named", () => {
  const byTags: ClassParams = { name: "p", subnets: { tags: { "kubernetes.io/role/elb": ["1"] } } };
  const standing = { subnets: ["subnet-a"], internal: true, securityGroups: [], addressType: "ipv4" };
  assert.deepEqual(of([{}], { standing }, byTags).model.subnets, [{ subnet: "subnet-a" }, { subnet: "subnet-b" }]);
  assert.deepEqual(of([{}], { standing }).model.subnets, [{ subnet: "subnet-a" }], "discovered ones stay");
  const x = ingress("a/x", { annotations: shared });
  const y = ingress("a/y", { annotations: { ...shared, subnets: "subnet-a,subnet-b" } });
  const ids: ClassParams = { name: "p", subnets: { ids: ["subnet-a", "subnet-b"] } };
  assert.match(
    bed().desire([x, byTags], y).faults.get("a/y")?.join() ?? "",
    /conflicting subnet specifications: IngressClassParams versus annotation/,
  );
  assert.match(
    bed()
      .desire([x, byTags], [ingress("a/z", { annotations: shared }), ids])
      .faults.get("a/z")
      ?.join() ?? "",
    /conflicting IngressClassParams subnet specifications/,
  );
  assert.match(of([{ subnets: "" }]).fault("a/x"), /unable to resolve at least one subnet/);
});
