import type { Account } from "../account.ts";
import { ec2Query } from "../protocol/protocol.ts";
import type { Service } from "../service.ts";
import { securityGroupOperations } from "./security-groups.ts";
import { subnetOperations } from "./subnets.ts";
import { vpcOperations } from "./vpcs.ts";
import { zoneOperations } from "./zones.ts";

/** Amazon EC2: machines and their network. */
export function ec2Service({ ec2 }: Account): Service {
  return {
    name: "ec2",
    signingName: "ec2",
    address: { version: "2016-11-15" },
    region: "own",
    protocol: ec2Query("http://ec2.amazonaws.com/doc/2016-11-15/"),
    operations: [...zoneOperations(ec2), ...vpcOperations(ec2), ...subnetOperations(ec2), ...securityGroupOperations(ec2)],
  };
}
