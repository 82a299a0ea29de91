{{/* The command line of `fairlead cluster`: the flags of the process, one argument a line. */}}
{{- define "fairlead.clusterArgs" -}}
{{- $manager := .Values.controllerManager -}}
- cluster
- --config=/etc/fairlead/cluster.yaml
{{- if $manager.cloudConfig }}
- --cloud-config=/etc/fairlead/cloud.conf
{{- end }}
{{- if $manager.dryRun }}
- --dry-run
{{- end }}
{{- if $manager.useServiceAccountCredentials }}
- --use-service-account-credentials
{{- end }}
- --leader-elect-resource-namespace={{ $manager.leaseNamespace }}
- --secure-port={{ $manager.securePort }}
- --logging-format={{ $manager.logFormat }}
- --v={{ $manager.logVerbosity }}
{{- range $name, $value := .Values.cluster.extraArgs }}
{{- range $each := kindIs "slice" $value | ternary $value (list $value) }}
- {{ printf "--%s=%v" $name $each | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The file of `fairlead cluster`: one section per program. */}}
{{- define "fairlead.clusterConfig" -}}
{{- $manager := .Values.controllerManager -}}
{{- $section := dict -}}
{{- $_ := set $section "controllers" (include "fairlead.controllerNames" . | fromYamlArray) -}}
{{- $_ := set $section "configure-cloud-routes" $manager.controllers.routes -}}
{{- $_ := set $section "leader-elect-resource-namespace" $manager.leaseNamespace -}}
{{- with $manager.clusterCIDR }}{{ $_ := set $section "cluster-cidr" . }}{{ end -}}
{{- with $manager.clusterName }}{{ $_ := set $section "cluster-name" . }}{{ end -}}
{{- if $manager.controllers.tagging }}{{ $_ := set $section "resources" (list "instance") }}{{ end -}}
{{- with $manager.tags }}{{ $_ := set $section "tags" . }}{{ end -}}
{{- if $manager.leaderMigration }}{{ $_ := set $section "enable-leader-migration" true }}{{ end -}}
{{- $sections := dict "controller-manager" (mustMergeOverwrite $section (deepCopy $manager.extraArgs)) -}}
{{- if include "fairlead.queueInCluster" . }}{{ $_ := set $sections "node-termination-handler" (include "fairlead.terminationSection" . | fromYaml) }}{{ end -}}
{{- if .Values.cloudDataDiscoverer.enabled }}{{ $_ := set $sections "cloud-data-discoverer" (dict "discovery-period" .Values.cloudDataDiscoverer.discoveryPeriod) }}{{ end -}}
{{- if .Values.artifacts.enabled }}{{ $_ := set $sections "artifacts" (include "fairlead.artifactsSection" . | fromYaml) }}{{ end -}}
{{- $sections | toYaml -}}
{{- end -}}

{{/* The flags of the keeper of artifacts, by name, that are the same wherever it runs. */}}
{{- define "fairlead.artifactsSection" -}}
{{- $artifacts := .Values.artifacts -}}
settings: {{ .Release.Namespace }}/{{ include "fairlead.componentName" (list . "artifacts") }}
leader-elect-resource-namespace: {{ .Release.Namespace | quote }}
instance-classes: {{ $artifacts.instanceClasses }}
spot-nodes: {{ $artifacts.spotNodes }}
host-addresses: {{ $artifacts.hostAddresses }}
wait-for-masters: {{ $artifacts.waitForMasters }}
root-disk-migration: {{ $artifacts.rootDiskMigration }}
{{- end -}}

{{/* Who a program of the one process acts as: the process itself, which reads for all, and with service account credentials an account of its own. */}}
{{- define "fairlead.hostedAccounts" -}}
{{- $root := index . 0 -}}
- {kind: ServiceAccount, name: {{ include "fairlead.managerAccount" $root }}, namespace: {{ $root.Release.Namespace }}}
{{- if $root.Values.controllerManager.useServiceAccountCredentials }}
- {kind: ServiceAccount, name: {{ index . 1 }}, namespace: kube-system}
{{- end }}
{{- end -}}

{{/* The file of `fairlead node`, the same way. */}}
{{- define "fairlead.nodeConfig" -}}
{{- dict "node-termination-handler" (include "fairlead.terminationSection" . | fromYaml) | toYaml -}}
{{- end -}}
