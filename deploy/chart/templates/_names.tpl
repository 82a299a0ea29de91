{{- define "fairlead.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "fairlead.fullname" -}}
{{- default (include "fairlead.name" .) .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/*
Every program is a component: `list $ "controller-manager"`. Its objects have one name, its pods one selector, and everything the same
labels. `part-of` is never overridden: by it and the component, `fairlead doctor` and `plan` find the pods.
*/}}
{{- define "fairlead.componentName" -}}
{{- include "fairlead.fullname" (index . 0) }}-{{ index . 1 }}
{{- end -}}

{{- define "fairlead.selector" -}}
app.kubernetes.io/name: {{ include "fairlead.componentName" . }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
{{- end -}}

{{- define "fairlead.labels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/part-of: fairlead
app.kubernetes.io/component: {{ index . 1 }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ $root.Chart.Name }}-{{ $root.Chart.Version }}
{{- end -}}

{{/* The command that runs the controllers: alone, or with all other programs. It is the component. */}}
{{- define "fairlead.command" -}}
{{- eq .Values.mode "cluster" | ternary "cluster" "controller-manager" -}}
{{- end -}}

{{- define "fairlead.manager" -}}
{{- include "fairlead.componentName" (list . (include "fairlead.command" .)) -}}
{{- end -}}

{{- define "fairlead.managerAccount" -}}
{{- /* The same in both modes: roles of IAM trust it by name. */ -}}
{{- default (include "fairlead.componentName" (list . "controller-manager")) .Values.serviceAccount.name -}}
{{- end -}}

{{/* The Lease that the controller manager leads by: that of a dry run is its own. */}}
{{- define "fairlead.managerLease" -}}
{{- $manager := .Values.controllerManager -}}
{{- index $manager.extraArgs "leader-elect-resource-name" | default "cloud-controller-manager" }}{{ if $manager.dryRun }}-dry-run{{ end -}}
{{- end -}}

{{/*
Of the values of an image: its name with digest or tag. There is no default: a name that nobody of this project owns could be registered
by anybody.
*/}}
{{- define "fairlead.image" -}}
{{- $repository := required (printf "%s.repository is required: push the image to a registry of yours (deploy/image/Dockerfile) and give its name, as in --set %s.repository=registry.example.org/fairlead" .value .value) .image.repository -}}
{{- if .image.digest -}}
{{ $repository }}@{{ .image.digest }}
{{- else -}}
{{ $repository }}:{{ default .root.Chart.AppVersion .root.Values.image.tag }}
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
