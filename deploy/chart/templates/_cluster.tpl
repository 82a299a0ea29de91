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
{{- $sections | toYaml -}}
{{- end -}}

{{/* The file of `fairlead node`, the same way. */}}
{{- define "fairlead.nodeConfig" -}}
{{- dict "node-termination-handler" (include "fairlead.terminationSection" . | fromYaml) | toYaml -}}
{{- end -}}
