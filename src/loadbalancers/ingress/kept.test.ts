/** What stands of a group stays as it is while nobody knows what one of its Ingresses asks for: after a restart with a mistake in it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SecurityGroup } from "../../aws/security-groups.ts";
import { managedGroups } from "../model.ts";
import { bed, ingress, network, service } from "./ingress.fixture.ts";
import type { ClassParams } from "./view.ts";

const shared = { "group.name": "g" };
const mistake = { "group.order": "x" };
const member = (key: string, annotations: Readonly<Record<string, string>> = {}) =>
  ingress(key, { annotations: { ...shared, ...annotations }, rules: { [`${key.split("/")[0]}.example.com`]: ["Prefix / web:80"] } });
const stands = (more: object = {}) => ({
  internal: false,
  subnets: ["subnet-a", "subnet-b"],
  securityGroups: ["sg-managed", "sg-backend"],
  addressType: "ipv4",
  ...more,
});
const publicOnly = {
  ...network,
  subnets: network.subnets.map((subnet) => ({ ...subnet, tags: { "kubernetes.io/role/elb": "1" } })),
};

test("the scheme that one says who is not understood is kept, and needs no subnets for another", () => {
  const { deploy, desire } = bed({ forgets: true, network: publicOnly, standing: stands() });
  const publicly = { scheme: "internet-facing" };
  deploy(member("a/web", publicly), member("b/web"));
  const { model, problems, faults } = desire(member("a/web", { ...publicly, ...mistake }), member("b/web"));
  assert.deepEqual([problems, [...faults.keys()], model.internal], [[], ["a/web"], false]);
});

test("addresses of a family that one asks for who is not understood are there for the Services of others", () => {
  const dual = { "ip-address-type": "dualstack" };
  const services = ["a/web", "b/web"].map((key) => service(key, { ipFamilies: ["IPv6"] }));
  const { deploy, desire } = bed({ forgets: true, services, standing: stands({ addressType: "dualstack" }) });
  deploy(member("a/web", dual), member("b/web"));
  const { faults, model } = desire(member("a/web", { ...dual, ...mistake }), member("b/web"));
  assert.deepEqual([[...faults.keys()], model.addressType], [["a/web"], "dualstack"]);
});

const group = (id: string, name: string): SecurityGroup => ({ id, name, tags: { Name: name } }) as unknown as SecurityGroup;
const opened = (result: ReturnType<ReturnType<typeof bed>["desire"]>) =>
  result.bindings.map(({ spec }) => [spec.serviceRef.name, spec.networking?.ingress?.[0]?.from?.[0]]);

for (const forgets of [false, true]) {
  const when = forgets ? "after a restart" : "while it is remembered";
  test(`a security group that is no longer found by its name takes from nobody's targets what they let in, ${when}`, () => {
    const groups = [group("sg-1", "front")];
    const given = { groups, forgets, standing: stands({ securityGroups: ["sg-1", "sg-backend"] }) };
    const { deploy, desire } = bed(given);
    const named = { "security-groups": "front", "manage-backend-security-group-rules": "true" };
    deploy(member("a/web", named), member("b/web"));
    const before = opened(desire(member("a/web", named), member("b/web")));
    groups.length = 0;
    const result = desire(member("a/web", named), member("b/web"));
    assert.deepEqual([...result.faults.keys()], ["a/web"]);
    assert.deepEqual(opened(result).at(-1), before.at(-1));
    assert.deepEqual(result.model.securityGroups, { kind: "as-it-is" });
  });
}

test("no security group is made beside those that one has given who is not understood", () => {
  const standing = stands({ securityGroups: ["sg-1"] });
  const { deploy, desire } = bed({ forgets: true, groups: [group("sg-1", "front")], standing });
  const given = { "security-groups": "sg-1" };
  deploy(member("a/web", given), member("b/web"));
  const before = opened(desire(member("a/web", given), member("b/web")));
  const result = desire(member("a/web", { ...given, ...mistake }), member("b/web"));
  assert.deepEqual(managedGroups(result.model), []);
  assert.deepEqual(opened(result), before.slice(1));
});

test("the class of the first Ingress decides, also while nobody understands that one; no other class does in its place", () => {
  const first = {
    name: "p",
    loadBalancerAttributes: [{ key: "idle_timeout.timeout_seconds", value: "90" }],
    minimumLoadBalancerCapacity: { capacityUnits: 500 },
    listeners: [{ protocol: "HTTP", port: 80, listenerAttributes: [{ key: "routing.http.response.server.enabled", value: "false" }] }],
  };
  const other = {
    name: "q",
    loadBalancerAttributes: [{ key: "idle_timeout.timeout_seconds", value: "30" }],
    minimumLoadBalancerCapacity: { capacityUnits: 100 },
    listeners: [{ protocol: "HTTP", port: 80, listenerAttributes: [{ key: "routing.http.response.server.enabled", value: "true" }] }],
  };
  const { deploy } = bed({ forgets: true, standing: stands({ internal: true }) });
  deploy([member("a/web"), first], [member("b/web"), other]);
  assert.deepEqual(deploy([member("a/web", mistake), first], [member("b/web"), other]), []);
});

test("a rule that is kept outlasts a redirect of another's that goes before it", () => {
  const { deploy, account } = bed({ forgets: true });
  const toHttps = '{"type":"redirect","redirectConfig":{"port":"443","protocol":"HTTPS","statusCode":"HTTP_301"}}';
  const redirecting = ingress("a/web", {
    annotations: { ...shared, "actions.all": toHttps },
    rules: { "*": ["Prefix / all:use-annotation"] },
  });
  deploy(member("a/web"), member("b/web"));
  const hosts = () => JSON.stringify(account.seen().loadBalancer?.listeners.flatMap(({ rules }) => rules));
  deploy(redirecting, member("b/web", mistake));
  assert.match(hosts(), /b\.example\.com/);
  deploy(member("a/web"), member("b/web", mistake));
  assert.match(hosts(), /b\.example\.com/);
});

test("a class that says something new says it of one that is not understood too: nobody is in conflict with what it said before", () => {
  const classed = (cost: string): ClassParams => ({ name: "tuned", tags: [{ key: "cost", value: cost }] }) as ClassParams;
  const { deploy, desire } = bed();
  deploy([member("a/web"), classed("1")], [member("b/web"), classed("1")]);
  const { faults, model } = desire([member("a/web", mistake), classed("2")], [member("b/web"), classed("2")]);
  assert.deepEqual([[...faults.keys()], model.tags.cost], [["a/web"], "2"]);
});
