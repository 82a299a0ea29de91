{{/* The values of the reference's chart by the environment variable that each sets. */}}
{{- define "fairlead.terminationOptions" -}}
dryRun: DRY_RUN
ignoreDaemonSets: IGNORE_DAEMON_SETS
deleteLocalData: DELETE_LOCAL_DATA
podTerminationGracePeriod: POD_TERMINATION_GRACE_PERIOD
nodeTerminationGracePeriod: NODE_TERMINATION_GRACE_PERIOD
kubeApiQps: KUBE_API_QPS
kubeApiBurst: KUBE_API_BURST
webhookProxy: WEBHOOK_PROXY
webhookHeaders: WEBHOOK_HEADERS
webhookTemplate: WEBHOOK_TEMPLATE
instanceMetadataURL: INSTANCE_METADATA_URL
metadataTries: METADATA_TRIES
enableScheduledEventDraining: ENABLE_SCHEDULED_EVENT_DRAINING
enableSpotInterruptionDraining: ENABLE_SPOT_INTERRUPTION_DRAINING
enableASGLifecycleDraining: ENABLE_ASG_LIFECYCLE_DRAINING
enableRebalanceMonitoring: ENABLE_REBALANCE_MONITORING
enableRebalanceDraining: ENABLE_REBALANCE_DRAINING
awsEndpoint: AWS_ENDPOINT
checkTagBeforeDraining: CHECK_TAG_BEFORE_DRAINING
managedTag: MANAGED_TAG
useProviderId: USE_PROVIDER_ID
cordonOnly: CORDON_ONLY
taintNode: TAINT_NODE
taintEffect: TAINT_EFFECT
enableOutOfServiceTaint: ENABLE_OUT_OF_SERVICE_TAINT
excludeFromLoadBalancers: EXCLUDE_FROM_LOAD_BALANCERS
workers: WORKERS
completeLifecycleActionDelaySeconds: COMPLETE_LIFECYCLE_ACTION_DELAY_SECONDS
deleteSqsMsgIfNodeNotFound: DELETE_SQS_MSG_IF_NODE_NOT_FOUND
heartbeatInterval: HEARTBEAT_INTERVAL
heartbeatUntil: HEARTBEAT_UNTIL
sqsMsgVisibilityTimeoutSec: SQS_MSG_VISIBILITY_TIMEOUT_SEC
jsonLogging: JSON_LOGGING
logLevel: LOG_LEVEL
logFormatVersion: LOG_FORMAT_VERSION
emitKubernetesEvents: EMIT_KUBERNETES_EVENTS
kubernetesEventsExtraAnnotations: KUBERNETES_EVENTS_EXTRA_ANNOTATIONS
procUptimeFile: UPTIME_FROM_FILE
useApiserverCache: USE_APISERVER_CACHE
checkASGTagBeforeDraining: CHECK_ASG_TAG_BEFORE_DRAINING
managedAsgTag: MANAGED_ASG_TAG
eventPolicies: EVENT_POLICIES
scheduleMaintenance: SCHEDULE_MAINTENANCE
loadBalancerWaitSeconds: LOAD_BALANCER_WAIT_SECONDS
overrideBudgetsBeforeDeadlineSeconds: OVERRIDE_BUDGETS_BEFORE_DEADLINE_SECONDS
forceDeleteBeforeDeadlineSeconds: FORCE_DELETE_BEFORE_DEADLINE_SECONDS
{{- end -}}

{{/*
The section of the termination handler in the file of `fairlead cluster` or `fairlead node`: the same values, by the names of its flags,
which are those of the variables.
*/}}
{{- define "fairlead.terminationSection" -}}
{{- $handler := .Values.nodeTerminationHandler -}}
{{- $known := include "fairlead.terminationOptions" . | fromYaml -}}
{{- $ofProcess := list "dryRun" "kubeApiQps" "kubeApiBurst" "webhookProxy" "instanceMetadataURL" "awsEndpoint" "jsonLogging" "logLevel" -}}
{{- $section := dict -}}
{{- if $handler.queueURL -}}
{{- $_ := set $section "queue-url" $handler.queueURL -}}
{{- with $handler.awsRegion }}{{ $_ := set $section "aws-region" . }}{{ end -}}
{{- else -}}
{{- $_ := set $section "enable-asg-lifecycle-draining" true -}}
{{- if $handler.webhookTemplateConfigMapName }}{{ $_ := set $section "webhook-template-file" (printf "/config/%s" $handler.webhookTemplateConfigMapKey) }}{{ end -}}
{{- end -}}
{{- range $option, $value := $handler.options -}}
{{- $variable := index $known $option -}}
{{- if not $variable -}}
{{- fail (printf "nodeTerminationHandler.options.%s is not known; there are: %s" $option (keys $known | sortAlpha | join ", ")) -}}
{{- end -}}
{{- if has $option $ofProcess -}}
{{- fail (printf "nodeTerminationHandler.options.%s: with mode cluster this belongs to the process, not to one program in it" $option) -}}
{{- end -}}
{{- if and (kindIs "map" $value) (ne $option "eventPolicies") }}{{ $value = toJson $value }}{{ end -}}
{{- $_ := set $section ($variable | lower | replace "_" "-") $value -}}
{{- end -}}
{{- $section | toYaml -}}
{{- end -}}

{{/* Not empty when `fairlead cluster` reads the queue. */}}
{{- define "fairlead.queueInCluster" -}}
{{- $handler := .Values.nodeTerminationHandler -}}
{{- if and $handler.enabled $handler.queueURL (eq .Values.mode "cluster") }}yes{{ end -}}
{{- end -}}

{{/* An option as the text of its environment variable: policies as kind=policy, other maps as JSON. */}}
{{- define "fairlead.terminationValue" -}}
{{- if eq .option "eventPolicies" | and (kindIs "map" .value) -}}
{{- $pairs := list -}}
{{- range $kind, $policy := .value }}{{ $pairs = append $pairs (printf "%s=%s" $kind $policy) }}{{ end -}}
{{- join "," $pairs -}}
{{- else if kindIs "map" .value -}}
{{- toJson .value -}}
{{- else -}}
{{- .value -}}
{{- end -}}
{{- end -}}
