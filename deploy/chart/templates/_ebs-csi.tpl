{{/* Name of a part of the driver, `list $ "controller"` or `list $ "node"`: of its workload, and of its component. */}}
{{- define "fairlead.ebsComponent" -}}
ebs-csi-{{ index . 1 }}
{{- end -}}

{{- define "fairlead.ebsAccount" -}}
{{- $values := index (index . 0).Values.ebsCsiDriver (index . 1) -}}
{{- default (include "fairlead.componentName" (list (index . 0) (include "fairlead.ebsComponent" .))) $values.serviceAccount.name -}}
{{- end -}}

{{/* Not empty when snapshots are served. */}}
{{- define "fairlead.ebsSnapshots" -}}
{{- $wanted := .Values.ebsCsiDriver.snapshots -}}
{{- if or (eq $wanted "always") (and (eq $wanted "auto") (.Capabilities.APIVersions.Has "snapshot.storage.k8s.io/v1/VolumeSnapshotContent")) }}yes{{ end -}}
{{- end -}}

{{/*
The sidecars of the controller with their arguments, which are those of the reference's chart. VolumeAttributesClass is switched off
where the API server does not know it: the sidecars do not become ready otherwise.
*/}}
{{- define "fairlead.ebsControllerSidecars" -}}
{{- $driver := .Values.ebsCsiDriver -}}
{{- $common := list "--csi-address=/csi/csi.sock" "--v=2" "--kube-api-qps=20" "--kube-api-burst=100" "--leader-election=true" (printf "--leader-election-namespace=%s" .Release.Namespace) -}}
{{- $classes := or (.Capabilities.APIVersions.Has "storage.k8s.io/v1/VolumeAttributesClass") (.Capabilities.APIVersions.Has "storage.k8s.io/v1beta1/VolumeAttributesClass") -}}
{{- $gates := $classes | ternary (list "--feature-gates=VolumeAttributesClass=true") (list "--feature-gates=VolumeAttributesClass=false") -}}
{{- $fallback := list (dict "name" "ENABLE_VAC_FALLBACK" "value" "true") -}}
{{- $allocatable := semverCompare ">=1.33-0" .Capabilities.KubeVersion.Version | ternary (list "--feature-gates=MutableCSINodeAllocatableCount=true") list -}}
{{- $provisioner := concat $common (list "--timeout=60s" "--feature-gates=Topology=true" "--extra-create-metadata" (printf "--default-fstype=%s" $driver.controller.defaultFsType) "--worker-threads=100" "--retry-interval-max=30m") $gates -}}
{{- $attacher := concat $common (list "--timeout=6m" "--worker-threads=100" "--retry-interval-max=5m") $allocatable -}}
{{- $resizer := concat $common (list "--timeout=60s" "--extra-modify-metadata" "--handle-volume-inuse-error=false" "--workers=100" "--retry-interval-max=30m") $gates -}}
{{- $sidecars := list
  (dict "name" "csi-provisioner" "values" $driver.sidecars.provisioner "args" $provisioner "env" $fallback)
  (dict "name" "csi-attacher" "values" $driver.sidecars.attacher "args" $attacher)
  (dict "name" "csi-resizer" "values" $driver.sidecars.resizer "args" $resizer "env" $fallback) -}}
{{- if include "fairlead.ebsSnapshots" . -}}
{{- $snapshotter := concat $common (list "--extra-create-metadata" "--worker-threads=100" "--retry-interval-max=30m") -}}
{{- $sidecars = append $sidecars (dict "name" "csi-snapshotter" "values" $driver.sidecars.snapshotter "args" $snapshotter) -}}
{{- end -}}
{{- $sidecars = append $sidecars (dict "name" "liveness-probe" "image" "livenessprobe" "values" $driver.sidecars.livenessProbe "args" (list "--csi-address=/csi/csi.sock" "--probe-timeout=60s" "--health-port=9808")) -}}
{{- toJson $sidecars -}}
{{- end -}}

{{- define "fairlead.ebsNodeSidecars" -}}
{{- $driver := .Values.ebsCsiDriver -}}
{{- $socket := printf "%s/plugins/ebs.csi.aws.com/csi.sock" (trimSuffix "/" $driver.node.kubeletDir) -}}
{{- list
  (dict "name" "node-driver-registrar" "image" "csi-node-driver-registrar" "values" $driver.sidecars.nodeDriverRegistrar "args" (list "--csi-address=/csi/csi.sock" (printf "--kubelet-registration-path=%s" $socket) "--http-endpoint=:9809" "--v=2") "mounts" (list (dict "name" "registration" "mountPath" "/registration")))
  (dict "name" "liveness-probe" "image" "livenessprobe" "values" $driver.sidecars.livenessProbe "args" (list "--csi-address=/csi/csi.sock" "--health-port=9808")) | toJson -}}
{{- end -}}

{{/* The container of a sidecar. */}}
{{- define "fairlead.ebsSidecar" -}}
{{- $root := index . 0 -}}
{{- $sidecar := index . 1 -}}
- name: {{ $sidecar.name }}
  {{- $image := printf "%s/%s" (trimSuffix "/" $root.Values.ebsCsiDriver.sidecars.repository) (default $sidecar.name $sidecar.image) }}
  image: {{ $sidecar.values.digest | empty | ternary (printf "%s:%s" $image $sidecar.values.tag) (printf "%s@%s" $image $sidecar.values.digest) }}
  imagePullPolicy: {{ $root.Values.image.pullPolicy }}
  args:
    {{- range concat $sidecar.args (default list $sidecar.values.extraArgs) }}
    - {{ . | quote }}
    {{- end }}
  {{- with $sidecar.env }}
  env:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities: {drop: [ALL]}
  resources:
    {{- toYaml $root.Values.ebsCsiDriver.sidecars.resources | nindent 4 }}
  volumeMounts:
    - {name: socket, mountPath: /csi}
    {{- with $sidecar.mounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
