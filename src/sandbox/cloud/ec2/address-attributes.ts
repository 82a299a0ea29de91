/** Attributes of elastic addresses: their reverse names, of which this account has none. */
import {
  DescribeAddressesAttribute$,
  type DescribeAddressesAttributeRequest,
  type DescribeAddressesAttributeResult,
} from "@aws-sdk/client-ec2";
import { type Operations, read } from "../service.ts";
import { findAll, KINDS } from "./kinds.ts";
import { page } from "./pages.ts";
import type { Ec2 } from "./state.ts";

/** DescribeAddressesAttribute. */
export function addressAttributeOperations(ec2: Ec2): Operations {
  return [
    read<DescribeAddressesAttributeRequest, DescribeAddressesAttributeResult>(DescribeAddressesAttribute$, (input) => {
      const asked = input.AllocationIds?.length ? findAll(ec2.addresses, KINDS.allocation, input.AllocationIds) : ec2.addresses.values();
      const { items, NextToken } = page(ec2, [...asked], ({ id }) => id, input, {
        action: "DescribeAddressesAttribute",
        min: 1,
        max: 1000,
      });
      return { Addresses: items.map(({ id, publicIp }) => ({ PublicIp: publicIp, AllocationId: id })), NextToken };
    }),
  ];
}
