import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoadBalancerSettings } from "./config.ts";
import { mergeLoadBalancers, mergeTargetGroups } from "./merge.ts";
import { configurationOf, mergeDefaults, settingsFor, targetSettings } from "./target-settings.ts";

const full = (which: string): LoadBalancerSettings => ({
  loadBalancerName: which,
  scheme: which === "class" ? "internal" : "internet-facing",
  securityGroups: [`sg-${which}`],
  tags: { shared: which, [which]: "own" },
  loadBalancerAttributes: [
    { key: "shared", value: which },
    { key: which, value: "own" },
  ],
  listenerConfigurations: [{ protocolPort: "HTTPS:443", sslPolicy: which }, { protocolPort: which === "class" ? "HTTP:80" : "HTTP:8080" }],
  minimumLoadBalancerCapacity: { capacityUnits: which === "class" ? 100 : 200 },
});

test("one configuration alone is used as it is, and none is all defaults", () => {
  assert.deepEqual(mergeLoadBalancers(undefined, undefined), {});
  assert.deepEqual(mergeLoadBalancers({}, {}), {});
  assert.deepEqual(mergeLoadBalancers(full("class"), undefined), full("class"));
  assert.deepEqual(mergeLoadBalancers(undefined, full("gateway")), full("gateway"));
  assert.deepEqual(mergeLoadBalancers(full("class"), {}), full("class"));
  assert.deepEqual(mergeLoadBalancers({}, full("gateway")), full("gateway"));
});

test("the class goes before the Gateway unless its configuration says otherwise; maps and lists with keys are merged by them", () => {
  for (const [mode, winner, loser] of [
    [undefined, "class", "gateway"],
    ["prefer-gateway-class", "class", "gateway"],
    ["prefer-gateway", "gateway", "class"],
  ] as const) {
    const merged = mergeLoadBalancers({ ...full("class"), ...(mode && { mergingMode: mode }) }, full("gateway"));
    assert.equal(merged.loadBalancerName, winner);
    assert.deepEqual(merged.securityGroups, [`sg-${winner}`]);
    assert.deepEqual(merged.tags, { shared: winner, class: "own", gateway: "own" });
    assert.deepEqual(
      merged.loadBalancerAttributes?.map(({ key, value }) => `${key}=${value}`),
      [`shared=${winner}`, `${winner}=own`, `${loser}=own`],
    );
    assert.deepEqual(merged.listenerConfigurations?.map(({ protocolPort }) => protocolPort).toSorted(), [
      "HTTP:80",
      "HTTP:8080",
      "HTTPS:443",
    ]);
    assert.equal(merged.listenerConfigurations?.find(({ protocolPort }) => protocolPort === "HTTPS:443")?.sslPolicy, winner);
    assert.deepEqual(merged.minimumLoadBalancerCapacity, { capacityUnits: winner === "class" ? 100 : 200 });
  }
});

test("the merging mode of a Gateway's configuration counts for nothing", () => {
  assert.equal(mergeLoadBalancers(full("class"), { ...full("gateway"), mergingMode: "prefer-gateway" }).loadBalancerName, "class");
});

test("an empty list is something that is said", () => {
  assert.deepEqual(mergeLoadBalancers({ securityGroups: [] }, full("gateway")).securityGroups, []);
  assert.deepEqual(mergeLoadBalancers({ sourceRanges: [] }, { sourceRanges: ["10.0.0.0/8"] }).sourceRanges, []);
});

const route = { kind: "HTTPRoute", namespace: "shop", name: "web" } as const;
const named = (name: string) => ({ targetGroupName: name });

test("the settings of a target group: the best fitting identifier of a route over what is said of all", () => {
  assert.deepEqual(settingsFor(route, undefined), {});
  assert.deepEqual(settingsFor(route, { defaultConfiguration: named("all") }), named("all"));
  const cases: readonly [string, readonly object[], string][] = [
    ["kind", [{ kind: "HTTPRoute" }], "0"],
    ["namespace before kind", [{ kind: "HTTPRoute" }, { kind: "HTTPRoute", namespace: "shop" }], "1"],
    [
      "name before all",
      [
        { kind: "HTTPRoute", namespace: "shop" },
        { kind: "HTTPRoute", namespace: "shop", name: "web" },
      ],
      "1",
    ],
    ["the first of equals", [{ kind: "HTTPRoute" }, { kind: "HTTPRoute" }], "0"],
    ["another name", [{ kind: "HTTPRoute", namespace: "shop", name: "api" }], "all"],
    ["another namespace", [{ kind: "HTTPRoute", namespace: "other" }], "all"],
    ["another kind", [{ kind: "TCPRoute" }], "all"],
    ["a more specific one that does not fit", [{ kind: "HTTPRoute" }, { kind: "HTTPRoute", namespace: "shop", name: "api" }], "0"],
    ["a name without its namespace", [{ kind: "HTTPRoute", name: "web" }], "all"],
    ["no kind", [{ namespace: "shop", name: "web" }], "all"],
  ];
  for (const [what, identifiers, expected] of cases) {
    const routeConfigurations = identifiers.map((routeIdentifier, i) => ({ routeIdentifier, targetGroupProps: named(String(i)) }));
    assert.equal(settingsFor(route, { defaultConfiguration: named("all"), routeConfigurations }).targetGroupName, expected, what);
  }
});

test("fields are merged one by one, tags and attributes by key, a health check whole", () => {
  const low = {
    targetType: "ip",
    protocol: "HTTP",
    tags: { a: "low", b: "low" },
    targetGroupAttributes: [
      { key: "a", value: "low" },
      { key: "b", value: "low" },
    ],
    healthCheckConfig: { healthCheckPath: "/low", healthCheckInterval: 7 },
  } as const;
  const high = {
    targetType: "instance",
    tags: { a: "high" },
    targetGroupAttributes: [{ key: "a", value: "high" }],
    healthCheckConfig: { healthCheckPath: "/high" },
  } as const;
  assert.deepEqual(mergeTargetGroups(high, low), {
    targetType: "instance",
    protocol: "HTTP",
    tags: { a: "high", b: "low" },
    targetGroupAttributes: [
      { key: "a", value: "high" },
      { key: "b", value: "low" },
    ],
    healthCheckConfig: { healthCheckPath: "/high" },
  });
});

test("a Service's own configuration goes before the default of the Gateway", () => {
  const ofService = { defaultConfiguration: { targetType: "ip", tags: { a: "service" } } } as const;
  const ofGateway = { defaultConfiguration: { targetType: "instance", protocol: "HTTPS", tags: { a: "gateway", b: "gateway" } } } as const;
  assert.deepEqual(targetSettings(route, ofService, ofGateway), {
    targetType: "ip",
    protocol: "HTTPS",
    tags: { a: "service", b: "gateway" },
  });
});

test("defaults of class and Gateway are merged by the mode; the winner's routes are used alone", () => {
  const of = (who: string) => ({
    defaultConfiguration: { targetGroupName: who, tags: { [who]: "own" } },
    routeConfigurations: [{ routeIdentifier: { kind: "HTTPRoute" }, targetGroupProps: named(`${who} route`) }],
  });
  for (const [mode, winner] of [
    ["prefer-gateway", "gateway"],
    ["prefer-gateway-class", "class"],
  ] as const) {
    const merged = mergeDefaults(mode, of("class"), of("gateway"));
    assert.equal(merged?.defaultConfiguration?.targetGroupName, winner);
    assert.deepEqual(merged?.defaultConfiguration?.tags, { class: "own", gateway: "own" });
    assert.deepEqual(
      merged?.routeConfigurations?.map(({ targetGroupProps }) => targetGroupProps.targetGroupName),
      [`${winner} route`],
    );
  }
  assert.equal(mergeDefaults("prefer-gateway", undefined, undefined), undefined);
  assert.equal(mergeDefaults("prefer-gateway", of("class"), undefined)?.defaultConfiguration?.targetGroupName, "class");
});

test("a configuration is a backend's by name and kind; the kind is Service unless it is said", () => {
  const all = [{ targetReference: { name: "web", kind: "Gateway" } }, { targetReference: { name: "web" } }, {}];
  assert.equal(configurationOf({ kind: "Service", name: "web" }, all), all[1]);
  assert.equal(configurationOf({ kind: "Gateway", name: "web" }, all), all[0]);
  assert.equal(configurationOf({ kind: "Service", name: "api" }, all), undefined);
});
