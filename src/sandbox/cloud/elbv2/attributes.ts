/** The operations on attributes, alike for all three kinds of things that have them. */
import {
  DescribeListenerAttributes$,
  type DescribeListenerAttributesInput,
  type DescribeListenerAttributesOutput,
  DescribeLoadBalancerAttributes$,
  type DescribeLoadBalancerAttributesInput,
  type DescribeLoadBalancerAttributesOutput,
  DescribeTargetGroupAttributes$,
  type DescribeTargetGroupAttributesInput,
  type DescribeTargetGroupAttributesOutput,
  ModifyListenerAttributes$,
  type ModifyListenerAttributesInput,
  type ModifyListenerAttributesOutput,
  ModifyLoadBalancerAttributes$,
  type ModifyLoadBalancerAttributesInput,
  type ModifyLoadBalancerAttributesOutput,
  ModifyTargetGroupAttributes$,
  type ModifyTargetGroupAttributesInput,
  type ModifyTargetGroupAttributesOutput,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { invalidConfiguration } from "../balancing/network.ts";
import { type Operations, read, write } from "../service.ts";
import { allAttributes, attributeList, withAttributes } from "./attribute-tables.ts";
import { listenerAttributes } from "./listener-attributes.ts";
import { type Elbv2, listenerAt, loadBalancerAt, targetGroupAt } from "./state.ts";
import { targetGroupAttributes } from "./target-group-attributes.ts";
import { TYPES } from "./types.ts";

/** Describe and modify, for load balancers, target groups and listeners. A modification answers with everything. */
export function attributeOperations(elbv2: Elbv2): Operations {
  return [
    read<DescribeLoadBalancerAttributesInput, DescribeLoadBalancerAttributesOutput>(DescribeLoadBalancerAttributes$, (input) => {
      const loadBalancer = loadBalancerAt(elbv2, input.LoadBalancerArn);
      return { Attributes: attributeList(allAttributes(TYPES[loadBalancer.type].attributes, loadBalancer)) };
    }),
    write<ModifyLoadBalancerAttributesInput, ModifyLoadBalancerAttributesOutput>(ModifyLoadBalancerAttributes$, (input) => {
      const loadBalancer = loadBalancerAt(elbv2, input.LoadBalancerArn);
      const table = TYPES[loadBalancer.type].attributes;
      const attributes = withAttributes(table, loadBalancer, input.Attributes ?? []);
      for (const logs of ["access_logs", "connection_logs", "health_check_logs"]) {
        if (attributes[`${logs}.s3.enabled`] === "true" && !attributes[`${logs}.s3.bucket`]) {
          throw invalidConfiguration(`The value of '${logs}.s3.bucket' cannot be empty when ${logs.replaceAll("_", " ")} are enabled`);
        }
      }
      return { Attributes: attributeList(allAttributes(table, elbv2.loadBalancers.update(loadBalancer.arn, { attributes }))) };
    }),
    read<DescribeTargetGroupAttributesInput, DescribeTargetGroupAttributesOutput>(DescribeTargetGroupAttributes$, (input) => {
      const group = targetGroupAt(elbv2, input.TargetGroupArn);
      return { Attributes: attributeList(allAttributes(targetGroupAttributes(group), group)) };
    }),
    write<ModifyTargetGroupAttributesInput, ModifyTargetGroupAttributesOutput>(ModifyTargetGroupAttributes$, (input) => {
      const group = targetGroupAt(elbv2, input.TargetGroupArn);
      const table = targetGroupAttributes(group);
      const attributes = withAttributes(table, group, input.Attributes ?? []);
      return { Attributes: attributeList(allAttributes(table, elbv2.targetGroups.update(group.arn, { attributes }))) };
    }),
    read<DescribeListenerAttributesInput, DescribeListenerAttributesOutput>(DescribeListenerAttributes$, (input) => {
      const listener = listenerAt(elbv2, input.ListenerArn);
      return { Attributes: attributeList(allAttributes(listenerAttributes(listener), listener)) };
    }),
    write<ModifyListenerAttributesInput, ModifyListenerAttributesOutput>(ModifyListenerAttributes$, (input) => {
      const listener = listenerAt(elbv2, input.ListenerArn);
      const table = listenerAttributes(listener);
      const attributes = withAttributes(table, listener, input.Attributes ?? []);
      return { Attributes: attributeList(allAttributes(table, elbv2.listeners.update(listener.arn, { attributes }))) };
    }),
  ];
}
