{{/* What each controller writes, and reads beyond what the process follows for all. */}}
{{- define "fairlead.rules.cloud-node-controller" -}}
# Initialised, labelled, untainted; addresses and a condition in the status.
- apiGroups: [""]
  resources: [nodes]
  verbs: [get, patch]
- apiGroups: [""]
  resources: [nodes/status]
  verbs: [patch]
{{- end -}}

{{- define "fairlead.rules.cloud-node-lifecycle-controller" -}}
# Tainted while the instance is stopped, deleted when it is proven gone. Nodes are never created here.
- apiGroups: [""]
  resources: [nodes]
  verbs: [get, patch, delete]
{{- end -}}

{{- define "fairlead.rules.service-lb-controller" -}}
# The finalizer and the load balancer's address, both through the status.
- apiGroups: [""]
  resources: [services/status]
  verbs: [patch]
{{- end -}}

{{- define "fairlead.rules.node-route-controller" -}}
# The condition NetworkUnavailable.
- apiGroups: [""]
  resources: [nodes/status]
  verbs: [patch]
{{- end -}}

{{- define "fairlead.rules.tagging" -}}
# A label tells which tags the instance has.
- apiGroups: [""]
  resources: [nodes]
  verbs: [get, patch]
{{- end -}}
