/** What serving volumes takes in the cluster: the driver's object, its registration on nodes, classes it can serve. */
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { CSINode, StorageClass, VolumeAttachment } from "../kube/types.ts";
import { type Finding, ok, problem, some, warning } from "./finding.ts";
import { type Picture, valueIn } from "./picture.ts";

const driver = "ebs.csi.aws.com";
const inTree = "kubernetes.io/aws-ebs";

export interface VolumeFacts {
  /** Whether its CSIDriver object is there. */
  readonly isInstalled: boolean;
  readonly nodes: readonly DriverNode[];
  readonly classes: readonly ClassFacts[];
}

export interface DriverNode {
  readonly name: string;
  /** Undefined where the driver is not registered, or says nothing of it. */
  readonly limit: number | undefined;
  readonly isRegistered: boolean;
  /** VolumeAttachments of the driver. */
  readonly attached: number;
}

export interface ClassFacts {
  readonly name: string;
  readonly kmsKeyId: string | undefined;
  /** Why the driver would refuse it. */
  readonly problem: string | undefined;
}

/** Why the driver would refuse a class; undefined when it would not. */
export type JudgeClass = (storageClass: StorageClass) => string | undefined;

export async function askVolumes(kube: KubeClient, judge: JudgeClass, signal: AbortSignal): Promise<VolumeFacts> {
  const items = async <T>(path: string) => (JSON.parse(await kube.raw(path, { signal })) as { readonly items?: readonly T[] }).items ?? [];
  const storage = "/apis/storage.k8s.io/v1";
  const [isInstalled, csiNodes, classes, attachments] = await Promise.all([
    kube.raw(`${storage}/csidrivers/${driver}`, { signal }).then(
      () => true,
      (error: unknown) => {
        if (isApiError(error, "not-found")) return false;
        throw error;
      },
    ),
    items<CSINode>(`${storage}/csinodes`),
    items<StorageClass>(`${storage}/storageclasses`),
    items<VolumeAttachment>(`${storage}/volumeattachments`),
  ]);
  const own = attachments.filter(({ spec }) => spec.attacher === driver);
  return {
    isInstalled,
    nodes: csiNodes.map(({ metadata, spec }): DriverNode => {
      const name = metadata?.name ?? "";
      const registered = spec.drivers.find((each) => each.name === driver);
      const attached = own.filter((each) => each.spec.nodeName === name).length;
      return { name, isRegistered: registered !== undefined, limit: registered?.allocatable?.count, attached };
    }),
    classes: classes
      .filter(({ provisioner }) => provisioner === driver || provisioner === inTree)
      .map((storageClass) => ({
        name: storageClass.metadata?.name ?? "",
        kmsKeyId: Object.entries(storageClass.parameters ?? {}).find(([key]) => key.toLowerCase() === "kmskeyid")?.[1],
        problem: judge(storageClass),
      })),
  };
}

const install =
  "helm upgrade fairlead deploy/chart --namespace kube-system --reuse-values --set ebsCsiDriver.enabled=true   # docs/volumes.md";

/** Asked only with `--features=volumes`. */
export function checkVolumes(picture: Picture): readonly Finding[] {
  const { volumes } = picture;
  if (volumes === undefined) return [];
  if (!volumes.known) return [warning("volumes", volumes.why, "kubectl get csidrivers,csinodes,storageclasses")];
  const facts = volumes.value;
  const findings = checkClasses(facts, valueIn(picture.caller)?.region);
  // Nothing of it is installed, and nobody asks for volumes.
  if (!facts.isInstalled && facts.classes.length === 0) return findings;
  if (!facts.isInstalled) return [...findings, problem("volumes", `there is no CSIDriver ${driver}: nobody mounts EBS volumes`, install)];
  findings.push(...checkNodes(facts));
  const registered = facts.nodes.filter(({ isRegistered }) => isRegistered).length;
  return findings.length > 0 ? findings : [ok("volumes", `the driver is registered on ${registered} of ${facts.nodes.length} nodes`)];
}

function checkClasses({ classes }: VolumeFacts, region: string | undefined): Finding[] {
  const refused = classes.flatMap(({ name, problem: why }) =>
    why === undefined ? [] : [problem("volumes", `StorageClass ${name}: ${why}`, `kubectl get storageclass ${name} --output=yaml`)],
  );
  const strange = classes.flatMap(({ name, kmsKeyId }) => {
    const other = /^arn:[^:]+:kms:([^:]+):/.exec(kmsKeyId ?? "")?.[1];
    if (other === undefined || region === undefined || other === region) return [];
    const what = `StorageClass ${name} names a key of ${other}, and volumes are made in ${region}: EC2 makes them and removes them again`;
    return [problem("volumes", what, `kubectl get storageclass ${name} --output=yaml   # name a key of ${region}`)];
  });
  return [...refused, ...strange];
}

function checkNodes({ nodes }: VolumeFacts): Finding[] {
  const without = nodes.filter(({ isRegistered }) => !isRegistered).map(({ name }) => name);
  const full = nodes.filter(({ limit, attached }) => limit !== undefined && attached >= limit).map(({ name }) => name);
  const silent = nodes.filter(({ isRegistered, limit }) => isRegistered && limit === undefined).map(({ name }) => name);
  return [
    ...(without.length > 0
      ? [
          warning(
            "volumes",
            `the driver is not registered on ${some(without)}: pods with volumes cannot start there`,
            `kubectl get pods -A --field-selector spec.nodeName=${without[0]}`,
          ),
        ]
      : []),
    ...(silent.length > 0
      ? [
          warning(
            "volumes",
            `${some(silent)} say no limit: the scheduler puts more volumes there than fit`,
            `kubectl get csinode ${silent[0]} --output=yaml`,
          ),
        ]
      : []),
    ...(full.length > 0
      ? [
          warning(
            "volumes",
            `${some(full)} have as many volumes as fit: no pod with another one can start there`,
            `kubectl get volumeattachments`,
          ),
        ]
      : []),
  ];
}
