{{/* The pod of the controller manager, the same for both kinds of workload. */}}
{{- define "fairlead.managerPod" -}}
{{- $manager := .Values.controllerManager -}}
metadata:
  labels:
    {{- include "fairlead.selector" (list . (include "fairlead.command" .)) | nindent 4 }}
    {{- include "fairlead.labels" (list . (include "fairlead.command" .)) | nindent 4 }}
    {{- with $manager.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    kubectl.kubernetes.io/default-container: {{ include "fairlead.command" . }}
    {{- with $manager.cloudConfig }}
    # Another file is another process: it is read at the start.
    checksum/cloud-config: {{ sha256sum . }}
    {{- end }}
    {{- if eq .Values.mode "cluster" }}
    checksum/cluster-config: {{ include "fairlead.clusterConfig" . | sha256sum }}
    {{- end }}
    {{- with $manager.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "fairlead.managerAccount" . }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  hostNetwork: {{ $manager.hostNetwork }}
  dnsPolicy: {{ $manager.dnsPolicy }}
  priorityClassName: {{ $manager.priorityClassName }}
  securityContext:
    {{- toYaml $manager.podSecurityContext | nindent 4 }}
  # What it does when it is asked to end takes at most this long.
  terminationGracePeriodSeconds: 30
  {{- if $manager.doctor.enabled }}
  initContainers:
    - name: doctor
      image: {{ include "fairlead.image" (dict "root" . "image" .Values.image "value" "image") }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        - doctor
        - {{ printf "--service-account=%s/%s" .Release.Namespace (include "fairlead.managerAccount" .) | quote }}
        - --exit-zero={{ not $manager.doctor.required }}
        {{- if $manager.cloudConfig }}
        - --cloud-config=/etc/fairlead/cloud.conf
        {{- end }}
        - --features={{ include "fairlead.features" . }}
      {{- include "fairlead.managerContainer" . | nindent 6 }}
  {{- end }}
  containers:
    - name: {{ include "fairlead.command" . }}
      image: {{ include "fairlead.image" (dict "root" . "image" .Values.image "value" "image") }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        {{- include (eq .Values.mode "cluster" | ternary "fairlead.clusterArgs" "fairlead.managerArgs") . | nindent 8 }}
      ports:
        - {name: https, containerPort: {{ $manager.securePort }}, protocol: TCP}
      # AWS being away is no reason to restart: only a process that hangs is.
      livenessProbe:
        httpGet: {path: /livez, port: https, scheme: HTTPS}
        initialDelaySeconds: 10
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: https, scheme: HTTPS}
        periodSeconds: 10
        timeoutSeconds: 5
      {{- include "fairlead.managerContainer" . | nindent 6 }}
  {{- with $manager.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $manager.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $manager.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if $manager.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml $manager.topologySpreadConstraints | nindent 4 }}
  {{- else if eq $manager.kind "Deployment" }}
  # One zone or one node that ends must not take all replicas with it.
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "fairlead.selector" (list $ (include "fairlead.command" $)) | nindent 10 }}
    {{- end }}
  {{- end }}
  {{- $files := include "fairlead.files" . }}
  {{- if or $files $manager.extraVolumes }}
  volumes:
    {{- if $files }}
    - name: cloud-config
      configMap: {name: {{ include "fairlead.manager" . }}}
    {{- end }}
    {{- with $manager.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
{{- end -}}

{{/* Not empty when the pod reads files of its ConfigMap. */}}
{{- define "fairlead.files" -}}
{{- if or .Values.controllerManager.cloudConfig (eq .Values.mode "cluster") }}yes{{ end -}}
{{- end -}}

{{/* What the doctor is to look at. */}}
{{- define "fairlead.features" -}}
{{- $on := .Values.controllerManager.controllers -}}
{{- $features := list -}}
{{- if or $on.nodes $on.nodeLifecycle }}{{ $features = append $features "nodes" }}{{ end -}}
{{- if $on.loadBalancers }}{{ $features = append $features "load-balancers" }}{{ end -}}
{{- if $on.routes }}{{ $features = append $features "routes" }}{{ end -}}
{{- if $on.tagging }}{{ $features = append $features "tagging" }}{{ end -}}
{{- if and (eq .Values.mode "cluster") .Values.cloudDataDiscoverer.enabled }}{{ $features = append $features "discovery" }}{{ end -}}
{{- join "," $features -}}
{{- end -}}

{{/* What the containers of the pod have in common. */}}
{{- define "fairlead.managerContainer" -}}
{{- $manager := .Values.controllerManager -}}
securityContext:
  {{- toYaml $manager.securityContext | nindent 2 }}
resources:
  {{- toYaml $manager.resources | nindent 2 }}
{{- $uuid := "" }}
{{- if and (eq .Values.mode "cluster") .Values.cloudDataDiscoverer.enabled }}{{ $uuid = .Values.cloudDataDiscoverer.clusterUUID }}{{ end }}
{{- if or $manager.region $manager.env $uuid }}
env:
  {{- with $manager.region }}
  - {name: AWS_REGION, value: {{ . | quote }}}
  {{- end }}
  {{- with $uuid }}
  - {name: CLUSTER_UUID, value: {{ . | quote }}}
  {{- end }}
  {{- with $manager.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- $files := include "fairlead.files" . }}
{{- if or $files $manager.extraVolumeMounts }}
volumeMounts:
  {{- if $files }}
  - {name: cloud-config, mountPath: /etc/fairlead, readOnly: true}
  {{- end }}
  {{- with $manager.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}
