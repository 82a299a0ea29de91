/** The Resource Groups Tagging API: what carries which tags, over all services. */
import {
  GetResources$,
  type GetResourcesInput,
  type GetResourcesOutput,
  type TagFilter,
} from "@aws-sdk/client-resource-groups-tagging-api";
import { type Account, arn } from "../account.ts";
import { type Tags, tagList } from "../balancing/tags.ts";
import { KINDS } from "../ec2/kinds.ts";
import { ServiceError } from "../errors.ts";
import { json } from "../protocol/protocol.ts";
import { read, type Service } from "../service.ts";
import { tokenPage } from "../token-pages.ts";

const MAX_PAGE = 100;
const MAX_FILTERS = 50;
const MAX_VALUES = 20;
const MAX_ARNS = 100;

interface Tagged {
  readonly tags: Tags;
}

interface Resource {
  readonly arn: string;
  readonly tags: Tags;
}

/** The service. */
export function taggingService(account: Account): Service {
  return {
    name: "tag",
    signingName: "tagging",
    address: { target: "ResourceGroupsTaggingAPI_20170126" },
    region: "own",
    protocol: json("1.1"),
    operations: [read<GetResourcesInput, GetResourcesOutput>(GetResources$, (input) => getResources(account, input))],
  };
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
  const chosen = resourcesOf(account).filter(
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

/** The tables of tagged records that are kept under their ARNs. */
const BY_ARN = ["elbv2/load-balancers", "elbv2/listeners", "elbv2/rules", "elbv2/target-groups", "elbv2/trust-stores", "acm/certificates"];

function resourcesOf(account: Account): readonly Resource[] {
  const { store, ec2 } = account;
  const named = BY_ARN.flatMap((table) => store.table<Tagged>(table).entries());
  const classics = store
    .table<Tagged>("elb/load-balancers")
    .entries()
    .map(([name, record]) => [arn(account, "elasticloadbalancing", `loadbalancer/${name}`), record] as const);
  const network = [ec2.vpcs, ec2.subnets, ec2.securityGroups, ec2.instances, ec2.interfaces, ec2.routeTables, ec2.addresses].flatMap(
    (table) =>
      (table.entries() as [string, Tagged][]).flatMap(([id, record]) => {
        const kind = Object.values(KINDS).find(({ prefix }) => id.startsWith(`${prefix}-`));
        return kind === undefined ? [] : [[arn(account, "ec2", `${kind.type}/${id}`), record] as const];
      }),
  );
  return [...named, ...classics, ...network].map(([resourceArn, { tags }]) => ({ arn: resourceArn, tags }));
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
