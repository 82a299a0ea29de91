/** What installers of clusters themselves say of their files: the definitions of kops and Cluster API, and kubeadm's types. */
import { cp, mkdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cached, cachedPath, contentKey } from "../../deploy/build/cache.ts";
import { go } from "../../src/sandbox/cluster/assets/go.ts";

/** Go modules, and the files of them that are needed. */
const modules: Readonly<Record<string, readonly string[]>> = {
  "k8s.io/kops@v1.36.0": ["k8s/crds/kops.k8s.io_clusters.yaml", "k8s/crds/kops.k8s.io_instancegroups.yaml"],
  "sigs.k8s.io/cluster-api@v1.13.6": [
    "config/crd/bases/cluster.x-k8s.io_clusters.yaml",
    "controlplane/kubeadm/config/crd/bases/controlplane.cluster.x-k8s.io_kubeadmcontrolplanes.yaml",
  ],
  "sigs.k8s.io/cluster-api-provider-aws/v2@v2.13.0": [
    "config/crd/bases/infrastructure.cluster.x-k8s.io_awsclusters.yaml",
    "config/crd/bases/infrastructure.cluster.x-k8s.io_awsmachinetemplates.yaml",
  ],
  "sigs.k8s.io/cluster-api-addon-provider-helm@v0.3.1": ["config/crd/bases/addons.cluster.x-k8s.io_helmchartproxies.yaml"],
  "k8s.io/kubernetes@v1.36.3": ["cmd/kubeadm/app/apis/kubeadm/v1beta4/types.go"],
};

const name = `referees/installers-${contentKey(JSON.stringify(modules))}`;

/** The folder with all of these files, by their names. */
export function installerFiles(say: (line: string) => void = () => {}): Promise<string> {
  const make = async (folder: string) => {
    await mkdir(folder, { recursive: true });
    for (const [module, files] of Object.entries(modules)) {
      say(`fetching ${module}`);
      const { Dir } = JSON.parse(await go(["mod", "download", "-json", module], tmpdir(), { environment: process.env })) as { Dir: string };
      for (const file of files) await cp(join(Dir, file), join(folder, file.split("/").at(-1)!));
    }
  };
  return cached(name, make, { say });
}

/** Where they are once `npm run referees` has fetched them. */
export async function fetchedInstallerFiles(): Promise<string> {
  return cachedPath(name);
}

/** The fields of each struct of a Go file: the name in JSON, and the Go type. `inline` ones are given by their type alone. */
export async function goStructs(file: string): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const source = await readFile(file, "utf8");
  return new Map(
    [...source.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)].map(([, struct = "", body = ""]) => [
      struct,
      new Map(
        [...body.matchAll(/^\t(?:\w+ +)?(\S+) +`json:"([^",]*)/gm)].map(([, type = "", json = ""]) => [
          json === "" ? `inline ${type}` : json,
          type,
        ]),
      ),
    ]),
  );
}

/** Every key of a value that a struct does not have, by its path. Types of other files are not looked into. */
export function unknownKeys(value: unknown, type: string, structs: Awaited<ReturnType<typeof goStructs>>, path = ""): string[] {
  const element = type.replace(/^\*/, "");
  if (Array.isArray(value))
    return value.flatMap((each, index) => unknownKeys(each, element.replace(/^\[\]/, ""), structs, `${path}[${index}]`));
  const fields = fieldsOf(element, structs);
  if (fields === undefined || typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const field = fields.get(key);
    return field === undefined ? [`${path}.${key}`] : unknownKeys(inner, field, structs, `${path}.${key}`);
  });
}

function fieldsOf(type: string, structs: Awaited<ReturnType<typeof goStructs>>): Map<string, string> | undefined {
  const own = structs.get(type);
  if (own === undefined) return undefined;
  const inlined = [...own].flatMap(([name, inner]): [string, string][] => {
    if (!name.startsWith("inline ")) return [[name, inner]];
    return inner === "metav1.TypeMeta"
      ? [
          ["apiVersion", "string"],
          ["kind", "string"],
        ]
      : [...(fieldsOf(inner, structs) ?? [])];
  });
  return new Map(inlined);
}
