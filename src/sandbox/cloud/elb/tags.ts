/** Tags of classic load balancers, and the account's limits. */
import {
  AddTags$,
  type AddTagsInput,
  DescribeAccountLimits$,
  type DescribeAccountLimitsInput,
  type DescribeAccountLimitsOutput,
  DescribeTags$,
  type DescribeTagsInput,
  type DescribeTagsOutput,
  RemoveTags$,
  type RemoveTagsInput,
} from "@aws-sdk/client-elastic-load-balancing";
import { markerPage } from "../balancing/pages.ts";
import { checkTagged, tagList, withoutTags, withTags } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { type Elb, loadBalancerNamed } from "./state.ts";

/** The operations on tags and limits. */
export function tagOperations(elb: Elb): Operations {
  const only = (names: readonly string[] | undefined) => {
    if (names?.length !== 1) throw new ServiceError("ValidationError", "Tags can be changed on one load balancer at a time");
    return loadBalancerNamed(elb, names[0]);
  };
  return [
    write<AddTagsInput, object>(AddTags$, (input) => {
      const { name, tags } = only(input.LoadBalancerNames);
      elb.loadBalancers.update(name, { tags: withTags(tags, input.Tags) });
      return {};
    }),
    write<RemoveTagsInput, object>(RemoveTags$, (input) => {
      const { name, tags } = only(input.LoadBalancerNames);
      const keys = (input.Tags ?? []).map((tag) => tag.Key);
      elb.loadBalancers.update(name, { tags: withoutTags(tags, keys) });
      return {};
    }),
    read<DescribeTagsInput, DescribeTagsOutput>(DescribeTags$, (input) => {
      const names = input.LoadBalancerNames ?? [];
      checkTagged(names, "LoadBalancerNames");
      const found = [...new Set(names)].map((name) => loadBalancerNamed(elb, name));
      return { TagDescriptions: found.map(({ name, tags }) => ({ LoadBalancerName: name, Tags: tagList(tags) })) };
    }),
    read<DescribeAccountLimitsInput, DescribeAccountLimitsOutput>(DescribeAccountLimits$, (input) => {
      const limits = {
        "classic-listeners": 100,
        "classic-load-balancers": elb.account.settings().quotas.classicLoadBalancers,
        "classic-registered-instances": 1000,
      };
      const { items, NextMarker } = markerPage(elb.account, Object.entries(limits), ([name]) => name, input);
      return { Limits: items.map(([Name, max]) => ({ Name, Max: String(max) })), NextMarker };
    }),
  ];
}
