/** CreateTags, DeleteTags and DescribeTags, over every kind of resource at once. */
import {
  CreateTags$,
  type CreateTagsRequest,
  DeleteTags$,
  type DeleteTagsRequest,
  DescribeTags$,
  type DescribeTagsRequest,
  type DescribeTagsResult,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import type { Table } from "../store.ts";
import { type FilterTable, filtered } from "./filters.ts";
import { egressOnlyGateways } from "./ipv6-blocks.ts";
import { keyPairs } from "./key-pairs.ts";
import { find, KINDS, type Kind } from "./kinds.ts";
import { page } from "./pages.ts";
import { peerings } from "./peerings.ts";
import type { Ec2, Tags } from "./state.ts";
import { checkedKey, withTags } from "./tags.ts";
import { vpcEndpoints } from "./vpc-endpoints.ts";

const MAX_RESOURCES = 1000;

interface Tagged {
  readonly id: string;
  readonly tags: Tags;
}

interface TagRow {
  readonly resourceId: string;
  readonly type: string;
  readonly key: string;
  readonly value: string;
}

/** The operations on tags. */
export function tagOperations(ec2: Ec2): Operations {
  const tables = taggedTables(ec2);
  return [
    write<CreateTagsRequest, void>(CreateTags$, (input) => {
      const changes = located(tables, input.Resources).map(({ table, record }) => ({
        table,
        record,
        tags: withTags(record.tags, input.Tags),
      }));
      for (const { table, record, tags } of changes) table.update(record.id, { tags });
    }),
    write<DeleteTagsRequest, void>(DeleteTags$, (input) => {
      for (const { table, record } of located(tables, input.Resources)) {
        const tags = Object.entries(record.tags).filter(([key, value]) => !isDoomed(input, key, value));
        table.update(record.id, { tags: Object.fromEntries(tags) });
      }
    }),
    read<DescribeTagsRequest, DescribeTagsResult>(DescribeTags$, (input) => {
      const rows = tables.flatMap(({ kind, table }) =>
        table
          .values()
          .flatMap(({ id, tags }) => Object.entries(tags).map(([key, value]): TagRow => ({ resourceId: id, type: kind.type, key, value }))),
      );
      const { items, NextToken } = page(ec2, filtered(rows, input.Filters, FILTERS), (row) => `${row.resourceId} ${row.key}`, input, {
        action: "DescribeTags",
        min: 5,
        max: 1000,
        usual: 1000,
      });
      return {
        Tags: items.map((row) => ({ Key: row.key, ResourceId: row.resourceId, ResourceType: row.type as "instance", Value: row.value })),
        NextToken,
      };
    }),
  ];
}

/** A tag goes when it is named: by its key, or by key and value together. No list at all means all of the user's tags. */
function isDoomed(input: DeleteTagsRequest, key: string, value: string): boolean {
  if (key.startsWith("aws:")) return false;
  if (input.Tags === undefined || input.Tags.length === 0) return true;
  return input.Tags.some((tag) => checkedKey(tag.Key) === key && (tag.Value === undefined || tag.Value === value));
}

function located(
  tables: readonly { readonly kind: Kind; readonly table: Table<Tagged> }[],
  ids: readonly string[] | undefined,
): { readonly table: Table<Tagged>; readonly record: Tagged }[] {
  if (ids === undefined || ids.length === 0)
    throw new ServiceError("MissingParameter", "The request must contain the parameter resourceIdSet");
  if (ids.length > MAX_RESOURCES)
    throw new ServiceError("InvalidParameterValue", `The maximum number of resources in a request is ${MAX_RESOURCES}.`);
  return [...new Set(ids)].map((id) => {
    const place = tables.find(({ kind }) => id.startsWith(`${kind.prefix}-`));
    if (place === undefined) throw new ServiceError("InvalidID", `The ID '${id}' is not valid`);
    return { table: place.table, record: find(place.table, place.kind, id) };
  });
}

function taggedTables(ec2: Ec2): readonly { readonly kind: Kind; readonly table: Table<Tagged> }[] {
  const entry = (kind: Kind, table: unknown) => ({ kind, table: table as Table<Tagged> });
  return [
    entry(KINDS.instance, ec2.instances),
    entry(KINDS.vpc, ec2.vpcs),
    entry(KINDS.subnet, ec2.subnets),
    entry(KINDS.routeTable, ec2.routeTables),
    entry(KINDS.internetGateway, ec2.internetGateways),
    entry(KINDS.natGateway, ec2.natGateways),
    entry(KINDS.rule, ec2.rules),
    entry(KINDS.securityGroup, ec2.securityGroups),
    entry(KINDS.networkInterface, ec2.interfaces),
    entry(KINDS.allocation, ec2.addresses),
    entry(KINDS.volume, ec2.volumes),
    entry(KINDS.snapshot, ec2.snapshots),
    entry(KINDS.keyPair, keyPairs(ec2)),
    entry(KINDS.peering, peerings(ec2)),
    entry(KINDS.egressOnlyGateway, egressOnlyGateways(ec2)),
    entry(KINDS.vpcEndpoint, vpcEndpoints(ec2)),
  ];
}

const FILTERS: FilterTable<TagRow> = {
  key: (row) => row.key,
  "resource-id": (row) => row.resourceId,
  "resource-type": (row) => row.type,
  value: (row) => row.value,
};
