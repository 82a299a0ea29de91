/** Gateways under the shipped policies: those of Ingresses and of Services with the class suffice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { issue } from "../bed/certificates.ts";
import { gatewayWorld } from "../bed/gateway-world.ts";
import { actionsIn, strictPolicy, usualPolicy } from "../bed/policies.ts";

const own = { infrastructure: { parametersRef: { group: "gateway.k8s.aws", kind: "LoadBalancerConfiguration", name: "own" } } };

const kinds = [
  { className: "alb", features: ["ingresses", "target-group-bindings"], protocol: "HTTPS", port: 443, plural: "httproutes" },
  { className: "nlb", features: ["class-services", "target-group-bindings"], protocol: "TCP", port: 80, plural: "tcproutes" },
] as const;

for (const [name, policy] of Object.entries({ usual: usualPolicy, strict: strictPolicy })) {
  for (const { className, features, protocol, port, plural } of kinds) {
    test(`the ${name} policies allow all that a Gateway of class ${className} needs`, async () => {
      const world = await gatewayWorld();
      await world.service("web");
      await world.pods("web", 1);
      const [defaultCertificate] = className === "alb" ? await issue(world, [["shop.example.com"]]) : [];
      world.aws.controls.change({ policy: policy(world.aws, world.network, "test", ...features) });
      world.resetCalls();
      world.serve("--enable-leader-election=true");
      const attributes = [{ key: "load_balancing.cross_zone.enabled", value: "true" }];
      await world.add("loadbalancerconfigurations", "own", {
        tags: { team: "a" },
        ...(className === "nlb" && { loadBalancerAttributes: attributes }),
        minimumLoadBalancerCapacity: { capacityUnits: 100 },
      });
      await world.gateway("edge", [`${protocol}:${port} ${className === "alb" ? "shop.example.com" : ""}`.trim()], {
        gatewayClassName: className,
        ...own,
      });
      const matches = className === "alb" && { matches: [{ path: { type: "PathPrefix", value: "/" } }] };
      await world.add(plural, "shop", {
        parentRefs: [{ name: "edge" }],
        rules: [{ ...matches, backendRefs: [{ name: "web", port: 80 }] }],
      });
      await world.programmed("edge");
      await world.change("loadbalancerconfigurations", "own", { spec: { tags: { team: "b" }, sourceRanges: ["10.0.0.0/8"] } });
      await world.world.advance(300_000);
      assert.ok(
        defaultCertificate !== "" && !world.events("edge").some((event) => event.startsWith("Warning")),
        world.events("edge").join("\n"),
      );
      await world.drop("gateways", "edge");
      await world.until("gone", () => world.get("gateways", "edge") === undefined, 3_600_000);
      world.close();
      const called = Object.keys(world.aws.controls.journal.counts());
      assert.deepEqual(
        called.filter((action) => !actionsIn(...features).includes(action)),
        [],
        "called, and not allowed",
      );
    });
  }
}
