/** A table of common instance types: enough for what depends on a type (interfaces, topology, capacity). */
import {
  type _InstanceType,
  type ArchitectureType,
  DescribeInstanceTypes$,
  type DescribeInstanceTypesRequest,
  type DescribeInstanceTypesResult,
  type InstanceTypeInfo,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read } from "../service.ts";
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
  ["t3.nano", 2, 1, 0.5, 2, 2, "x86_64", 28],
  ["t3.micro", 2, 1, 1, 2, 2, "x86_64", 28],
  ["t3.small", 2, 1, 2, 3, 4, "x86_64", 28],
  ["t3.medium", 2, 1, 4, 3, 6, "x86_64", 28],
  ["t3.large", 2, 1, 8, 3, 12, "x86_64", 28],
  ["t3.xlarge", 4, 2, 16, 4, 15, "x86_64", 28],
  ["t4g.small", 2, 2, 2, 3, 4, "arm64", 28],
  ["t4g.medium", 2, 2, 4, 3, 6, "arm64", 28],
  ["m5.large", 2, 1, 8, 3, 10, "x86_64", 28],
  ["m5.xlarge", 4, 2, 16, 4, 15, "x86_64", 28],
  ["m5.2xlarge", 8, 4, 32, 4, 15, "x86_64", 28],
  ["m5.4xlarge", 16, 8, 64, 8, 30, "x86_64", 28],
  ["m5.24xlarge", 96, 48, 384, 15, 50, "x86_64", 28],
  ["m6i.large", 2, 1, 8, 3, 10, "x86_64", 28],
  ["m6i.xlarge", 4, 2, 16, 4, 15, "x86_64", 28],
  ["m6g.large", 2, 2, 8, 3, 10, "arm64", 28],
  ["m7i.large", 2, 1, 8, 3, 10, "x86_64", 32],
  ["m7g.large", 2, 2, 8, 3, 10, "arm64", 32],
  ["c5.large", 2, 1, 4, 3, 10, "x86_64", 28],
  ["c5.xlarge", 4, 2, 8, 4, 15, "x86_64", 28],
  ["c6i.large", 2, 1, 4, 3, 10, "x86_64", 28],
  ["c7g.large", 2, 2, 4, 3, 10, "arm64", 32],
  ["r5.large", 2, 1, 16, 3, 10, "x86_64", 28],
  ["r6i.large", 2, 1, 16, 3, 10, "x86_64", 28],
  ["g5.xlarge", 4, 2, 16, 4, 15, "x86_64", 28, 1],
  ["p3dn.24xlarge", 96, 48, 768, 15, 50, "x86_64", 28, 8],
  ["p4d.24xlarge", 96, 48, 1152, 15, 50, "x86_64", 28, 8],
  ["p5.48xlarge", 192, 96, 2048, 64, 50, "x86_64", 28, 8],
  ["trn1.32xlarge", 128, 64, 512, 40, 50, "x86_64", 28],
  ["trn2.48xlarge", 192, 96, 2048, 64, 50, "x86_64", 28],
  ["hpc6a.48xlarge", 96, 96, 384, 2, 50, "x86_64", 28],
  ["hpc7a.96xlarge", 192, 192, 768, 4, 50, "x86_64", 28],
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

/** DescribeInstanceTypes. */
export function instanceTypeOperations(ec2: Ec2): Operations {
  return [
    read<DescribeInstanceTypesRequest, DescribeInstanceTypesResult>(DescribeInstanceTypes$, (input) => {
      const unknown = (input.InstanceTypes ?? []).filter((name) => instanceTypeNamed(name) === undefined);
      if (unknown.length > 0) {
        throw new ServiceError("InvalidInstanceType", `The following supplied instance types do not exist: [${unknown.join(", ")}]`);
      }
      const asked = input.InstanceTypes?.length ? TYPES.filter((type) => input.InstanceTypes?.includes(type.name)) : TYPES;
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
    CurrentGeneration: true,
    FreeTierEligible: type.name === "t3.micro",
    SupportedUsageClasses: ["on-demand", "spot"],
    SupportedRootDeviceTypes: ["ebs"],
    SupportedVirtualizationTypes: ["hvm"],
    BareMetal: false,
    Hypervisor: "nitro",
    ProcessorInfo: { SupportedArchitectures: [type.architecture] },
    VCpuInfo: { DefaultVCpus: type.vcpus, DefaultCores: type.cores, DefaultThreadsPerCore: type.vcpus / type.cores },
    MemoryInfo: { SizeInMiB: type.memoryMiB },
    InstanceStorageSupported: false,
    EbsInfo: {
      EbsOptimizedSupport: "default",
      EncryptionSupport: "supported",
      NvmeSupport: "required",
      MaximumEbsAttachments: type.attachments,
      AttachmentLimitType: type.attachments > 28 ? "dedicated" : "shared",
    },
    NetworkInfo: {
      MaximumNetworkInterfaces: type.interfaces,
      MaximumNetworkCards: 1,
      DefaultNetworkCardIndex: 0,
      Ipv4AddressesPerInterface: type.addressesPerInterface,
      Ipv6AddressesPerInterface: type.addressesPerInterface,
      Ipv6Supported: true,
      EnaSupport: "required",
      EfaSupported: type.interfaces > 15,
    },
    GpuInfo: type.gpus === 0 ? undefined : { Gpus: [{ Count: type.gpus, Manufacturer: "NVIDIA" }] },
    PlacementGroupInfo: { SupportedStrategies: ["cluster", "partition", "spread"] },
    HibernationSupported: false,
    BurstablePerformanceSupported: type.name.startsWith("t"),
    DedicatedHostsSupported: false,
    AutoRecoverySupported: true,
  };
}

const FILTERS: FilterTable<InstanceType> = {
  "auto-recovery-supported": () => true,
  "bare-metal": () => false,
  "burstable-performance-supported": (type) => type.name.startsWith("t"),
  "current-generation": () => true,
  hypervisor: () => "nitro",
  "instance-type": (type) => type.name,
  "memory-info.size-in-mib": (type) => type.memoryMiB,
  "network-info.maximum-network-interfaces": (type) => type.interfaces,
  "network-info.ipv4-addresses-per-interface": (type) => type.addressesPerInterface,
  "processor-info.supported-architecture": (type) => type.architecture,
  "supported-usage-class": () => ["on-demand", "spot"],
  "vcpu-info.default-vcpus": (type) => type.vcpus,
  "vcpu-info.default-cores": (type) => type.cores,
};
