import assert from "node:assert/strict";
import { test } from "node:test";
import { newRegistry } from "../../runtime/metrics.ts";
import { realWorld } from "../../runtime/world.ts";
import { exportDiskMetrics } from "./disk-metrics.ts";
import { parseLogPage, volumeIdOf } from "./disk-statistics.ts";
import type { System } from "./system.ts";

/** A page with these numbers at its start, and the bins of two histograms: lower and upper bound, count. */
function page(numbers: readonly number[], read: readonly number[][] = [], write: readonly number[][] = []): Uint8Array {
  const bytes = Buffer.alloc(4_096);
  for (const [index, number] of [0x3c23b510, ...numbers].entries()) bytes.writeBigUInt64LE(BigInt(number), index * 8);
  for (const [offset, bins] of [
    [512, read],
    [2_056, write],
  ] as const) {
    bytes.writeBigUInt64LE(BigInt(bins.length), offset);
    for (const [index, number] of bins.flat().entries()) bytes.writeBigUInt64LE(BigInt(number), offset + 8 + index * 8);
  }
  return bytes;
}

const numbers = [1, 2, 3, 4, 5_000_000, 6_000_000, 7, 8, 9, 10, 11];

test("a page tells operations, bytes, times and the lengths of queues", () => {
  const { values } = parseLogPage(page(numbers));
  assert.deepEqual([values.readOps, values.writeBytes, values.writeUs, values.queueLength], [1n, 4n, 6_000_000n, 11n]);
});

test("each bin of a histogram holds what the ones before it hold", () => {
  const bins = [
    [0, 100, 5],
    [100, 1_000, 2],
    [1_000, 10_000, 1],
  ];
  assert.deepEqual(parseLogPage(page(numbers, bins)).readLatency, [
    { upToUs: 100n, count: 5n },
    { upToUs: 1_000n, count: 7n },
    { upToUs: 10_000n, count: 8n },
  ]);
  assert.deepEqual(parseLogPage(page(numbers, bins)).writeLatency, []);
});

test("a page of another disk, and one that is cut short, are refused", () => {
  assert.throws(() => parseLogPage(Buffer.alloc(4_096)), /begins with 0x0: it is not that of an EBS disk/);
  assert.throws(() => parseLogPage(page(numbers).subarray(0, 3_599)), /has 3599 bytes, not 3600/);
});

test("a volume is known by the serial number of its disk, with a dash or without", () => {
  assert.deepEqual(["vol0abc", "vol-0abc", " vol0abc\n", "AWS123", ""].map(volumeIdOf), [
    "vol-0abc",
    "vol-0abc",
    "vol-0abc",
    undefined,
    undefined,
  ]);
});

const mountinfo = `36 35 259:1 / /var/lib/kubelet/plugins/kubernetes.io/csi/x/globalmount rw - ext4 /dev/nvme1n1p1 rw
37 35 0:6 /nvme2n1 /var/lib/kubelet/plugins/kubernetes.io/csi/y/dev rw master:1 shared:2 - devtmpfs devtmpfs rw
38 35 259:3 / /var/lib/other rw - ext4 /dev/nvme3n1 rw
39 35 259:4 / /var/lib/kubelet/plugins/kubernetes.io/csi/z/globalmount rw - xfs /dev/nvme4n1 rw
`;
const disks = { nvme0n1: "vol0aa", nvme1n1: "vol0bb", nvme2n1: "vol0cc", nvme3n1: "vol0dd", nvme4n1: "vol0ee", nvme5n1: null };

function machine(pages: Readonly<Record<string, Uint8Array>>) {
  const asked: string[] = [];
  const blockdevices = Object.entries(disks).map(([name, serial]) => ({ name, serial }));
  const system = {
    read: async () => mountinfo,
    run: async () => ({ status: 0, out: JSON.stringify({ blockdevices }), err: "" }),
    runForBytes: async (_: string, [, disk = ""]: readonly string[]) => {
      asked.push(disk);
      return { status: pages[disk] ? 0 : 1, bytes: pages[disk] ?? Buffer.alloc(0), err: "" };
    },
  } as unknown as System;
  return { system, asked };
}

test("a scrape shows the disks that pods use, by volume, and counts those that it cannot read", async () => {
  const { system, asked } = machine({ "/dev/nvme1n1": page(numbers, [[0, 100, 5]]), "/dev/nvme2n1": page([9, ...numbers.slice(1)]) });
  const registry = newRegistry();
  const { clock } = realWorld();
  const options = { system, clock, instanceId: "i-1", mountPrefix: "/var/lib/kubelet/plugins/kubernetes.io/csi" };
  exportDiskMetrics(registry, options);
  exportDiskMetrics(registry, options);
  const text = await registry.metrics();
  assert.deepEqual(asked, ["/dev/nvme1n1", "/dev/nvme2n1", "/dev/nvme4n1"], "each disk once, however it is mounted, and no other");
  for (const line of [
    'aws_ebs_csi_read_ops_total{instance_id="i-1",volume_id="vol-0bb"} 1',
    'aws_ebs_csi_read_ops_total{instance_id="i-1",volume_id="vol-0cc"} 9',
    'aws_ebs_csi_write_seconds_total{instance_id="i-1",volume_id="vol-0bb"} 6',
    'aws_ebs_csi_volume_queue_length{instance_id="i-1",volume_id="vol-0bb"} 11',
    "# TYPE aws_ebs_csi_read_io_latency_seconds histogram",
    'aws_ebs_csi_read_io_latency_seconds_bucket{instance_id="i-1",volume_id="vol-0bb",le="0.0001"} 5',
    'aws_ebs_csi_read_io_latency_seconds_bucket{instance_id="i-1",volume_id="vol-0bb",le="+Inf"} 5',
    'aws_ebs_csi_read_io_latency_seconds_count{instance_id="i-1",volume_id="vol-0bb"} 5',
  ]) {
    assert.ok(text.split("\n").includes(line), `${line}\n${text}`);
  }
  assert.match(await registry.metrics(), /aws_ebs_csi_nvme_collector_errors_total\{instance_id="i-1"\} [12]\n/);
});

test("without a path no disk is asked", async () => {
  const { system, asked } = machine({});
  const registry = newRegistry();
  exportDiskMetrics(registry, { system, clock: realWorld().clock, instanceId: "i-1", mountPrefix: "" });
  await registry.metrics();
  assert.deepEqual(asked, []);
});
