/** The flags of the driver, of which each mode has its own. */
import { globalFlags } from "../../process/flags.ts";
import { type FlagSection, type FlagTable, flag, type Kind } from "../../runtime/flags.ts";
import { bool, duration, int, string, strings } from "../../runtime/flags-kinds.ts";
import { webhookServingFlags } from "../webhook-serving.ts";

export const modes = ["all", "controller", "node", "metadataLabeler", "pre-stop-hook"] as const;
export type Mode = (typeof modes)[number];

/** `k=v,k2=v2`, spaces and empty parts left out; later uses merge. */
const tagMap: Kind<Readonly<Record<string, string>>> = {
  type: "k=v,...",
  holds: "list",
  parse(text, before) {
    const pairs = text.split(",").flatMap((part): [string, string][] => {
      if (part.trim() === "") return [];
      const equals = part.indexOf("=");
      if (equals < 0) throw new SyntaxError(`malformed pair, expect string=string: ${JSON.stringify(part)}`);
      return [[part.slice(0, equals).trim(), part.slice(equals + 1).trim()]];
    });
    return { ...before, ...Object.fromEntries(pairs) };
  },
  print: (value) =>
    Object.entries(value)
      .map(([key, item]) => `${key}=${item}`)
      .join(","),
};

/** Of every mode. */
const serving = {
  kubeconfig: flag(string, "", "Path of a kubeconfig file. Empty: the service account of the pod."),
  endpoint: flag(string, "unix://tmp/csi.sock", "Where CSI is served: unix:///path or tcp://host:port."),
  "http-endpoint": flag(string, "", "host:port for metrics, at the path /metrics. Empty: no metrics."),
  "metrics-cert-file": flag(string, "", "Certificate for metrics over HTTPS."),
  "metrics-key-file": flag(string, "", "Private key for metrics over HTTPS."),
  "metadata-sources": flag(
    strings,
    ["imds", "kubernetes"],
    "Where a node learns what it is, tried in this order: imds, kubernetes, metadata-labeler.",
  ),
  "enable-otel-tracing": flag(bool, false, "Accepted for compatibility; traces are not exported."),
};

const awsClient = {
  "user-agent-extra": flag(string, "", "Added to the user agent of calls to AWS."),
  "aws-sdk-debug-log": flag(bool, false, "Accepted for compatibility; --v=4 shows every call to AWS, secrets masked."),
};

const controller = {
  "extra-tags": flag(tagMap, {}, "Tags for every volume and snapshot that is created; values are templates."),
  "extra-volume-tags": flag(tagMap, {}, "Tags for every volume and snapshot.", { deprecated: "use --extra-tags" }),
  "k8s-tag-cluster-id": flag(string, "", "Id of the cluster, which volumes and snapshots are marked with."),
  "warn-on-invalid-tag": flag(bool, false, "Leave a bad tag out instead of refusing the volume or snapshot."),
  batching: flag(bool, false, "Accepted for compatibility; calls that can be joined always are."),
  "modify-volume-request-handler-timeout": flag(duration, 2_000, "How long a change of a volume waits for others of the same volume."),
  "deprecated-metrics": flag(bool, false, "Accepted for compatibility; the names cloudprovider_aws_* are always exported."),
  "enable-node-local-volumes": flag(bool, false, "Allow volumes that belong to a node (local-ebs://DEVICE)."),
};

const roles = {
  "built-in-roles": flag(
    bool,
    false,
    "Do what csi-provisioner, csi-attacher, csi-resizer and csi-snapshotter do, in this process and under their Leases. CSI is not served then, and /healthz is on --http-endpoint.",
  ),
  "default-fstype": flag(string, "ext4", "With --built-in-roles: the file system of volumes whose class names none."),
  "volume-labels": flag(
    bool,
    false,
    "With --built-in-roles: give PersistentVolumes from before CSI, and those made by hand, the zone and region of their disk, as labels and node affinity.",
  ),
  "leader-election-namespace": flag(string, "", "With --built-in-roles: the namespace of the Leases. Empty: kube-system."),
  ...webhookServingFlags("ebs-csi-webhook"),
};

const node = {
  "volume-attach-limit": flag(int, -1, "How many volumes a node takes. Negative: what its instance type takes."),
  "reserved-volume-attachments": flag(int, -1, "Attachments reserved for disks that are not CSI volumes. Negative: as many as there are."),
  "legacy-xfs": flag(bool, false, "Make xfs file systems without features that kernels before 5.15 lack."),
  "csi-mount-point-prefix": flag(
    string,
    "",
    "Export the statistics of NVMe disks with a mount below this path; needs the tool nvme. Empty: of none.",
  ),
  "kubelet-registration-path": flag(
    string,
    "",
    "Register with kubelet, in place of node-driver-registrar: the path of the socket of --endpoint as kubelet sees it.",
  ),
  "plugin-registration-path": flag(string, "/registration", "Kubelet's folder plugins_registry, as this process sees it."),
  "windows-host-process": flag(bool, false, "Windows only; refused here."),
};

const logs = {
  logtostderr: flag(bool, false, "The log goes to standard error.", { deprecated: "it always does" }),
  "log-json-info-buffer-size": flag(string, "0", "Accepted for compatibility; has no effect."),
  "log-json-split-stream": flag(bool, false, "Accepted for compatibility; has no effect."),
  ...globalFlags,
};

/** Every flag, whatever the mode. */
export const driverFlags = { ...serving, ...awsClient, ...controller, ...roles, ...node, ...logs };

const hasController = (mode: Mode) => mode === "all" || mode === "controller";

const groups: readonly { readonly title: string; readonly flags: FlagTable; isIn(mode: Mode): boolean }[] = [
  { title: "Serving", flags: serving, isIn: () => true },
  { title: "AWS", flags: awsClient, isIn: (mode) => hasController(mode) || mode === "metadataLabeler" },
  { title: "Controller", flags: controller, isIn: hasController },
  { title: "Built-in roles", flags: roles, isIn: (mode) => mode === "controller" },
  { title: "Node", flags: node, isIn: (mode) => mode === "all" || mode === "node" },
  { title: "Log", flags: logs, isIn: () => true },
];

/** The flags of every mode, in the groups that the reference page shows. */
export const allSections: readonly FlagSection[] = groups;

/** The flags of a mode, in the groups that help shows. */
export function sectionsOf(mode: Mode): readonly FlagSection[] {
  return groups.filter(({ isIn }) => isIn(mode));
}

/** The flags of a mode. Another one's are unknown in it. */
export function flagsOf(mode: Mode): typeof driverFlags {
  return Object.assign({}, ...sectionsOf(mode).map(({ flags }) => flags)) as typeof driverFlags;
}
