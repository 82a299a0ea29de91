import type { Account } from "../account.ts";
import { ec2Query } from "../protocol/protocol.ts";
import type { Service } from "../service.ts";
import { addressAttributeOperations } from "./address-attributes.ts";
import { addressOperations } from "./addresses.ts";
import { gatewayOperations } from "./gateways.ts";
import { imageOperations } from "./images.ts";
import { instanceAttributeOperations } from "./instance-attributes.ts";
import { instanceLifecycleOperations } from "./instance-lifecycle.ts";
import { instanceQueryOperations } from "./instance-queries.ts";
import { instanceTypeOfferingOperations } from "./instance-type-offerings.ts";
import { instanceTypeOperations } from "./instance-types.ts";
import { interfaceAddressOperations } from "./interface-addresses.ts";
import { interfaceOperations } from "./interface-operations.ts";
import { ipv6Operations } from "./ipv6-blocks.ts";
import { keyPairOperations } from "./key-pairs.ts";
import { peeringOperations } from "./peerings.ts";
import { routeTableOperations } from "./route-tables.ts";
import { routeOperations } from "./routes.ts";
import { runInstanceOperations } from "./run-instances.ts";
import { securityGroupRuleOperations } from "./security-group-rules.ts";
import { securityGroupOperations } from "./security-groups.ts";
import { subnetOperations } from "./subnets.ts";
import { tagOperations } from "./tag-operations.ts";
import { volumeAttachmentOperations } from "./volumes/attachments.ts";
import { volumeCreationOperations } from "./volumes/create.ts";
import { fastRestoreOperations } from "./volumes/fast-restores.ts";
import { snapshotLockOperations } from "./volumes/locks.ts";
import { volumeModificationOperations } from "./volumes/modifications.ts";
import { volumeQueryOperations } from "./volumes/queries.ts";
import { snapshotOperations } from "./volumes/snapshots.ts";
import { vpcEndpointOperations } from "./vpc-endpoints.ts";
import { vpcOperations } from "./vpcs.ts";
import { zoneOperations } from "./zones.ts";

/** Amazon EC2: machines, their network and their volumes. */
export function ec2Service({ ec2 }: Account): Service {
  return {
    name: "ec2",
    signingName: "ec2",
    address: { version: "2016-11-15" },
    region: "own",
    protocol: ec2Query("http://ec2.amazonaws.com/doc/2016-11-15/"),
    operations: [
      zoneOperations,
      vpcOperations,
      subnetOperations,
      routeTableOperations,
      routeOperations,
      gatewayOperations,
      peeringOperations,
      ipv6Operations,
      vpcEndpointOperations,
      keyPairOperations,
      securityGroupOperations,
      securityGroupRuleOperations,
      interfaceOperations,
      interfaceAddressOperations,
      addressOperations,
      addressAttributeOperations,
      imageOperations,
      runInstanceOperations,
      instanceLifecycleOperations,
      instanceQueryOperations,
      instanceAttributeOperations,
      instanceTypeOperations,
      instanceTypeOfferingOperations,
      volumeCreationOperations,
      volumeAttachmentOperations,
      volumeModificationOperations,
      volumeQueryOperations,
      snapshotOperations,
      snapshotLockOperations,
      fastRestoreOperations,
      tagOperations,
    ].flatMap((operations) => operations(ec2)),
  };
}
