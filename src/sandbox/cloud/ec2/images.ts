/** Machine images: one that every account can use, and those that tests and people at the sandbox put beside it. */
import {
  type ArchitectureValues,
  DescribeImages$,
  type DescribeImagesRequest,
  type DescribeImagesResult,
  type Image as ImageAnswer,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read } from "../service.ts";
import type { Table } from "../store.ts";
import { type FilterTable, filtered, tagFilters } from "./filters.ts";
import { checkForm, KINDS } from "./kinds.ts";
import { page } from "./pages.ts";
import type { Ec2, Tags } from "./state.ts";
import { tagList } from "./tags.ts";

export interface Image {
  readonly id: string;
  readonly name: string;
  readonly architecture: ArchitectureValues;
  readonly rootDeviceName: string;
  readonly rootSizeGiB: number;
  /** The account that owns it; undefined for Amazon's. */
  readonly owner: string | undefined;
  readonly tags: Tags;
}

const AMAZON = "137112412989";

/** What nodes of the sandbox are launched from. */
const USUAL: Image = {
  id: "ami-0123456789abcdef0",
  name: "al2023-ami-2023.6.20250107.0-kernel-6.1-x86_64",
  architecture: "x86_64",
  rootDeviceName: "/dev/xvda",
  rootSizeGiB: 8,
  owner: undefined,
  tags: {},
};

/** Images besides the usual one. */
export function furtherImages(ec2: Ec2): Table<Image> {
  return ec2.account.store.table("ec2/images");
}

/** DescribeImages. */
export function imageOperations(ec2: Ec2): Operations {
  return [
    read<DescribeImagesRequest, DescribeImagesResult>(DescribeImages$, (input) => {
      const all = [USUAL, ...furtherImages(ec2).values()];
      const ids = input.ImageIds ?? [];
      for (const id of ids) checkForm(KINDS.image, id);
      const absent = ids.filter((id) => !all.some((image) => image.id === id));
      if (absent.length > 0) throw new ServiceError(KINDS.image.notFound, `The image id '[${absent.join(", ")}]' does not exist`);
      const asked = all.filter(
        (image) => (ids.length === 0 || ids.includes(image.id)) && (!input.Owners?.length || isOwnedBy(ec2, image, input.Owners)),
      );
      const { items, NextToken } = page(ec2, filtered(asked, input.Filters, filterTable(ec2)), ({ id }) => id, input, {
        action: "DescribeImages",
        min: 1,
        max: 1000,
      });
      return { Images: items.map((image) => describeImage(ec2, image)), NextToken };
    }),
  ];
}

function isOwnedBy(ec2: Ec2, image: Image, owners: readonly string[]): boolean {
  const known: Readonly<Record<string, string>> = { self: ec2.account.id, amazon: AMAZON };
  return owners.some((owner) => (known[owner] ?? owner) === (image.owner ?? AMAZON));
}

function describeImage(ec2: Ec2, image: Image): ImageAnswer {
  return {
    ImageId: image.id,
    Name: image.name,
    State: "available",
    Architecture: image.architecture,
    OwnerId: image.owner ?? AMAZON,
    ImageOwnerAlias: image.owner === undefined ? "amazon" : undefined,
    Public: image.owner !== ec2.account.id,
    ImageType: "machine",
    RootDeviceType: "ebs",
    RootDeviceName: image.rootDeviceName,
    VirtualizationType: "hvm",
    Hypervisor: "xen",
    EnaSupport: true,
    BlockDeviceMappings: [
      {
        DeviceName: image.rootDeviceName,
        Ebs: { DeleteOnTermination: true, VolumeSize: image.rootSizeGiB, VolumeType: "gp3", Encrypted: false },
      },
    ],
    Tags: tagList(image.tags),
  };
}

function filterTable(ec2: Ec2): FilterTable<Image> {
  return {
    ...tagFilters<Image>(),
    architecture: ({ architecture }) => architecture,
    "image-id": ({ id }) => id,
    "image-type": () => "machine",
    "is-public": ({ owner }) => owner !== ec2.account.id,
    name: ({ name }) => name,
    "owner-id": ({ owner }) => owner ?? AMAZON,
    "root-device-name": ({ rootDeviceName }) => rootDeviceName,
    "root-device-type": () => "ebs",
    state: () => "available",
    "virtualization-type": () => "hvm",
  };
}
