/** The commands that publish a release. Nobody runs them but the person who releases. */
import { architectures } from "../build/architecture.ts";
import { imageTargets } from "../image/builder.ts";
import { checksumFile, type Digest, provenanceFile } from "./provenance.ts";

/** What to do with the release of a commit that lies in `folder`. REGISTRY stands for yours. */
export function commandsAfter(version: string, commit: string, folder: string, digests: readonly Digest[]): string {
  const images = imageTargets.filter((target) => digests.some(({ path }) => path.startsWith(`images/${target}-`)));
  const steps: readonly (readonly [string, readonly string[]])[] = [
    // The commit by its name: there may be others by now.
    ["Tag the commit", [`git tag --sign v${version} ${commit} && git push origin v${version}`]],
    ["Check what was made", [`cd ${quoted(folder)} && sha256sum --check ${checksumFile}`]],
    [
      "Sign: the checksums are of every file, also of the statement of provenance",
      [
        `cosign sign-blob --yes --bundle ${checksumFile}.sigstore.json ${checksumFile}`,
        `cosign attest-blob --yes --statement ${provenanceFile} --bundle ${provenanceFile}.sigstore.json ${checksumFile}`,
      ],
    ],
    ["Images", images.flatMap((target) => imageCommands(target, version))],
    ["Chart", [`helm push chart/fairlead-${version}.tgz oci://REGISTRY/charts`, `cosign sign REGISTRY/charts/fairlead:${version}`]],
    ["Package", [`npm publish npm/fairlead-${version}.tgz${version.includes("-") ? " --tag next" : ""}`]],
    [
      // The package has the name of the chart's archive, and files of a release have names of their own.
      "Files",
      [
        `gh release create v${version} --verify-tag --notes-file changelog/v${version}.md${version.includes("-") ? " --prerelease" : ""} \\\n` +
          `    ${checksumFile}* ${provenanceFile}* chart/* executables/* sbom/* manifests/*.yaml crds/* iam/*.json`,
      ],
    ],
  ];
  const text = steps
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `# ${title}\n${lines.map((line) => `${line}\n`).join("")}`);
  return `\nNothing was uploaded. To publish it:\n\n${text.join("\n")}`;
}

/** For a shell, whatever is in it. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function imageCommands(target: string, version: string): string[] {
  const name = `REGISTRY/${target}:v${version}`;
  return [
    ...architectures.map(
      (architecture) =>
        `skopeo copy oci-archive:images/${target}-${version}-linux-${architecture}.oci.tar docker://${name}-${architecture}`,
    ),
    `buildah manifest create ${name} ${architectures.map((architecture) => `docker://${name}-${architecture}`).join(" ")}`,
    `buildah manifest push --all ${name} docker://${name} && cosign sign --recursive ${name}`,
  ];
}
