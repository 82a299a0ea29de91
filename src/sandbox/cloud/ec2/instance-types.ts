/** A table of common instance types: enough for what depends on a type (interfaces, topology, capacity). */
import {
  type _InstanceType,
  type ArchitectureType,
  DescribeInstanceTypes$,
  type DescribeInstanceTypesRequest,
  type DescribeInstanceTypesResult,
  type InstanceTypeInfo,
  type UsageClassType,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read } from "../service.ts";
import type { Table } from "../store.ts";
import { type FilterTable, filtered } from "./filters.ts";
import { page } from "./pages.ts";
import type { Ec2 } from "./state.ts";

/** What EC2 and Kubernetes care about in a type. */
export interface InstanceType {
  readonly name: _InstanceType;
  readonly vcpus: number;
  readonly cores: number;
  readonly memoryMiB: number;
  readonly interfaces: number;
  readonly addressesPerInterface: number;
  readonly architecture: ArchitectureType;
  readonly attachments: number;
  readonly gpus: number;
}

/** name, vCPUs, cores, GiB, interfaces, addresses an interface, architecture, volume attachments, GPUs */
const TABLE: readonly (readonly [_InstanceType, number, number, number, number, number, ArchitectureType, number, number?])[] = [
  ["t3.nano", 2, 1, 0.5, 2, 2, "x86_64", 27],
  ["t3.micro", 2, 1, 1, 2, 2, "x86_64", 27],
  ["t3.small", 2, 1, 2, 3, 4, "x86_64", 27],
  ["t3.medium", 2, 1, 4, 3, 6, "x86_64", 27],
  ["t3.large", 2, 1, 8, 3, 12, "x86_64", 27],
  ["t3.xlarge", 4, 2, 16, 4, 15, "x86_64", 27],
  ["t4g.small", 2, 2, 2, 3, 4, "arm64", 27],
  ["t4g.medium", 2, 2, 4, 3, 6, "arm64", 27],
  ["m5.large", 2, 1, 8, 3, 10, "x86_64", 27],
  ["m5.xlarge", 4, 2, 16, 4, 15, "x86_64", 27],
  ["m5.2xlarge", 8, 4, 32, 4, 15, "x86_64", 27],
  ["m5.4xlarge", 16, 8, 64, 8, 30, "x86_64", 27],
  ["m5.24xlarge", 96, 48, 384, 15, 50, "x86_64", 27],
  ["m6i.large", 2, 1, 8, 3, 10, "x86_64", 27],
  ["m6i.xlarge", 4, 2, 16, 4, 15, "x86_64", 27],
  ["m6g.large", 2, 2, 8, 3, 10, "arm64", 27],
  ["m7i.large", 2, 1, 8, 3, 10, "x86_64", 32],
  ["m7g.large", 2, 2, 8, 3, 10, "arm64", 27],
  ["c5.large", 2, 1, 4, 3, 10, "x86_64", 27],
  ["c5.xlarge", 4, 2, 8, 4, 15, "x86_64", 27],
  ["c6i.large", 2, 1, 4, 3, 10, "x86_64", 27],
  ["c7g.large", 2, 2, 4, 3, 10, "arm64", 27],
  ["r5.large", 2, 1, 16, 3, 10, "x86_64", 27],
  ["r6i.large", 2, 1, 16, 3, 10, "x86_64", 27],
  ["r8gb.48xlarge", 192, 192, 1536, 24, 64, "arm64", 128],
  ["g5.xlarge", 4, 2, 16, 4, 15, "x86_64", 25, 1],
  ["p3dn.24xlarge", 96, 48, 768, 15, 50, "x86_64", 17, 8],
  ["p4d.24xlarge", 96, 48, 1152, 60, 50, "x86_64", 28, 8],
  ["p5.48xlarge", 192, 96, 2048, 64, 50, "x86_64", 64, 8],
  ["trn1.32xlarge", 128, 64, 512, 40, 50, "x86_64", 28],
  ["trn2.48xlarge", 192, 96, 2048, 32, 50, "x86_64", 64],
  ["hpc6a.48xlarge", 96, 96, 384, 2, 50, "x86_64", 27],
  ["hpc7a.96xlarge", 192, 192, 768, 4, 50, "x86_64", 27],
];

const TYPES: readonly InstanceType[] = TABLE.map(
  ([name, vcpus, cores, gib, interfaces, addressesPerInterface, architecture, attachments, gpus = 0]) => ({
    name,
    vcpus,
    cores,
    memoryMiB: gib * 1024,
    interfaces,
    addressesPerInterface,
    architecture,
    attachments,
    gpus,
  }),
);

/** The type of that name, or undefined. */
export function instanceTypeNamed(name: string): InstanceType | undefined {
  return TYPES.find((type) => type.name === name);
}

/** Types that this region has besides the common ones, put there by tests. They can be asked for, and not launched. */
export function furtherTypes(ec2: Ec2): Table<InstanceType> {
  return ec2.account.store.table("ec2/instance-types");
}

/** Every type of the region. */
export function typesOf(ec2: Ec2): readonly InstanceType[] {
  return [...TYPES, ...furtherTypes(ec2).values()];
}

/** Whether volumes share their places with interfaces. */
export function sharesAttachments(type: InstanceType): boolean {
  return !DEDICATED.has(type.name);
}

/** How many cards a type has to attach volumes to. */
export function ebsCards(name: string): number {
  return EBS_CARDS[name] ?? 1;
}

/** DescribeInstanceTypes. */
export function instanceTypeOperations(ec2: Ec2): Operations {
  return [
    read<DescribeInstanceTypesRequest, DescribeInstanceTypesResult>(DescribeInstanceTypes$, (input) => {
      const types = typesOf(ec2);
      const unknown = (input.InstanceTypes ?? []).filter((name) => !types.some((type) => type.name === name));
      if (unknown.length > 0) {
        throw new ServiceError("InvalidInstanceType", `The following supplied instance types do not exist: [${unknown.join(", ")}]`);
      }
      const asked = input.InstanceTypes?.length ? types.filter((type) => input.InstanceTypes?.includes(type.name)) : types;
      const { items, NextToken } = page(ec2, filtered(asked, input.Filters, FILTERS), (type) => type.name, input, {
        action: "DescribeInstanceTypes",
        min: 5,
        max: 100,
        usual: 100,
      });
      return { InstanceTypes: items.map(describeType), NextToken };
    }),
  ];
}

function describeType(type: InstanceType): InstanceTypeInfo {
  return {
    InstanceType: type.name,
    CurrentGeneration: isCurrent(type),
    FreeTierEligible: ["t3.micro", "t3.small", "t4g.small"].includes(type.name),
    SupportedUsageClasses: usageClasses(type),
    SupportedRootDeviceTypes: ["ebs"],
    SupportedVirtualizationTypes: ["hvm"],
    BareMetal: false,
    Hypervisor: "nitro",
    ProcessorInfo: { SupportedArchitectures: [type.architecture] },
    VCpuInfo: { DefaultVCpus: type.vcpus, DefaultCores: type.cores, DefaultThreadsPerCore: type.vcpus / type.cores },
    MemoryInfo: { SizeInMiB: type.memoryMiB },
    InstanceStorageSupported: hasDisks(type),
    EbsInfo: {
      EbsOptimizedSupport: "default",
      EncryptionSupport: "supported",
      NvmeSupport: "required",
      MaximumEbsAttachments: type.attachments,
      AttachmentLimitType: sharesAttachments(type) ? "shared" : "dedicated",
      MaximumEbsCards: EBS_CARDS[type.name],
    },
    NetworkInfo: {
      MaximumNetworkInterfaces: type.interfaces,
      MaximumNetworkCards: CARDS[type.name] ?? 1,
      DefaultNetworkCardIndex: 0,
      Ipv4AddressesPerInterface: type.addressesPerInterface,
      Ipv6AddressesPerInterface: type.addressesPerInterface,
      Ipv6Supported: true,
      EnaSupport: "required",
      EfaSupported: /^(p|trn|hpc)\d/.test(type.name),
    },
    GpuInfo: type.gpus === 0 ? undefined : { Gpus: [{ Count: type.gpus, Manufacturer: "NVIDIA" }] },
    PlacementGroupInfo: { SupportedStrategies: isBurstable(type) ? ["partition", "spread"] : ["cluster", "partition", "spread"] },
    BurstablePerformanceSupported: isBurstable(type),
    AutoRecoverySupported: !hasDisks(type),
  };
}

/** Volumes have places of their own, not shared with interfaces. */
const DEDICATED: ReadonlySet<string> = new Set([
  "m7i.large",
  "r8gb.48xlarge",
  "p4d.24xlarge",
  "p5.48xlarge",
  "trn2.48xlarge",
  "hpc7a.96xlarge",
]);

/** Cards for volumes, where there are several. */
const EBS_CARDS: Readonly<Record<string, number>> = { "r8gb.48xlarge": 2 };

/** Network cards, where there are several. */
const CARDS: Readonly<Record<string, number>> = {
  "p4d.24xlarge": 4,
  "p5.48xlarge": 32,
  "trn1.32xlarge": 8,
  "trn2.48xlarge": 16,
  "hpc7a.96xlarge": 2,
};

function isCurrent(type: InstanceType): boolean {
  return !/^(m5|m6i|c5|r5|r6i|g5)\./.test(type.name);
}

/** What has disks of its own cannot be recovered elsewhere. */
function hasDisks(type: InstanceType): boolean {
  return /^(g5|p\d|trn)/.test(type.name);
}

function usageClasses(type: InstanceType): UsageClassType[] {
  if (type.name.startsWith("hpc")) return ["on-demand"];
  return /^(p[45]|trn)/.test(type.name) ? ["capacity-block", "on-demand", "spot"] : ["on-demand", "spot"];
}

/** The T family: trn1 and its like begin with a t too. */
function isBurstable(type: InstanceType): boolean {
  return /^t\d/.test(type.name);
}

const FILTERS: FilterTable<InstanceType> = {
  "auto-recovery-supported": (type) => !hasDisks(type),
  "bare-metal": () => false,
  "burstable-performance-supported": isBurstable,
  "current-generation": isCurrent,
  hypervisor: () => "nitro",
  "instance-type": (type) => type.name,
  "memory-info.size-in-mib": (type) => type.memoryMiB,
  "network-info.maximum-network-interfaces": (type) => type.interfaces,
  "network-info.ipv4-addresses-per-interface": (type) => type.addressesPerInterface,
  "processor-info.supported-architecture": (type) => type.architecture,
  "supported-usage-class": usageClasses,
  "vcpu-info.default-vcpus": (type) => type.vcpus,
  "vcpu-info.default-cores": (type) => type.cores,
};
