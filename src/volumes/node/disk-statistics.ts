/** What an EBS disk tells of itself in its NVMe log page 0xD0. Pure. */

/** Durations are microseconds. */
export interface DiskStatistics {
  readonly values: Readonly<Record<DiskValue, bigint>>;
  readonly readLatency: LatencyHistogram;
  readonly writeLatency: LatencyHistogram;
}

/** How many requests took at most so many microseconds. */
export type LatencyHistogram = readonly { readonly upToUs: bigint; readonly count: bigint }[];

/** In the order of the page, after its magic number. */
const diskValues = [
  "readOps",
  "writeOps",
  "readBytes",
  "writeBytes",
  "readUs",
  "writeUs",
  "exceededIopsUs",
  "exceededThroughputUs",
  "instanceExceededIopsUs",
  "instanceExceededThroughputUs",
  "queueLength",
] as const;
export type DiskValue = (typeof diskValues)[number];

const magic = 0x3c23b510n;
const pageBytes = 3_600;
const histogramsAt = { read: 512, write: 2_056 };
const maxBins = 64n;

/** Throws when it is not the page of an EBS disk. */
export function parseLogPage(page: Uint8Array): DiskStatistics {
  if (page.length < pageBytes) throw new Error(`the log page has ${page.length} bytes, not ${pageBytes}`);
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
  const number = (offset: number) => view.getBigUint64(offset, true);
  if (number(0) !== magic) throw new Error(`the log page begins with 0x${number(0).toString(16)}: it is not that of an EBS disk`);
  const values = Object.fromEntries(diskValues.map((name, index) => [name, number((index + 1) * 8)])) as Record<DiskValue, bigint>;
  return { values, readLatency: histogramAt(histogramsAt.read, number), writeLatency: histogramAt(histogramsAt.write, number) };
}

/** The disk counts each bin by itself; here each holds what the ones before it hold, too. */
function histogramAt(offset: number, number: (offset: number) => bigint): LatencyHistogram {
  const bins = Number(number(offset) < maxBins ? number(offset) : maxBins);
  let count = 0n;
  return Array.from({ length: bins }, (_, bin) => {
    const at = offset + 8 + bin * 24;
    count += number(at + 16);
    return { upToUs: number(at + 8), count };
  });
}

/** The id of a volume by the serial number of its disk; undefined when it is not an EBS disk. */
export function volumeIdOf(serial: string): string | undefined {
  const [, id] = /^vol-?([a-z0-9]+)$/.exec(serial.trim()) ?? [];
  return id && `vol-${id}`;
}
