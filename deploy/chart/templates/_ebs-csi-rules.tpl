{{/* What the sidecars may do: each has the rules that its own project gives it. */}}
{{- define "fairlead.ebsRules.events" -}}
- apiGroups: [""]
  resources: [events]
  verbs: [list, watch, create, update, patch]
{{- end -}}

{{- define "fairlead.ebsRules.provisioner" -}}
- apiGroups: [""]
  resources: [persistentvolumes]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get, list, watch, update]
- apiGroups: [""]
  resources: [nodes]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses, csinodes, volumeattachments]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [volumeattributesclasses]
  verbs: [get]
# Volumes that are made from snapshots.
- apiGroups: [snapshot.storage.k8s.io]
  resources: [volumesnapshots]
  verbs: [get, list, watch, update]
- apiGroups: [snapshot.storage.k8s.io]
  resources: [volumesnapshotcontents]
  verbs: [get, list]
{{ include "fairlead.ebsRules.events" . }}
{{- end -}}

{{- define "fairlead.ebsRules.attacher" -}}
- apiGroups: [""]
  resources: [persistentvolumes]
  verbs: [get, list, watch, patch]
- apiGroups: [storage.k8s.io]
  resources: [csinodes]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [volumeattachments]
  verbs: [get, list, watch, patch]
- apiGroups: [storage.k8s.io]
  resources: [volumeattachments/status]
  verbs: [patch]
{{- end -}}

{{- define "fairlead.ebsRules.resizer" -}}
- apiGroups: [""]
  resources: [persistentvolumes]
  verbs: [get, list, watch, patch]
- apiGroups: [""]
  resources: [persistentvolumeclaims, pods]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [persistentvolumeclaims/status]
  verbs: [patch]
- apiGroups: [storage.k8s.io]
  resources: [volumeattributesclasses]
  verbs: [get, list, watch]
{{ include "fairlead.ebsRules.events" . }}
{{- end -}}

{{- define "fairlead.ebsRules.snapshotter" -}}
- apiGroups: [snapshot.storage.k8s.io]
  resources: [volumesnapshotclasses]
  verbs: [get, list, watch]
- apiGroups: [snapshot.storage.k8s.io]
  resources: [volumesnapshotcontents]
  verbs: [get, list, watch, update, patch]
- apiGroups: [snapshot.storage.k8s.io]
  resources: [volumesnapshotcontents/status]
  verbs: [update, patch]
{{ include "fairlead.ebsRules.events" . }}
{{- end -}}

{{/* The node service itself. */}}
{{- define "fairlead.ebsRules.node" -}}
# What the node is, and the taint that keeps pods away until the driver is there.
- apiGroups: [""]
  resources: [nodes]
  verbs: [get, patch]
- apiGroups: [storage.k8s.io]
  resources: [csinodes]
  verbs: [get]
# Before it ends on a drained node it waits for these.
- apiGroups: [storage.k8s.io]
  resources: [volumeattachments]
  verbs: [list]
{{- end -}}

{{/* The metadata labeller. */}}
{{- define "fairlead.ebsRules.labeler" -}}
- apiGroups: [""]
  resources: [nodes]
  verbs: [list, watch, patch]
# Disks of claims are not counted.
- apiGroups: [""]
  resources: [persistentvolumes]
  verbs: [list, watch]
{{- end -}}

{{/* The controller with built-in roles: no more than it asks for. */}}
{{- define "fairlead.ebsRules.controller" -}}
- apiGroups: [""]
  resources: [persistentvolumes]
  verbs: [get, list, watch, create, patch, delete]
# A claim is held while its volume is made; one whose zone has no place is handed back to the scheduler.
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get, list, watch, patch]
- apiGroups: [""]
  resources: [persistentvolumeclaims/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [nodes]
  verbs: [list, watch]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses, csinodes]
  verbs: [list, watch]
- apiGroups: [storage.k8s.io]
  resources: [volumeattachments]
  verbs: [get, list, watch, patch]
- apiGroups: [storage.k8s.io]
  resources: [volumeattachments/status]
  verbs: [patch]
- apiGroups: [storage.k8s.io]
  resources: [volumeattributesclasses]
  verbs: [get]
- apiGroups: [snapshot.storage.k8s.io]
  resources: [volumesnapshots, volumesnapshotclasses]
  verbs: [get]
- apiGroups: [snapshot.storage.k8s.io]
  resources: [volumesnapshotcontents]
  verbs: [get, list, watch, patch]
- apiGroups: [snapshot.storage.k8s.io]
  resources: [volumesnapshotcontents/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end -}}
