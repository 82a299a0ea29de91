/** Exchanges about claims, volumes, their classes and attachments. */
import type { Exchange, Fields, Talk } from "./talk.ts";

const storage = "/apis/storage.k8s.io/v1";
const size = (text: string): Fields => ({ requests: { storage: text } });
const claim = (name: string, more: Fields = {}): Fields => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: size("10Gi"), storageClassName: "", ...more },
});
const volume = (name: string, more: Fields = {}): Fields => ({
  metadata: { name },
  spec: {
    accessModes: ["ReadWriteOnce"],
    capacity: { storage: "10Gi" },
    csi: { driver: "ebs.csi.aws.com", volumeHandle: "vol-1" },
    storageClassName: "fast",
    ...more,
  },
});

/** Nobody else takes the protection of what is in use off here. */
async function remove(talk: Talk, path: string): Promise<void> {
  await talk.delete(path);
  await talk.patch("merge", path, { metadata: { finalizers: null } });
}

export const storageExchanges: readonly Exchange[] = [
  {
    name: "a claim is protected and pending, and its spec stays as it is but for its size and its class of attributes",
    async run(talk) {
      const path = `${talk.in("persistentvolumeclaims")}/a`;
      await talk.post(talk.in("persistentvolumeclaims"), claim("a"));
      await talk.patch("merge", path, { metadata: { annotations: { "volume.kubernetes.io/selected-node": "n" } } });
      await talk.patch("merge", path, { status: { phase: "Lost" } });
      await talk.patch("strategic", `${path}/status`, {
        status: { phase: "Bound", capacity: { storage: "10Gi" }, conditions: [{ type: "Resizing", status: "True" }] },
      });
      await talk.patch("strategic", `${path}/status`, { status: { conditions: [{ type: "FileSystemResizePending", status: "True" }] } });
      await remove(talk, path);
    },
  },
  {
    name: "a claim without a size, or without a mode, is refused",
    async run(talk) {
      const path = talk.in("persistentvolumeclaims");
      await talk.post(path, { metadata: { name: "a" }, spec: { accessModes: [], resources: size("1Gi") } }, 422);
    },
  },
  {
    name: "a volume is protected and pending, and what it is stays",
    async run(talk) {
      const path = `/api/v1/persistentvolumes/${talk.namespace}`;
      await talk.post("/api/v1/persistentvolumes", volume(talk.namespace));
      await talk.patch("merge", `${path}/status`, { status: { phase: "Available" } });
      await talk.patch("merge", path, { spec: { capacity: { storage: "20Gi" }, persistentVolumeReclaimPolicy: "Delete" } });
      await talk.patch("merge", path, { metadata: { annotations: { a: "b" }, finalizers: ["kubernetes.io/pv-protection", "e.com/x"] } });
      await remove(talk, path);
    },
  },
  {
    name: "a class waits for no pod and deletes unless it says so, and stays as it is",
    async run(talk) {
      const path = `${storage}/storageclasses/${talk.namespace}`;
      await talk.post(`${storage}/storageclasses`, { metadata: { name: talk.namespace }, provisioner: "p", parameters: { a: "b" } });
      await talk.patch("merge", path, { allowVolumeExpansion: true });
      await talk.patch("merge", path, { parameters: { a: "c" } }, 422);
      await talk.patch("merge", path, { provisioner: "q", reclaimPolicy: "Retain" }, 422);
      await talk.delete(path);
    },
  },
  {
    name: "an attachment is none until its status says so",
    async run(talk) {
      const path = `${storage}/volumeattachments/${talk.namespace}`;
      await talk.post(`${storage}/volumeattachments`, {
        metadata: { name: talk.namespace },
        spec: { attacher: "ebs.csi.aws.com", nodeName: "n", source: { persistentVolumeName: "pv" } },
      });
      await talk.patch("merge", path, { metadata: { finalizers: ["external-attacher/ebs-csi-aws-com"] } });
      await talk.patch("merge", `${path}/status`, { status: { attached: true, attachmentMetadata: { devicePath: "/dev/xvdaa" } } });
      await talk.patch("merge", `${path}/status`, { status: { attachError: { message: "no", time: "2026-01-01T00:00:00Z" } } });
      await talk.delete(path);
      await talk.patch("merge", path, { metadata: { finalizers: null } });
    },
  },
  {
    name: "a CSINode, a CSIDriver and a class of attributes",
    async run(talk) {
      const name = talk.namespace;
      const drivers = [
        { name: "ebs.csi.aws.com", nodeID: "i-1", topologyKeys: ["topology.kubernetes.io/zone"], allocatable: { count: 26 } },
      ];
      await talk.post(`${storage}/csinodes`, { metadata: { name }, spec: { drivers } });
      await talk.post(`${storage}/csidrivers`, { metadata: { name }, spec: { fsGroupPolicy: "File" } });
      await talk.post(`${storage}/volumeattributesclasses`, {
        metadata: { name },
        driverName: "ebs.csi.aws.com",
        parameters: { iops: "3000" },
      });
      for (const kind of ["csinodes", "csidrivers"]) await talk.delete(`${storage}/${kind}/${name}`);
      await remove(talk, `${storage}/volumeattributesclasses/${name}`);
    },
  },
];
