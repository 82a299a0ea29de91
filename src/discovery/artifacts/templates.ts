/**
 * The templates that a node manager renders for each NodeGroup and zone, in its dialect: Go's text templates with sprig,
 * `toYaml`, and one partial for labels. Objects are built and then written, so that no tag can break the text.
 */

const machineClass = `{{- $provider := .Values.nodeManager.internal.cloudProvider.aws }}
{{- $uuid := .Values.global.discovery.clusterUUID }}
{{- $class := .nodeGroup.instanceClass }}
{{- $name := printf "%s-%s" .nodeGroup.name (printf "%v%v" $uuid .zoneName | sha256sum | trunc 8) }}
{{- $groups := concat ($provider.instances.additionalSecurityGroups | default list) ($class.additionalSecurityGroups | default list) | uniq }}
{{- $marks := dict (printf "kubernetes.io/cluster/%s" $uuid) "1" (printf "kubernetes.io/role/%s" $uuid) "1" }}
{{- $tags := mergeOverwrite $marks (deepCopy ($provider.tags | default dict)) (deepCopy ($class.additionalTags | default dict)) }}
{{- $disk := dict "volumeSize" ($class.diskSizeGb | default 20 | int) "volumeType" ($class.diskType | default "gp2") }}
{{- if $class.iops }}
{{- $_ := set $disk "iops" (int $class.iops) }}
{{- end }}
{{- $interface := dict "subnetID" (get $provider.internal.zoneToSubnetIdMap .zoneName | default nil) "associatePublicIPAddress" $provider.instances.associatePublicIPAddress "deleteOnTermination" true "securityGroupIDs" $groups }}
{{- $spec := dict "ami" ($class.ami | default $provider.instances.ami) "region" $provider.region "machineType" $class.instanceType "iam" (dict "name" $provider.instances.iamProfileName) "keyName" $provider.keyName "sourceDestCheck" false "networkInterfaces" (list $interface) "useMachineNameAsNodeName" true "tags" $tags "blockDevices" (list (dict "ebs" $disk)) "secretRef" (dict "namespace" "d8-cloud-instance-manager" "name" $name) }}
{{- if $class.spot }}
{{- $_ := set $spec "spotPrice" "" }}
{{- end }}
apiVersion: machine.sapcloud.io/v1alpha1
kind: AWSMachineClass
metadata:
  name: {{ $name }}
  namespace: d8-cloud-instance-manager
  {{- include "helm_lib_module_labels" (list . (dict "node-group" .nodeGroup.name)) | nindent 2 }}
spec:
  {{- toYaml $spec | nindent 2 }}
`;

const checksum = `{{- $class := .nodeGroup.instanceClass }}
{{- $hashed := dict "instanceType" (index $class "instanceType") }}
{{- range $key := list "ami" "spot" "diskType" "iops" "additionalSecurityGroups" "additionalTags" }}
{{- if hasKey $class $key }}
{{- $_ := set $hashed $key (index $class $key) }}
{{- end }}
{{- end }}
{{- if hasKey $class "diskSizeGb" }}
{{- if ne (int $class.diskSizeGb) 20 }}
{{- $_ := set $hashed "diskSizeGb" $class.diskSizeGb }}
{{- end }}
{{- end }}
{{- if .nodeGroup.manualRolloutID }}
{{- $_ := set $hashed "manualRolloutID" .nodeGroup.manualRolloutID }}
{{- end }}
{{- printf "%s\\n" (toYaml $hashed | trimSuffix "\\n") | sha256sum }}`;

const credentials = `{{- $provider := .Values.nodeManager.internal.cloudProvider.aws -}}
providerAccessKeyId: {{ $provider.providerAccessKeyId | b64enc | quote }}
providerSecretAccessKey: {{ $provider.providerSecretAccessKey | b64enc | quote }}
`;

/** By the names that readers know. */
export const machineTemplates = {
  "machine-class.yaml": machineClass,
  "machine-class.checksum": checksum,
  "config-for-machine-controller-manager.yaml": credentials,
};
