/** What a region offers: types by zone, images, attributes of addresses. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DescribeAddressesAttributeCommand,
  DescribeImagesCommand,
  DescribeInstanceTypeOfferingsCommand,
  DescribeInstanceTypesCommand,
} from "@aws-sdk/client-ec2";
import { cloudBed, refused } from "../testing.ts";
import { furtherImages } from "./images.ts";
import { lackingTypes } from "./instance-type-offerings.ts";
import { furtherTypes } from "./instance-types.ts";

test("offerings: by region unless asked otherwise, by zone without what a zone lacks, in pages, by filter", async () => {
  const { cloud, ec2 } = cloudBed();
  lackingTypes(cloud.account.ec2).put("1", { type: "m5.large", location: "us-east-1b" });
  const all = await ec2.send(new DescribeInstanceTypeOfferingsCommand({ Filters: [{ Name: "instance-type", Values: ["m5.*"] }] }));
  assert.ok(all.InstanceTypeOfferings?.every(({ Location, LocationType }) => Location === "us-east-1" && LocationType === "region"));
  const Filters = [{ Name: "instance-type", Values: ["m5.large"] }];
  const zones = await ec2.send(new DescribeInstanceTypeOfferingsCommand({ LocationType: "availability-zone", Filters, MaxResults: 5 }));
  assert.deepEqual(
    zones.InstanceTypeOfferings?.map(({ Location }) => Location),
    ["a", "c", "d", "e", "f"].map((letter) => `us-east-1${letter}`),
  );
  const page = await ec2.send(new DescribeInstanceTypeOfferingsCommand({ LocationType: "availability-zone-id", MaxResults: 5 }));
  assert.match(page.InstanceTypeOfferings?.[0]?.Location ?? "", /^use1-az\d$/);
  assert.ok(page.NextToken);
  await refused(ec2.send(new DescribeInstanceTypeOfferingsCommand({ MaxResults: 2 })), "InvalidParameterValue");
});

test("a type that a region has besides the common ones is described like them", async () => {
  const { cloud, ec2 } = cloudBed();
  const name = "x9.large" as "m5.large";
  const size = { vcpus: 2, cores: 1, memoryMiB: 512, interfaces: 2, addressesPerInterface: 2, attachments: 27, gpus: 0 };
  furtherTypes(cloud.account.ec2).put(name, { name, ...size, architecture: "arm64" });
  const { InstanceTypes } = await ec2.send(new DescribeInstanceTypesCommand({ InstanceTypes: [name] }));
  assert.deepEqual([InstanceTypes?.[0]?.VCpuInfo?.DefaultVCpus, InstanceTypes?.[0]?.MemoryInfo?.SizeInMiB], [2, 512]);
});

test("images: by id, by owner and by name; one that does not exist is refused by its id", async () => {
  const { cloud, ec2 } = cloudBed();
  const own = { id: "ami-00000000000000001", name: "own", architecture: "arm64", rootDeviceName: "/dev/sda1", rootSizeGiB: 20 } as const;
  furtherImages(cloud.account.ec2).put(own.id, { ...own, owner: cloud.account.id, tags: { team: "a" } });
  const ids = async (input: object) => (await ec2.send(new DescribeImagesCommand(input))).Images?.map(({ ImageId }) => ImageId);
  assert.deepEqual(await ids({ ImageIds: [own.id] }), [own.id]);
  assert.deepEqual(await ids({ Owners: ["self"] }), [own.id]);
  assert.deepEqual(await ids({ Owners: ["amazon"] }), ["ami-0123456789abcdef0"]);
  assert.deepEqual(await ids({ Filters: [{ Name: "tag:team", Values: ["a"] }] }), [own.id]);
  await refused(ec2.send(new DescribeImagesCommand({ ImageIds: ["ami-0fffffffffffffff1"] })), "InvalidAMIID.NotFound");
  await refused(ec2.send(new DescribeImagesCommand({ ImageIds: ["vol-1"] })), "InvalidAMIID.Malformed");
});

test("attributes of addresses: a dry run says that it may, or that it may not", async () => {
  const { cloud, ec2 } = cloudBed();
  await refused(ec2.send(new DescribeAddressesAttributeCommand({ DryRun: true })), "DryRunOperation", 412);
  assert.deepEqual((await ec2.send(new DescribeAddressesAttributeCommand({}))).Addresses, []);
  cloud.controls.deny("ec2:DescribeAddressesAttribute");
  await refused(ec2.send(new DescribeAddressesAttributeCommand({ DryRun: true })), "UnauthorizedOperation", 403);
});
