/** The messages of CSI that are read or answered here, as the loader shows them: absent texts are empty, absent messages null. */

export type StringMap = Readonly<Record<string, string>>;

export interface CapacityRange {
  /** 64-bit numbers arrive as decimal texts. */
  readonly requiredBytes: string;
  readonly limitBytes: string;
}

export interface VolumeCapability {
  readonly accessType?: "block" | "mount";
  readonly mount?: { readonly fsType: string; readonly mountFlags: readonly string[] } | null;
  readonly block?: object | null;
  readonly accessMode: { readonly mode: string } | null;
}

export interface Topology {
  readonly segments: StringMap;
}

export interface ContentSource {
  readonly type?: "snapshot" | "volume";
  readonly snapshot?: { readonly snapshotId: string } | null;
  readonly volume?: { readonly volumeId: string } | null;
}

export interface CreateVolumeRequest {
  readonly name: string;
  readonly capacityRange: CapacityRange | null;
  readonly volumeCapabilities: readonly VolumeCapability[];
  readonly parameters: StringMap;
  readonly mutableParameters: StringMap;
  readonly volumeContentSource: ContentSource | null;
  readonly accessibilityRequirements: { readonly requisite: readonly Topology[]; readonly preferred: readonly Topology[] } | null;
}

export interface VolumeAnswer {
  readonly volumeId: string;
  readonly capacityBytes: string;
  readonly volumeContext: StringMap;
  readonly contentSource: ContentSource | null;
  readonly accessibleTopology: readonly Topology[];
}

export interface DeleteVolumeRequest {
  readonly volumeId: string;
}

export interface PublishVolumeRequest {
  readonly volumeId: string;
  readonly nodeId: string;
  readonly volumeCapability: VolumeCapability | null;
  readonly volumeContext: StringMap;
}

export interface UnpublishVolumeRequest {
  readonly volumeId: string;
  readonly nodeId: string;
}

export interface ValidateCapabilitiesRequest {
  readonly volumeId: string;
  readonly volumeCapabilities: readonly VolumeCapability[];
}

export interface ExpandVolumeRequest {
  readonly volumeId: string;
  readonly capacityRange: CapacityRange | null;
  readonly volumeCapability: VolumeCapability | null;
}

export interface ModifyVolumeRequest {
  readonly volumeId: string;
  readonly mutableParameters: StringMap;
}

export interface CreateSnapshotRequest {
  readonly sourceVolumeId: string;
  readonly name: string;
  readonly parameters: StringMap;
}

export interface DeleteSnapshotRequest {
  readonly snapshotId: string;
}

export interface ListSnapshotsRequest {
  readonly maxEntries: number;
  readonly startingToken: string;
  readonly sourceVolumeId: string;
  readonly snapshotId: string;
}

export interface SnapshotAnswer {
  readonly snapshotId: string;
  readonly sourceVolumeId: string;
  readonly sizeBytes: string;
  readonly creationTime: { readonly seconds: string; readonly nanos: number };
  readonly readyToUse: boolean;
}

export interface StageVolumeRequest {
  readonly volumeId: string;
  readonly publishContext: StringMap;
  readonly stagingTargetPath: string;
  readonly volumeCapability: VolumeCapability | null;
  readonly volumeContext: StringMap;
}

export interface UnstageVolumeRequest {
  readonly volumeId: string;
  readonly stagingTargetPath: string;
}

export interface NodePublishRequest extends StageVolumeRequest {
  readonly targetPath: string;
  readonly readonly: boolean;
}

export interface NodeUnpublishRequest {
  readonly volumeId: string;
  readonly targetPath: string;
}

export interface NodeExpandRequest {
  readonly volumeId: string;
  readonly volumePath: string;
  readonly volumeCapability: VolumeCapability | null;
}

export interface VolumeStatsRequest {
  readonly volumeId: string;
  readonly volumePath: string;
}
