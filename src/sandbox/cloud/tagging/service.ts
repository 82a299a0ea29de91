/** The Resource Groups Tagging API: what carries which tags, over all services. */
import {
  GetResources$,
  type GetResourcesInput,
  type GetResourcesOutput,
  type TagFilter,
  TagResources$,
  type TagResourcesInput,
  type TagResourcesOutput,
  UntagResources$,
  type UntagResourcesInput,
  type UntagResourcesOutput,
} from "@aws-sdk/client-resource-groups-tagging-api";
import type { Account } from "../account.ts";
import { type Tags, tagList, withoutTags, withTags } from "../balancing/tags.ts";
import { ServiceError } from "../errors.ts";
import { json } from "../protocol/protocol.ts";
import { read, type Service, write } from "../service.ts";
import { tokenPage } from "../token-pages.ts";
import { taggedResources } from "./resources.ts";

const MAX_PAGE = 100;
const MAX_FILTERS = 50;
const MAX_VALUES = 20;
const MAX_ARNS = 100;
const MAX_CHANGED = 20;

/** The service. */
export function taggingService(account: Account): Service {
  return {
    name: "tag",
    signingName: "tagging",
    address: { target: "ResourceGroupsTaggingAPI_20170126" },
    region: "own",
    protocol: json("1.1"),
    operations: [
      read<GetResourcesInput, GetResourcesOutput>(GetResources$, (input) => getResources(account, input)),
      write<TagResourcesInput, TagResourcesOutput>(
        TagResources$,
        (input) => eachResource(account, input, (tags) => withTags(tags, tagList(input.Tags ?? {}))),
        (input) => taggingPermissions(input, "tag"),
      ),
      write<UntagResourcesInput, UntagResourcesOutput>(
        UntagResources$,
        (input) => eachResource(account, input, (tags) => withoutTags(tags, input.TagKeys ?? [])),
        (input) => taggingPermissions(input, "untag"),
      ),
    ],
  };
}

const PERMISSIONS: Readonly<Record<string, Readonly<Record<"tag" | "untag", string>>>> = {
  elasticloadbalancing: { tag: "elasticloadbalancing:AddTags", untag: "elasticloadbalancing:RemoveTags" },
  acm: { tag: "acm:AddTagsToCertificate", untag: "acm:RemoveTagsFromCertificate" },
  ec2: { tag: "ec2:CreateTags", untag: "ec2:DeleteTags" },
};

/** Whoever changes tags here needs the permission of the services whose resources they are on. */
function taggingPermissions(
  { ResourceARNList: arns = [] }: TagResourcesInput | UntagResourcesInput,
  change: "tag" | "untag",
): readonly string[] {
  const services = new Set(arns.map((each) => each.split(":")[2] ?? ""));
  return [...services].flatMap((service) => PERMISSIONS[service]?.[change] ?? []);
}

/** What cannot be tagged is told of in the answer, and keeps nothing else from it. */
function eachResource(
  account: Account,
  { ResourceARNList: arns = [] }: TagResourcesInput | UntagResourcesInput,
  change: (tags: Tags) => Tags,
): TagResourcesOutput {
  if (arns.length === 0 || arns.length > MAX_CHANGED) throw invalid(`Between 1 and ${MAX_CHANGED} ARNs must be specified`);
  const all = new Map(taggedResources(account).map((resource) => [resource.arn, resource]));
  const failed = arns.flatMap((each) => {
    try {
      const resource = all.get(each);
      if (resource === undefined) throw invalid(`The resource '${each}' does not exist`);
      resource.replace(change(resource.tags));
      return [];
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return [[each, { StatusCode: 400, ErrorCode: "InvalidParameterException" as const, ErrorMessage: error.message }] as const];
    }
  });
  return { FailedResourcesMap: Object.fromEntries(failed) };
}

function getResources(account: Account, input: GetResourcesInput): GetResourcesOutput {
  const { TagFilters: filters = [], ResourceTypeFilters: types = [], ResourceARNList: arns = [] } = input;
  if (arns.length > 0 && (filters.length > 0 || types.length > 0 || input.ResourcesPerPage !== undefined)) {
    throw invalid("ResourceARNList cannot be combined with other filters");
  }
  if (arns.length > MAX_ARNS) throw invalid(`At most ${MAX_ARNS} ARNs can be specified`);
  if (filters.length > MAX_FILTERS) throw invalid(`At most ${MAX_FILTERS} tag filters can be specified`);
  for (const { Key: key, Values: values = [] } of filters) {
    if (!key) throw invalid("A tag filter must have a key");
    if (values.length > MAX_VALUES) throw invalid(`At most ${MAX_VALUES} values can be specified for '${key}'`);
  }
  const chosen = taggedResources(account).filter(
    (resource) =>
      // What never had a tag is not known here.
      Object.keys(resource.tags).length > 0 &&
      (arns.length === 0 || arns.includes(resource.arn)) &&
      (types.length === 0 || types.some((type) => isOfType(resource.arn, type))) &&
      filters.every((filter) => carries(resource.tags, filter)),
  );
  const page = tokenPage(account, chosen, (resource) => resource.arn, {
    token: input.PaginationToken,
    size: input.ResourcesPerPage,
    maxSize: MAX_PAGE,
    refuse: invalid,
  });
  return {
    ResourceTagMappingList: page.items.map((resource) => ({ ResourceARN: resource.arn, Tags: tagList(resource.tags) })),
    PaginationToken: page.next ?? "",
  };
}

/** `ec2`, `ec2:instance`, `elasticloadbalancing:loadbalancer` or, narrower, `elasticloadbalancing:loadbalancer/app`. */
function isOfType(resourceArn: string, type: string): boolean {
  const [service, kind] = type.split(":");
  const parts = resourceArn.split(":");
  if (parts[2] !== service) return false;
  return kind === undefined || `${parts.slice(5).join(":")}/`.startsWith(`${kind}/`);
}

/** Of one key any of the values will do; a key alone, whatever its value. */
function carries(tags: Tags, { Key: key = "", Values: values = [] }: TagFilter): boolean {
  const value = tags[key];
  return value !== undefined && (values.length === 0 || values.includes(value));
}

function invalid(message: string): ServiceError {
  return new ServiceError("InvalidParameterException", message);
}
