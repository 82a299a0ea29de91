{{- define "fairlead.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "fairlead.fullname" -}}
{{- default (include "fairlead.name" .) .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "fairlead.manager" -}}
{{- include "fairlead.fullname" . }}-controller-manager
{{- end -}}

{{- define "fairlead.provider" -}}
{{- include "fairlead.fullname" . }}-credential-provider
{{- end -}}

{{- define "fairlead.labels" -}}
app.kubernetes.io/part-of: {{ include "fairlead.name" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "fairlead.managerSelector" -}}
app.kubernetes.io/name: {{ include "fairlead.manager" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "fairlead.providerSelector" -}}
app.kubernetes.io/name: {{ include "fairlead.provider" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Of the values of an image: its name with digest or tag. */}}
{{- define "fairlead.image" -}}
{{- if .image.digest -}}
{{ .image.repository }}@{{ .image.digest }}
{{- else -}}
{{ .image.repository }}:{{ default .root.Chart.AppVersion .root.Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* The controllers by the names of --controllers: which value switches each, and its service account when it has one of its own. */}}
{{- define "fairlead.controllers" -}}
cloud-node-controller: {switch: nodes, account: node-controller}
cloud-node-lifecycle-controller: {switch: nodeLifecycle, account: node-controller}
service-lb-controller: {switch: loadBalancers, account: service-controller}
node-route-controller: {switch: routes, account: route-controller}
tagging: {switch: tagging, account: tagging-controller}
{{- end -}}
