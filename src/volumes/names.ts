/** The names that the driver, the sidecars and the reference before us know volumes by. */

export const driverName = "ebs.csi.aws.com";

/** Tags that say what made a volume or snapshot, and for whom. */
export const tagKeys = {
  volumeName: "CSIVolumeName",
  snapshotName: "CSIVolumeSnapshotName",
  driver: `${driverName}/cluster`,
  clusterName: "ebs.csi.aws.com/cluster-name",
  clusterPrefix: "kubernetes.io/cluster/",
  legacyCluster: "KubernetesCluster",
  claimName: "kubernetes.io/created-for/pvc/name",
  claimNamespace: "kubernetes.io/created-for/pvc/namespace",
  persistentVolume: "kubernetes.io/created-for/pv/name",
  iopsPerGb: `${driverName}/IOPSPerGb`,
  allowIopsIncrease: `${driverName}/AllowAutoIOPSIncreaseOnModify`,
} as const;

/** Keys of topology segments. The first of a pair is the well-known one, the second that of older volumes. */
export const topologyKeys = {
  zone: ["topology.kubernetes.io/zone", `topology.${driverName}/zone`],
  zoneId: "topology.k8s.aws/zone-id",
  region: `topology.${driverName}/region`,
  partition: `topology.${driverName}/partition`,
  account: `topology.${driverName}/account-id`,
  outpost: `topology.${driverName}/outpost-id`,
  system: "kubernetes.io/os",
} as const;

/** Keys under which what the controller learned travels to the node. */
export const contextKeys = {
  devicePath: "devicePath",
  volumeId: "volumeID",
  partition: "partition",
  waitForInitialization: "blockattachuntilinitialized",
} as const;

/** Labels by which a Node says how many network interfaces and disks that are no claim's it has. */
export const nodeLabels = {
  interfaces: `${driverName}/enis-count`,
  volumes: `${driverName}/non-csi-ebs-volumes-count`,
} as const;

/** Handles of volumes that a node brings with it; they are neither made nor attached here. */
export const nodeLocalPrefix = "local-ebs://";

/** Whether a volume handle names a disk of whatever node the pod runs on. */
export function isNodeLocal(volumeId: string): boolean {
  return volumeId.startsWith(nodeLocalPrefix);
}

/** Whether a text can be an id that EC2 gives to a volume. EC2 answers any other with an error that does not say "not found". */
export function isVolumeId(id: string): boolean {
  return /^vol-([0-9a-f]{8}|[0-9a-f]{17})$/.test(id);
}

/** Whether a text can be an id that EC2 gives to a snapshot. */
export function isSnapshotId(id: string): boolean {
  return /^snap-([0-9a-f]{8}|[0-9a-f]{17})$/.test(id);
}
