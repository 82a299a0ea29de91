/** Storage classes: four that every cluster has, those that are asked for, without those that are not wanted. */
import type { ArtifactsInput, ProvisionedClass } from "./input.ts";

/** What a class is asked to be cannot be. */
export class StorageClassInvalid extends Error {
  override readonly name = "StorageClassInvalid";
}

const builtIn: readonly ProvisionedClass[] = (["gp3", "gp2", "sc1", "st1"] as const).map((type) => ({ name: type, type }));

/** The names of those that every cluster has. */
export const builtInClasses: readonly string[] = builtIn.map(({ name }) => name);

/** The classes there are to be, by name. A class that is asked for takes the place of a built-in one of exactly its name. */
export function storageClassesOf({ provision, exclude }: ArtifactsInput["storageClass"]): readonly ProvisionedClass[] {
  const unwanted = exclude.map(expression);
  const names = new Set(provision.map(({ name }) => name));
  return [...builtIn.filter(({ name }) => !names.has(name)), ...provision]
    .filter(({ name }) => !unwanted.some((each) => each.test(name)))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function expression(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (cause) {
    throw new StorageClassInvalid(`storageClass.exclude: ${JSON.stringify(text)} is not a regular expression: ${(cause as Error).message}`);
  }
}

/** Which keys a type may have, and in which range. */
const limits = {
  iops: { types: ["gp3"], min: 3000, max: 16_000 },
  throughput: { types: ["gp3"], min: 125, max: 1000 },
  iopsPerGB: { types: ["io1", "io2"], min: 1, max: 1000 },
} as const;

/** The mark of the class that claims get which name none. */
export const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class";

/** The objects of the classes. Throws `StorageClassInvalid`. */
export function storageClassObjects(input: ArtifactsInput): readonly object[] {
  const classes = storageClassesOf(input.storageClass);
  const marked = input.defaultStorageClass || (input.defaultClusterStorageClass === "" ? classes[0]?.name : undefined);
  return classes.map((each) => {
    check(each);
    const { name, type, iops, iopsPerGB, throughput } = each;
    return {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: {
        name,
        labels: { heritage: "deckhouse", module: "cloud-provider-aws", app: "ebs-csi-driver" },
        ...(name === marked && { annotations: { [defaultClassAnnotation]: "true" } }),
      },
      provisioner: "ebs.csi.aws.com",
      parameters: { type, ...(iopsPerGB && { iopsPerGB }), ...(iops && { iops }), ...(throughput && { throughput }) },
      allowVolumeExpansion: true,
      volumeBindingMode: "WaitForFirstConsumer",
    };
  });
}

function check(asked: ProvisionedClass): void {
  for (const [key, { types, min, max }] of Object.entries(limits)) {
    const value = asked[key as keyof typeof limits];
    if (value === undefined) continue;
    const where = `storageClass.provision: ${asked.name}: ${key}`;
    if (!(types as readonly string[]).includes(asked.type)) {
      throw new StorageClassInvalid(`${where} is for type ${types.join(" or ")}, not for ${asked.type}`);
    }
    if (Number(value) < min || Number(value) > max) throw new StorageClassInvalid(`${where}: ${value} is not between ${min} and ${max}`);
  }
}
