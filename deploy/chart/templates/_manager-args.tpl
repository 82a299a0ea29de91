{{/* What --controllers says, as a list. */}}
{{- define "fairlead.controllerNames" -}}
{{- $manager := .Values.controllerManager -}}
{{- $names := list "*" -}}
{{- range $name, $controller := include "fairlead.controllers" . | fromYaml -}}
{{- $on := index $manager.controllers $controller.switch -}}
{{- if and $on (eq $name "tagging") -}}{{- $names = append $names $name -}}{{- end -}}
{{- if and (not $on) (ne $name "tagging") -}}{{- $names = append $names (printf "-%s" $name) -}}{{- end -}}
{{- end -}}
{{- toYaml $names -}}
{{- end -}}

{{/* The command line of the controller manager, one argument a line. */}}
{{- define "fairlead.managerArgs" -}}
{{- $manager := .Values.controllerManager -}}
- controller-manager
- --cloud-provider=aws
- {{ printf "--controllers=%s" (include "fairlead.controllerNames" . | fromYamlArray | join ",") | quote }}
- --configure-cloud-routes={{ $manager.controllers.routes }}
{{- with $manager.clusterCIDR }}
- {{ printf "--cluster-cidr=%s" . | quote }}
{{- end }}
{{- with $manager.clusterName }}
- {{ printf "--cluster-name=%s" . | quote }}
{{- end }}
{{- if $manager.controllers.tagging }}
- --resources=instance
{{- end }}
{{- range $key, $value := $manager.tags }}
- {{ printf "--tags=%s=%s" $key $value | quote }}
{{- end }}
{{- if $manager.cloudConfig }}
- --cloud-config=/etc/fairlead/cloud.conf
{{- end }}
{{- if $manager.dryRun }}
- --dry-run
{{- end }}
{{- if $manager.useServiceAccountCredentials }}
- --use-service-account-credentials
{{- end }}
{{- if $manager.leaderMigration }}
- --enable-leader-migration
{{- end }}
- --leader-elect-resource-namespace={{ $manager.leaseNamespace }}
- --secure-port={{ $manager.securePort }}
- --logging-format={{ $manager.logFormat }}
- --v={{ $manager.logVerbosity }}
{{- range $name, $value := $manager.extraArgs }}
{{- range $each := kindIs "slice" $value | ternary $value (list $value) }}
- {{ printf "--%s=%v" $name $each | quote }}
{{- end }}
{{- end }}
{{- end -}}
