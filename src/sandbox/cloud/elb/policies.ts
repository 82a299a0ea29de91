/** Policies of a classic load balancer: made, set on a listener or an instance port, deleted. */

import { isDeepStrictEqual } from "node:util";
import {
  CreateAppCookieStickinessPolicy$,
  type CreateAppCookieStickinessPolicyInput,
  CreateLBCookieStickinessPolicy$,
  type CreateLBCookieStickinessPolicyInput,
  CreateLoadBalancerPolicy$,
  type CreateLoadBalancerPolicyInput,
  DeleteLoadBalancerPolicy$,
  type DeleteLoadBalancerPolicyInput,
  DescribeLoadBalancerPolicies$,
  type DescribeLoadBalancerPoliciesInput,
  type DescribeLoadBalancerPoliciesOutput,
  DescribeLoadBalancerPolicyTypes$,
  type DescribeLoadBalancerPolicyTypesInput,
  type DescribeLoadBalancerPolicyTypesOutput,
  SetLoadBalancerPoliciesForBackendServer$,
  type SetLoadBalancerPoliciesForBackendServerInput,
  SetLoadBalancerPoliciesOfListener$,
  type SetLoadBalancerPoliciesOfListenerInput,
} from "@aws-sdk/client-elastic-load-balancing";
import { invalidConfiguration } from "../balancing/network.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { isSecure, listenerOn, withListener } from "./listeners.ts";
import { describePolicyType, POLICY_TYPES, type PolicyType, SAMPLE_POLICIES, securityPolicy } from "./policy-types.ts";
import { type ClassicLoadBalancer, type Elb, type Listener, loadBalancerNamed, type Policy } from "./state.ts";

const MAX_POLICIES = 100;

/** The operations on policies. */
export function policyOperations(elb: Elb): Operations {
  return [
    write<CreateLoadBalancerPolicyInput, object>(CreateLoadBalancerPolicy$, (input) => {
      const attributes = (input.PolicyAttributes ?? []).map(({ AttributeName: name = "", AttributeValue: value = "" }) => ({
        name,
        value,
      }));
      return createPolicy(elb, input, { name: input.PolicyName ?? "", type: input.PolicyTypeName ?? "", attributes });
    }),
    write<CreateAppCookieStickinessPolicyInput, object>(CreateAppCookieStickinessPolicy$, (input) => {
      const attributes = [{ name: "CookieName", value: input.CookieName ?? "" }];
      return createPolicy(elb, input, { name: input.PolicyName ?? "", type: "AppCookieStickinessPolicyType", attributes });
    }),
    write<CreateLBCookieStickinessPolicyInput, object>(CreateLBCookieStickinessPolicy$, (input) => {
      const { CookieExpirationPeriod: period } = input;
      const attributes = period === undefined ? [] : [{ name: "CookieExpirationPeriod", value: String(period) }];
      return createPolicy(elb, input, { name: input.PolicyName ?? "", type: "LBCookieStickinessPolicyType", attributes });
    }),
    write<DeleteLoadBalancerPolicyInput, object>(DeleteLoadBalancerPolicy$, (input) => {
      const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
      const used = [...loadBalancer.listeners.map((listener) => listener.policyNames), ...Object.values(loadBalancer.backendPolicies)];
      if (used.some((names) => names.includes(input.PolicyName!))) throw invalidConfiguration(`Policy '${input.PolicyName}' is in use`);
      elb.loadBalancers.update(loadBalancer.name, { policies: loadBalancer.policies.filter((policy) => policy.name !== input.PolicyName) });
      return {};
    }),
    write<SetLoadBalancerPoliciesOfListenerInput, object>(SetLoadBalancerPoliciesOfListener$, (input) => {
      const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
      const listener = listenerOn(loadBalancer, input.LoadBalancerPort!);
      for (const name of input.PolicyNames ?? []) checkPlace(policyNamed(loadBalancer, name), listener);
      const listeners = withListener(loadBalancer, { ...listener, policyNames: input.PolicyNames ?? [] });
      elb.loadBalancers.update(loadBalancer.name, { listeners });
      return {};
    }),
    write<SetLoadBalancerPoliciesForBackendServerInput, object>(SetLoadBalancerPoliciesForBackendServer$, (input) => {
      setBackendPolicies(elb, loadBalancerNamed(elb, input.LoadBalancerName), input.InstancePort!, input.PolicyNames ?? []);
      return {};
    }),
    read<DescribeLoadBalancerPoliciesInput, DescribeLoadBalancerPoliciesOutput>(DescribeLoadBalancerPolicies$, (input) => ({
      PolicyDescriptions: policiesAsked(elb, input).map((policy) => ({
        PolicyName: policy.name,
        PolicyTypeName: policy.type,
        PolicyAttributeDescriptions: policy.attributes.map(({ name, value }) => ({ AttributeName: name, AttributeValue: value })),
      })),
    })),
    read<DescribeLoadBalancerPolicyTypesInput, DescribeLoadBalancerPolicyTypesOutput>(DescribeLoadBalancerPolicyTypes$, (input) => ({
      PolicyTypeDescriptions: input.PolicyTypeNames?.length
        ? input.PolicyTypeNames.map((name) => describePolicyType(policyTypeNamed(name)))
        : POLICY_TYPES.map(describePolicyType),
    })),
  ];
}

function policiesAsked(elb: Elb, input: DescribeLoadBalancerPoliciesInput): readonly Policy[] {
  const { LoadBalancerName: owner, PolicyNames: names } = input;
  const all = owner === undefined ? SAMPLE_POLICIES : loadBalancerNamed(elb, owner).policies;
  return names?.length ? names.map((name) => found(all, name)) : all;
}

function policyNamed(loadBalancer: ClassicLoadBalancer, name: string): Policy {
  return found(loadBalancer.policies, name);
}

function found(policies: readonly Policy[], name: string): Policy {
  const policy = policies.find((other) => other.name === name);
  if (policy === undefined) throw new ServiceError("PolicyNotFound", `There is no policy with name ${name}`);
  return policy;
}

function policyTypeNamed(name: string): PolicyType {
  const type = POLICY_TYPES.find((other) => other.name === name);
  if (type === undefined) throw new ServiceError("PolicyTypeNotFound", `There is no policy type with name ${name}`);
  return type;
}

/** AWS takes the same policy twice without complaint; one that differs needs another name. */
function createPolicy(elb: Elb, input: { readonly LoadBalancerName: string | undefined }, wish: Policy): object {
  const loadBalancer = loadBalancerNamed(elb, input.LoadBalancerName);
  if (!/^[a-zA-Z0-9-]+$/.test(wish.name)) {
    throw new ServiceError("ValidationError", "Policy name may only contain letters, digits and hyphens");
  }
  const policy = completed(wish, policyTypeNamed(wish.type));
  const known = loadBalancer.policies.find((other) => other.name === policy.name);
  if (known !== undefined && !isDeepStrictEqual(known, policy)) {
    throw new ServiceError("DuplicatePolicyName", `Policy '${policy.name}' already exists with different settings`);
  }
  if (known !== undefined) return {};
  if (loadBalancer.policies.length >= MAX_POLICIES)
    throw new ServiceError("TooManyPolicies", "The quota for the number of policies has been reached");
  elb.loadBalancers.update(loadBalancer.name, { policies: [...loadBalancer.policies, policy] });
  return {};
}

/** The policy with its attributes checked; one that refers to a predefined security policy spells out what that allows. */
function completed(wish: Policy, type: PolicyType): Policy {
  for (const { name } of wish.attributes) {
    if (!type.attributes.some((attribute) => attribute.name === name))
      throw invalidConfiguration(`Policy type ${type.name} has no attribute '${name}'`);
  }
  for (const attribute of type.attributes) {
    const given = wish.attributes.filter(({ name }) => name === attribute.name).length;
    if (given === 0 && attribute.cardinality.startsWith("ONE")) throw invalidConfiguration(`The attribute '${attribute.name}' is required`);
    if (given > 1 && !attribute.cardinality.endsWith("MORE"))
      throw invalidConfiguration(`The attribute '${attribute.name}' is given more than once`);
  }
  const reference = wish.attributes.find(({ name }) => name === "Reference-Security-Policy")?.value;
  if (reference === undefined) return wish;
  const predefined = securityPolicy(wish.name, reference);
  if (predefined === undefined) throw invalidConfiguration(`There is no predefined security policy with name '${reference}'`);
  return predefined;
}

function checkPlace(policy: Policy, listener: Listener): void {
  const { place } = policyTypeNamed(policy.type);
  const fits =
    place === "secure-listener" ? isSecure(listener.protocol) : place === "http-listener" && listener.protocol.startsWith("HTTP");
  if (!fits)
    throw invalidConfiguration(
      `Policy '${policy.name}' of type ${policy.type} cannot be set on a listener with protocol ${listener.protocol}`,
    );
}

function setBackendPolicies(elb: Elb, loadBalancer: ClassicLoadBalancer, port: number, names: readonly string[]): void {
  const known = loadBalancer.backendPolicies[port] !== undefined;
  if (!known && !loadBalancer.listeners.some((listener) => listener.instancePort === port)) {
    throw invalidConfiguration(`There is no listener with instance port ${port}`);
  }
  for (const name of names) {
    const policy = policyNamed(loadBalancer, name);
    if (policyTypeNamed(policy.type).place !== "backend")
      throw invalidConfiguration(`Policy '${name}' of type ${policy.type} cannot be set on an instance port`);
  }
  const { [port]: _, ...others } = loadBalancer.backendPolicies;
  elb.loadBalancers.update(loadBalancer.name, { backendPolicies: names.length === 0 ? others : { ...others, [port]: names } });
}
