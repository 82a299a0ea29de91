/** A VPC of two zones, with public and private subnets of both families, and some security groups. */
import type { SecurityGroup } from "../../aws/security-groups.ts";
import type { Network, Subnet } from "../subnets.ts";

const subnet = (id: string, zone: string, number: number, role: string): Subnet => ({
  id,
  zone,
  cidr: `10.0.${number}.0/24`,
  ipv6Cidrs: [`2001:db8:0:${number}::/64`],
  tags: { Name: id.replace("subnet-", ""), [`kubernetes.io/role/${role}`]: "1" },
  availableAddresses: 200,
});

export const networkFixture: Network = {
  subnets: [
    subnet("subnet-private1", "a", 1, "internal-elb"),
    subnet("subnet-private2", "b", 2, "internal-elb"),
    subnet("subnet-public1", "a", 11, "elb"),
    subnet("subnet-public2", "b", 12, "elb"),
    { ...subnet("subnet-old", "c", 21, "none"), ipv6Cidrs: [] },
  ],
  routeTables: [{ id: "rtb-1", main: true, subnetIds: [], toInternet: false }],
  zoneTypes: {},
};

const group = (id: string, name: string): SecurityGroup => ({
  id,
  name,
  vpc: "vpc-1",
  tags: { Name: name },
  sources: [],
  descriptions: [],
});

export const groupFixture: readonly SecurityGroup[] = [group("sg-a", "front"), group("sg-b", "front"), group("sg-c", "other")];
