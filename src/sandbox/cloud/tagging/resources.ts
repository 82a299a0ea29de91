/** What carries tags, over all services. */
import { type Account, arn } from "../account.ts";
import type { Tags } from "../balancing/tags.ts";
import { KINDS } from "../ec2/kinds.ts";
import type { Table } from "../store.ts";

/** Something with tags, under its ARN. */
export interface TaggedResource {
  readonly arn: string;
  readonly tags: Tags;
  replace(tags: Tags): void;
}

interface Tagged {
  readonly tags: Tags;
}

/** The tables of tagged records that are kept under their ARNs. */
const BY_ARN = ["elbv2/load-balancers", "elbv2/listeners", "elbv2/rules", "elbv2/target-groups", "elbv2/trust-stores", "acm/certificates"];

/** All of it, tagged or not. */
export function taggedResources(account: Account): readonly TaggedResource[] {
  const { store, ec2 } = account;
  const network = [ec2.vpcs, ec2.subnets, ec2.securityGroups, ec2.instances, ec2.interfaces, ec2.routeTables, ec2.addresses];
  return [
    ...BY_ARN.flatMap((name) => listed(store.table<Tagged>(name), (id) => id)),
    ...listed(store.table<Tagged>("elb/load-balancers"), (name) => arn(account, "elasticloadbalancing", `loadbalancer/${name}`)),
    ...network.flatMap((table) =>
      listed(table as unknown as Table<Tagged>, (id) => {
        const kind = Object.values(KINDS).find(({ prefix }) => id.startsWith(`${prefix}-`));
        return kind && arn(account, "ec2", `${kind.type}/${id}`);
      }),
    ),
  ];
}

function listed(table: Table<Tagged>, arnOf: (id: string) => string | undefined): readonly TaggedResource[] {
  return table.entries().flatMap(([id, { tags }]) => {
    const resourceArn = arnOf(id);
    return resourceArn === undefined
      ? []
      : [{ arn: resourceArn, tags, replace: (changed: Tags) => void table.update(id, { tags: changed }) }];
  });
}
