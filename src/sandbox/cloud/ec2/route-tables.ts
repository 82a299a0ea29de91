/** Route tables and their associations with subnets. Routes are in `routes.ts`. */
import type { Ec2, RouteTable, Tags, Vpc } from "./state.ts";

/** The table a VPC is born with, used by every subnet that has none of its own. */
export function createMainTable(ec2: Ec2, vpc: Vpc): RouteTable {
  return createTable(ec2, vpc, true, {});
}

/** A table with nothing but the way to its own VPC. */
export function createTable(ec2: Ec2, vpc: Vpc, main: boolean, tags: Tags): RouteTable {
  const id = ec2.account.ids.resource("rtb");
  const local = { kind: "local" } as const;
  return ec2.routeTables.put(id, {
    id,
    vpcId: vpc.id,
    routes: [
      ...vpc.cidrs.map((destination) => ({ destination, family: 4 as const, target: local })),
      ...(vpc.ipv6Cidr === undefined ? [] : [{ destination: vpc.ipv6Cidr, family: 6 as const, target: local }]),
    ],
    associations: main ? [{ id: ec2.account.ids.resource("rtbassoc"), subnetId: undefined, main: true }] : [],
    tags,
  });
}

/** Takes a subnet out of the table it was given. */
export function dissociateSubnet(ec2: Ec2, subnetId: string): void {
  for (const table of ec2.routeTables.values()) {
    const associations = table.associations.filter((association) => association.subnetId !== subnetId);
    if (associations.length < table.associations.length) ec2.routeTables.update(table.id, { associations });
  }
}
