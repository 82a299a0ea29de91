import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateLBCookieStickinessPolicyCommand,
  CreateLoadBalancerPolicyCommand,
  DeleteLoadBalancerPolicyCommand,
  DescribeLoadBalancerPoliciesCommand,
  DescribeLoadBalancerPolicyTypesCommand,
  SetLoadBalancerPoliciesForBackendServerCommand,
  SetLoadBalancerPoliciesOfListenerCommand,
} from "@aws-sdk/client-elastic-load-balancing";
import { type BalancingBed, balancingBed, CERTIFICATE } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { classic, described } from "./testing.ts";

const LoadBalancerName = "web";
const PROXY = "k8s-proxyprotocol-enabled";

async function bedWithPolicies(): Promise<BalancingBed> {
  const bed = await balancingBed();
  const Listeners = [
    { Protocol: "TCP", LoadBalancerPort: 80, InstancePort: 31080 },
    { Protocol: "SSL", LoadBalancerPort: 443, InstanceProtocol: "TCP", InstancePort: 31443, SSLCertificateId: CERTIFICATE },
  ];
  await bed.elb.send(classic(bed, { Listeners }));
  await bed.elb.send(proxyPolicy("true"));
  return bed;
}

function proxyPolicy(AttributeValue: string): CreateLoadBalancerPolicyCommand {
  const PolicyAttributes = [{ AttributeName: "ProxyProtocol", AttributeValue }];
  return new CreateLoadBalancerPolicyCommand({
    LoadBalancerName,
    PolicyName: PROXY,
    PolicyTypeName: "ProxyProtocolPolicyType",
    PolicyAttributes,
  });
}

test("the same policy twice is accepted; a duplicate name with other settings is DuplicatePolicyName", async () => {
  const bed = await bedWithPolicies();
  await bed.elb.send(proxyPolicy("true"));
  await refused(bed.elb.send(proxyPolicy("false")), "DuplicatePolicyNameException");
});

test("an unknown policy type is PolicyTypeNotFound, and attributes are checked against the type", async () => {
  const bed = await bedWithPolicies();
  const create = (PolicyTypeName: string, AttributeName: string, AttributeValue: string) =>
    bed.elb.send(
      new CreateLoadBalancerPolicyCommand({
        LoadBalancerName,
        PolicyName: "p",
        PolicyTypeName,
        PolicyAttributes: [{ AttributeName, AttributeValue }],
      }),
    );
  await refused(create("NoSuchType", "A", "b"), "PolicyTypeNotFoundException");
  await refused(create("ProxyProtocolPolicyType", "NoSuchAttribute", "b"), "InvalidConfigurationRequestException", 409);
  await refused(create("SSLNegotiationPolicyType", "Reference-Security-Policy", "no-such"), "InvalidConfigurationRequestException", 409);
});

test("an unknown policy on a backend port is PolicyNotFound, and a port without a listener is refused", async () => {
  const bed = await bedWithPolicies();
  const set = (InstancePort: number, ...PolicyNames: string[]) =>
    bed.elb.send(new SetLoadBalancerPoliciesForBackendServerCommand({ LoadBalancerName, InstancePort, PolicyNames }));
  await refused(set(31080, "no-such"), "PolicyNotFoundException");
  await refused(set(32000, PROXY), "InvalidConfigurationRequestException", 409);
  await refused(set(31080, "ELBSecurityPolicy-2016-08"), "InvalidConfigurationRequestException", 409);
  await set(31080, PROXY);
  assert.deepEqual((await described(bed)).BackendServerDescriptions, [{ InstancePort: 31080, PolicyNames: [PROXY] }]);
  await set(31080);
  assert.deepEqual((await described(bed)).BackendServerDescriptions, []);
});

test("policies on a missing listener port are ListenerNotFound, and must suit the listener", async () => {
  const bed = await bedWithPolicies();
  const set = (LoadBalancerPort: number, ...PolicyNames: string[]) =>
    bed.elb.send(new SetLoadBalancerPoliciesOfListenerCommand({ LoadBalancerName, LoadBalancerPort, PolicyNames }));
  await refused(set(8080), "ListenerNotFoundException");
  await refused(set(443, "no-such"), "PolicyNotFoundException");
  await refused(set(443, PROXY), "InvalidConfigurationRequestException", 409);
  await refused(set(80, "ELBSecurityPolicy-2016-08"), "InvalidConfigurationRequestException", 409);
  const PolicyAttributes = [{ AttributeName: "Reference-Security-Policy", AttributeValue: "ELBSecurityPolicy-TLS-1-2-2017-01" }];
  const strict = { LoadBalancerName, PolicyName: "strict", PolicyTypeName: "SSLNegotiationPolicyType", PolicyAttributes };
  await bed.elb.send(new CreateLoadBalancerPolicyCommand(strict));
  await bed.elb.send(new CreateLoadBalancerPolicyCommand(strict));
  await set(443, "strict");
  assert.deepEqual((await described(bed)).ListenerDescriptions?.[1]?.PolicyNames, ["strict"]);
});

test("deleting a policy in use is refused; afterwards it is PolicyNotFound", async () => {
  const bed = await bedWithPolicies();
  const backend = { LoadBalancerName, InstancePort: 31080 };
  await bed.elb.send(new SetLoadBalancerPoliciesForBackendServerCommand({ ...backend, PolicyNames: [PROXY] }));
  const remove = () => bed.elb.send(new DeleteLoadBalancerPolicyCommand({ LoadBalancerName, PolicyName: PROXY }));
  await refused(remove(), "InvalidConfigurationRequestException", 409);
  await bed.elb.send(new SetLoadBalancerPoliciesForBackendServerCommand({ ...backend, PolicyNames: [] }));
  await remove();
  const describe = new DescribeLoadBalancerPoliciesCommand({ LoadBalancerName, PolicyNames: [PROXY] });
  await refused(bed.elb.send(describe), "PolicyNotFoundException");
});

test("sample policies are described when no load balancer is named", async () => {
  const bed = await balancingBed();
  const { PolicyDescriptions: samples } = await bed.elb.send(new DescribeLoadBalancerPoliciesCommand({}));
  const names = samples?.map((policy) => policy.PolicyName);
  assert.ok(names?.includes("ELBSample-ELBDefaultNegotiationPolicy"));
  const one = await bed.elb.send(new DescribeLoadBalancerPoliciesCommand({ PolicyNames: ["ELBSecurityPolicy-TLS-1-2-2017-01"] }));
  const attributes = one.PolicyDescriptions?.[0]?.PolicyAttributeDescriptions;
  assert.equal(attributes?.find((attribute) => attribute.AttributeName === "Protocol-TLSv1.1")?.AttributeValue, "false");
});

test("policy types are described, and an unknown one is PolicyTypeNotFound", async () => {
  const bed = await balancingBed();
  const { PolicyTypeDescriptions: types } = await bed.elb.send(new DescribeLoadBalancerPolicyTypesCommand({}));
  assert.ok(types?.some((type) => type.PolicyTypeName === "ProxyProtocolPolicyType"));
  const unknown = new DescribeLoadBalancerPolicyTypesCommand({ PolicyTypeNames: ["NoSuchType"] });
  await refused(bed.elb.send(unknown), "PolicyTypeNotFoundException");
});

test("policies are described by their kinds: cookies apart, the default security policy of a secure listener among the others", async () => {
  const bed = await bedWithPolicies();
  const cookie = { LoadBalancerName, PolicyName: "sticky", CookieExpirationPeriod: 60 };
  await bed.elb.send(new CreateLBCookieStickinessPolicyCommand(cookie));
  assert.deepEqual((await described(bed)).Policies, {
    AppCookieStickinessPolicies: [],
    LBCookieStickinessPolicies: [{ PolicyName: "sticky", CookieExpirationPeriod: 60 }],
    OtherPolicies: ["ELBSecurityPolicy-2016-08", PROXY],
  });
});
