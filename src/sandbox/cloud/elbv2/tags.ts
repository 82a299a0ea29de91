/** Tags of load balancers, listeners, rules, target groups and trust stores. */
import {
  AddTags$,
  type AddTagsInput,
  DescribeTags$,
  type DescribeTagsInput,
  type DescribeTagsOutput,
  RemoveTags$,
  type RemoveTagsInput,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { checkTagged, type Tags, tagList, withoutTags, withTags } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { listenerOfDefault } from "./rules.ts";
import { type Elbv2, listenerAt, loadBalancerAt, targetGroupAt, trustStoreAt } from "./state.ts";

interface Tagged {
  readonly tags: Tags;
  replace(tags: Tags): void;
}

/** The operations on tags. */
export function tagOperations(elbv2: Elbv2): Operations {
  /** The model takes a list, and AWS refuses more than one: https://github.com/aws/aws-sdk-go-v2/issues/2715 */
  const only = (arns: readonly string[] | undefined): Tagged => {
    if (arns?.length !== 1) throw new ServiceError("ValidationError", "Only one resource can be tagged at a time");
    return taggedAt(elbv2, arns[0]!);
  };
  return [
    write<AddTagsInput, object>(AddTags$, (input) => {
      const one = only(input.ResourceArns);
      one.replace(withTags(one.tags, input.Tags));
      return {};
    }),
    write<RemoveTagsInput, object>(RemoveTags$, (input) => {
      const one = only(input.ResourceArns);
      one.replace(withoutTags(one.tags, input.TagKeys ?? []));
      return {};
    }),
    read<DescribeTagsInput, DescribeTagsOutput>(DescribeTags$, ({ ResourceArns = [] }) => {
      checkTagged(ResourceArns, "ResourceArns");
      return { TagDescriptions: [...new Set(ResourceArns)].map((arn) => ({ ResourceArn: arn, Tags: tagList(taggedAt(elbv2, arn).tags) })) };
    }),
  ];
}

function taggedAt(elbv2: Elbv2, arn: string): Tagged {
  switch (/^arn:[a-z-]+:elasticloadbalancing:[^:]*:\d{12}:([a-z-]+)\//.exec(arn)?.[1]) {
    case "loadbalancer": {
      const { tags } = loadBalancerAt(elbv2, arn);
      return { tags, replace: (changed) => void elbv2.loadBalancers.update(arn, { tags: changed }) };
    }
    case "listener": {
      const { tags } = listenerAt(elbv2, arn);
      return { tags, replace: (changed) => void elbv2.listeners.update(arn, { tags: changed }) };
    }
    case "targetgroup": {
      const { tags } = targetGroupAt(elbv2, arn);
      return { tags, replace: (changed) => void elbv2.targetGroups.update(arn, { tags: changed }) };
    }
    case "truststore": {
      const { tags } = trustStoreAt(elbv2, arn);
      return { tags, replace: (changed) => void elbv2.trustStores.update(arn, { tags: changed }) };
    }
    case "listener-rule":
      return taggedRule(elbv2, arn);
    default:
      throw new ServiceError("ValidationError", `'${arn}' is not a valid resource ARN`);
  }
}

/** A default rule has the tags of its own that it was made without, and takes none. */
function taggedRule(elbv2: Elbv2, arn: string): Tagged {
  const rule = elbv2.rules.get(arn);
  if (rule !== undefined) return { tags: rule.tags, replace: (changed) => void elbv2.rules.update(arn, { tags: changed }) };
  if (listenerOfDefault(elbv2, arn) === undefined) throw new ServiceError("RuleNotFound", `Rule '${arn}' not found`);
  return {
    tags: {},
    replace: () => {
      throw new ServiceError("OperationNotPermitted", `Default rule '${arn}' cannot be tagged`);
    },
  };
}
