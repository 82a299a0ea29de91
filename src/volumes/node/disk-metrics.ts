/** The statistics of the NVMe disks that pods use, read at each scrape, under the names that dashboards of the reference know. */
import { posix } from "node:path";
import type { Metric, Registry } from "prom-client";
import { counter, histogram } from "../../runtime/metrics.ts";
import type { Clock } from "../../runtime/world.ts";
import { type DiskStatistics, type LatencyHistogram, parseLogPage, volumeIdOf } from "./disk-statistics.ts";
import { type Mount, mounts } from "./mounts.ts";
import type { System } from "./system.ts";

export interface DiskMetricsOptions {
  readonly system: System;
  readonly clock: Clock;
  readonly instanceId: string;
  /** Only disks with a mount below it count. */
  readonly mountPrefix: string;
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly metricName?: string;
}

interface Row {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: (statistics: DiskStatistics, name: string) => readonly Sample[];
}

const seconds = (microseconds: bigint) => Number(microseconds) / 1e6;
const plain = (value: number): readonly Sample[] => [{ labels: {}, value }];
const prefix = "aws_ebs_csi_";

const rows: readonly Row[] = [
  { name: "read_ops_total", help: "Completed read operations", type: "counter", samples: ({ values }) => plain(Number(values.readOps)) },
  { name: "write_ops_total", help: "Completed write operations", type: "counter", samples: ({ values }) => plain(Number(values.writeOps)) },
  { name: "read_bytes_total", help: "Bytes read", type: "counter", samples: ({ values }) => plain(Number(values.readBytes)) },
  { name: "write_bytes_total", help: "Bytes written", type: "counter", samples: ({ values }) => plain(Number(values.writeBytes)) },
  { name: "read_seconds_total", help: "Time that reads took", type: "counter", samples: ({ values }) => plain(seconds(values.readUs)) },
  { name: "write_seconds_total", help: "Time that writes took", type: "counter", samples: ({ values }) => plain(seconds(values.writeUs)) },
  {
    name: "exceeded_iops_seconds_total",
    help: "Time in which more operations were asked for than the volume provides",
    type: "counter",
    samples: ({ values }) => plain(seconds(values.exceededIopsUs)),
  },
  {
    name: "exceeded_tp_seconds_total",
    help: "Time in which more throughput was asked for than the volume provides",
    type: "counter",
    samples: ({ values }) => plain(seconds(values.exceededThroughputUs)),
  },
  {
    name: "ec2_exceeded_iops_seconds_total",
    help: "Time in which more operations were asked for than the instance provides",
    type: "counter",
    samples: ({ values }) => plain(seconds(values.instanceExceededIopsUs)),
  },
  {
    name: "ec2_exceeded_tp_seconds_total",
    help: "Time in which more throughput was asked for than the instance provides",
    type: "counter",
    samples: ({ values }) => plain(seconds(values.instanceExceededThroughputUs)),
  },
  { name: "volume_queue_length", help: "Operations that wait", type: "gauge", samples: ({ values }) => plain(Number(values.queueLength)) },
  {
    name: "read_io_latency_seconds",
    help: "How long reads took",
    type: "histogram",
    samples: ({ readLatency }, name) => buckets(readLatency, name),
  },
  {
    name: "write_io_latency_seconds",
    help: "How long writes took",
    type: "histogram",
    samples: ({ writeLatency }, name) => buckets(writeLatency, name),
  },
];

/** The disk tells no sum of what it counts. */
function buckets(latency: LatencyHistogram, name: string): readonly Sample[] {
  const count = Number(latency.at(-1)?.count ?? 0n);
  return [
    ...latency.map((bin) => ({ metricName: `${name}_bucket`, labels: { le: String(seconds(bin.upToUs)) }, value: Number(bin.count) })),
    { metricName: `${name}_bucket`, labels: { le: "+Inf" }, value: count },
    { metricName: `${name}_sum`, labels: {}, value: 0 },
    { metricName: `${name}_count`, labels: {}, value: count },
  ];
}

/** Adds them to the registry, once. */
export function exportDiskMetrics(registry: Registry, options: DiskMetricsOptions): void {
  if (registry.getSingleMetric(prefix + rows[0]!.name) !== undefined) return;
  const collect = collector(registry, options);
  // All of a scrape read the same statistics.
  let running: ReturnType<typeof collect> | undefined;
  const current = () => {
    running ??= collect().finally(() => {
      running = undefined;
    });
    return running;
  };
  for (const { name: short, help, type, samples } of rows) {
    const name = prefix + short;
    const get = async () => {
      const values = [...(await current())].flatMap(([volumeId, statistics]) =>
        samples(statistics, name).map((sample) => ({
          ...sample,
          labels: { instance_id: options.instanceId, volume_id: volumeId, ...sample.labels },
        })),
      );
      return { name, help, type, aggregator: "sum", values };
    };
    registry.registerMetric({ name, help, get, reset() {} } as unknown as Metric);
  }
}

const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Reads the statistics of every disk, by volume. One that cannot be read is counted, and left out. */
function collector(registry: Registry, { system, clock, instanceId: instance_id, mountPrefix }: DiskMetricsOptions) {
  const labels = ["instance_id"] as const;
  const own = (name: string, help: string) => ({ name: `${prefix}nvme_collector_${name}`, help, labels });
  const scrapes = counter(registry, own("scrapes_total", "Scrapes of the statistics of NVMe disks"));
  const errors = counter(registry, own("errors_total", "Disks whose statistics could not be read"));
  const duration = histogram(registry, { ...own("duration_seconds", "How long such a scrape took"), buckets: durations });
  errors.inc({ instance_id }, 0);
  return async (): Promise<ReadonlyMap<string, DiskStatistics>> => {
    const began = clock.monotonic();
    const found = new Map<string, DiskStatistics>();
    try {
      for (const [volumeId, disk] of await disksOf(mountPrefix, system)) {
        try {
          found.set(volumeId, parseLogPage(await logPage(disk, system)));
        } catch {
          errors.inc({ instance_id });
        }
      }
    } catch {
      errors.inc({ instance_id });
    }
    scrapes.inc({ instance_id });
    duration.observe({ instance_id }, (clock.monotonic() - began) / 1_000);
    return found;
  };
}

/** The device files of disks with a mount below the prefix, by volume. */
async function disksOf(mountPrefix: string, system: System): Promise<ReadonlyMap<string, string>> {
  const devices = nvmeDevices(await mounts(system), mountPrefix);
  if (devices.length === 0) return new Map();
  const { out, err, status } = await system.run("lsblk", ["-nd", "--json", "-o", "NAME,SERIAL"]);
  if (status !== 0) throw new Error(`lsblk ended with status ${status}: ${err}`);
  const { blockdevices } = JSON.parse(out) as { blockdevices: readonly { name: string; serial: string | null }[] };
  const isUsed = (disk: string) => devices.some((device) => device === disk || new RegExp(`^${disk}p\\d+$`).test(device));
  return new Map(
    blockdevices.flatMap(({ name, serial }) => {
      const volumeId = volumeIdOf(serial ?? "");
      return volumeId !== undefined && isUsed(`/dev/${name}`) ? [[volumeId, `/dev/${name}`] as const] : [];
    }),
  );
}

/** Devices of file systems, and those that pods have as they are. */
export function nvmeDevices(all: readonly Mount[], mountPrefix: string): readonly string[] {
  if (mountPrefix === "") return [];
  const below = `${posix.normalize(mountPrefix).replace(/\/$/, "")}/`;
  const devices = all
    .filter(({ path }) => path.startsWith(below))
    .map(({ root, source }) => (root.startsWith("/nvme") ? `/dev${root}` : source))
    .filter((device) => device.startsWith("/dev/nvme"));
  return [...new Set(devices)];
}

/** Node has no call for it; the tool is part of the image. */
async function logPage(disk: string, system: System): Promise<Uint8Array> {
  const { status, bytes, err } = await system.runForBytes("nvme", [
    "get-log",
    disk,
    "--namespace-id=1",
    "--log-id=0xd0",
    "--log-len=4096",
    "--raw-binary",
  ]);
  if (status !== 0) throw new Error(`nvme get-log ended with status ${status}: ${err}`);
  return bytes;
}
