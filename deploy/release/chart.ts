/** The chart as it is published: an archive for `helm install`, and an OCI layout with the same archive for registries. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { parse } from "yaml";
import { type ArchivedFile, filesBelow, tar, tarball } from "./tar.ts";

/** What is in the folder of the chart and only its makers need. */
const notInChart = /\.ts$/;

/**
 * The archive of a chart's folder. Helm's own `package` dates every file with the moment of packing, so that no two archives
 * are equal; the form is the same.
 */
export async function chartArchive(folder: string, epoch: number): Promise<Buffer> {
  const files = (await filesBelow(folder, "fairlead/")).filter(({ path }) => !notInChart.test(path));
  return tarball(files, epoch);
}

interface ChartFile {
  readonly name: string;
  readonly version: string;
  readonly description: string;
}

/** An OCI image layout (a tar archive) that holds the chart as registries store it: `helm pull oci://…` reads it from there. */
export function chartLayout(archive: Uint8Array, chartYaml: string, date: string): Buffer {
  const chart = parse(chartYaml) as ChartFile;
  const config = json(chart);
  const manifest = json({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: descriptor("application/vnd.cncf.helm.config.v1+json", config),
    layers: [descriptor("application/vnd.cncf.helm.chart.content.v1.tar+gzip", archive)],
    annotations: {
      "org.opencontainers.image.created": date,
      "org.opencontainers.image.description": chart.description,
      "org.opencontainers.image.title": chart.name,
      "org.opencontainers.image.version": chart.version,
    },
  });
  const tagged = {
    ...descriptor("application/vnd.oci.image.manifest.v1+json", manifest),
    annotations: { "org.opencontainers.image.ref.name": chart.version },
  };
  const files: ArchivedFile[] = [
    { path: "oci-layout", content: json({ imageLayoutVersion: "1.0.0" }) },
    { path: "index.json", content: json({ schemaVersion: 2, manifests: [tagged] }) },
    ...[config, archive, manifest].map((content) => ({ path: join("blobs/sha256", sha256(content)), content })),
  ];
  return tar(files, Math.floor(Date.parse(date) / 1000));
}

function descriptor(mediaType: string, content: Uint8Array): object {
  return { mediaType, digest: `sha256:${sha256(content)}`, size: content.length };
}

function json(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

/** The digest of a content, in hexadecimal. */
export function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
