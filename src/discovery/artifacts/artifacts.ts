/** Everything that a node manager needs of the provider, as objects. */
import { type ArtifactsInput, ArtifactsInputInvalid } from "./input.ts";
import { instanceClassDefinition } from "./instance-class.ts";
import { machineClass } from "./machine-class.ts";
import { accessRoles, cniSecret, controllerManagerSecret, moduleNamespace } from "./module-objects.ts";
import { bashibleSecrets, registrationSecrets, templateSecret } from "./registration.ts";
import { storageClassObjects } from "./storage-classes.ts";

/** The objects, in the order they can be applied in. Throws `ArtifactsInputInvalid` or `StorageClassInvalid`. */
export function artifacts(input: ArtifactsInput): readonly object[] {
  return [
    instanceClassDefinition,
    ...accessRoles,
    moduleNamespace,
    controllerManagerSecret(input),
    cniSecret(input),
    ...registrationSecrets(input),
    templateSecret(),
    ...bashibleSecrets(input),
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIDriver",
      metadata: { name: "ebs.csi.aws.com", labels: { heritage: "deckhouse", module: "cloud-provider-aws" } },
      spec: { attachRequired: true, podInfoOnMount: false },
    },
    ...storageClassObjects(input),
    ...(input.snapshots ? [snapshotClass] : []),
    ...machineClasses(input),
  ];
}

const snapshotClass = {
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotClass",
  metadata: { name: "aws", labels: { heritage: "deckhouse", module: "cloud-provider-aws" } },
  driver: "ebs.csi.aws.com",
  deletionPolicy: "Delete",
};

/** What the node manager will make of the templates, for the groups that are named. */
function machineClasses(input: ArtifactsInput): readonly object[] {
  const problems: string[] = [];
  const classes = input.nodeGroups.flatMap((group) =>
    (group.zones ?? input.discoveryData.zones).flatMap((zone) => {
      const made = machineClass(input, group, zone);
      if (!("problem" in made)) return [made];
      problems.push(`nodeGroups: ${group.name}: ${made.problem}`);
      return [];
    }),
  );
  if (problems.length > 0) throw new ArtifactsInputInvalid(problems);
  return classes;
}
