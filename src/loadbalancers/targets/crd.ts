/**
 * The definition of TargetGroupBinding: the reference's, with what it leaves to a webhook said as rules of the schema, so
 * that a mistake is refused when it is made even where no webhook runs. Written to `deploy/` by `npm run docs`.
 */
import { addressTypes, groupProtocols, targetTypes } from "./binding.ts";

type Schema = Readonly<Record<string, unknown>>;

const text = (description: string, more: Schema = {}): Schema => ({ type: "string", description, ...more });
const object = (description: string, properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: "object",
  description,
  properties,
  ...more,
});
const list = (description: string, items: Schema): Schema => ({ type: "array", description, items });
const intOrString = (description: string): Schema => ({
  anyOf: [{ type: "integer" }, { type: "string" }],
  description,
  "x-kubernetes-int-or-string": true,
});

/** Once it is said it stays as it is: targets would be left behind in what it was before. */
const immutable = (field: string): Schema => ({
  rule: `!has(oldSelf.${field}) || oldSelf.${field} == '' || (has(self.${field}) && self.${field} == oldSelf.${field})`,
  message: `TargetGroupBinding update may not change these immutable fields: spec.${field}`,
});

const nodeSelector = object("Nodes that may be targets, of those that may be any. For target type instance only.", {
  matchLabels: { type: "object", description: "Labels with these values.", additionalProperties: { type: "string" } },
  matchExpressions: list(
    "Requirements, all of which must hold.",
    object(
      "A requirement.",
      {
        key: text("The label."),
        operator: text("In, NotIn, Exists or DoesNotExist."),
        values: list("What In and NotIn compare with.", { type: "string" }),
      },
      { required: ["key", "operator"] },
    ),
  ),
});

const networking = object("Traffic to allow from the load balancer to the targets. Absent: security groups are left alone.", {
  ingress: list(
    "Rules.",
    object(
      "What to allow, and from where.",
      {
        from: list(
          "Peers; none: nothing is allowed.",
          object(
            "One of ipBlock and securityGroup.",
            {
              ipBlock: object("Addresses.", { cidr: text("A block of IPv4 or IPv6 addresses.") }, { required: ["cidr"] }),
              securityGroup: object("Whatever has this group.", { groupID: text("The id of the group.") }, { required: ["groupID"] }),
            },
            {
              "x-kubernetes-validations": [
                { rule: "has(self.ipBlock) != has(self.securityGroup)", message: "either ipBlock or securityGroup should be specified" },
              ],
            },
          ),
        ),
        ports: list(
          "Ports; none: nothing is allowed.",
          object("A port.", {
            protocol: text("Default: TCP.", { enum: ["TCP", "UDP"] }),
            port: intOrString("A number, or the name of a container's port. Absent: all."),
          }),
        ),
      },
      { required: ["from", "ports"] },
    ),
  ),
});

const base: Record<string, Schema> = {
  targetGroupARN: text("The target group. Absent: found by its name. Cannot be changed."),
  targetGroupName: text("The name of the target group, in this account and region; read only while the ARN is not known."),
  targetType: text("What is registered. Absent: as the target group has it. Cannot be changed.", { enum: targetTypes }),
  serviceRef: object(
    "The Service whose endpoints are registered.",
    { name: text("A Service of the same namespace."), port: intOrString("The number or the name of its port.") },
    { required: ["name", "port"] },
  ),
  networking,
  multiClusterTargetGroup: { type: "boolean", description: "Other bindings, of this or another cluster, fill the same target group." },
  iamRoleArnToAssume: text("The role that targets are registered as, in the account of the target group."),
  assumeRoleExternalId: text("The external id for that role."),
};

const full: Record<string, Schema> = {
  ...base,
  nodeSelector,
  ipAddressType: text("The family of addresses. Absent: as the target group has it. Cannot be changed.", { enum: addressTypes }),
  targetGroupProtocol: text("Absent: as the target group has it.", { enum: groupProtocols }),
  vpcID: text("The VPC of the target group. Absent: as the target group has it. Cannot be changed.", {
    pattern: "^(vpc-([0-9a-f]{8}|[0-9a-f]{17}|[0-9a-f]{32}))?$",
  }),
};

const specRules: readonly Schema[] = [
  {
    rule: "(has(self.targetGroupARN) && self.targetGroupARN != '') || (has(self.targetGroupName) && self.targetGroupName != '')",
    message: "must provide either TargetGroupARN or TargetGroupName",
  },
  ...["targetGroupARN", "targetType"].map(immutable),
];

const isInstance = "has(self.targetType) && self.targetType == 'instance'";

const fullRules: readonly Schema[] = [
  ...specRules,
  ...["ipAddressType", "vpcID"].map(immutable),
  {
    rule: "!(has(self.targetType) && self.targetType == 'ip' && has(self.nodeSelector))",
    message: "TargetGroupBinding cannot set NodeSelector when TargetType is ip",
  },
  {
    rule: `!(${isInstance} && has(self.iamRoleArnToAssume) && self.iamRoleArnToAssume != '')`,
    message: "Unable to use instance target type while using assume role",
  },
  {
    rule: `!(${isInstance} && has(self.targetGroupProtocol) && self.targetGroupProtocol in ['QUIC', 'TCP_QUIC'])`,
    message: "QUIC protocol is not supported for Instance target types.",
  },
];

const count = (description: string): Schema => ({ type: "integer", format: "int32", description });

const status = object("The observed state.", {
  observedGeneration: { type: "integer", format: "int64", description: "The generation that targets were last registered for." },
  targets: object("How many targets there are, as of the last check.", {
    wanted: count("Endpoints of the Service."),
    registered: count("Targets that are registered and not draining."),
    healthy: count("Endpoints that are registered and healthy."),
    draining: count("Targets that are draining."),
  }),
  conditions: {
    ...list(
      "Ready: whether all endpoints are registered. NetworkingReady: whether their security groups allow what is asked for.",
      object(
        "A condition.",
        {
          type: text("Ready or NetworkingReady."),
          status: text("Whether it holds.", { enum: ["True", "False", "Unknown"] }),
          reason: text("The reason, in one word."),
          message: text("The reason, in a sentence."),
          observedGeneration: { type: "integer", format: "int64", description: "The generation that it is about." },
          lastTransitionTime: text("Since when.", { format: "date-time" }),
        },
        { required: ["type", "status", "reason", "message", "lastTransitionTime"] },
      ),
    ),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  },
});

const column = (name: string, jsonPath: string, description: string, more: Schema = {}): Schema => ({
  name,
  type: "string",
  description,
  jsonPath,
  ...more,
});

const columns = [
  column("SERVICE-NAME", ".spec.serviceRef.name", "The Kubernetes Service's name"),
  column("SERVICE-PORT", ".spec.serviceRef.port", "The Kubernetes Service's port"),
  column("TARGET-TYPE", ".spec.targetType", "The AWS TargetGroup's TargetType"),
  column("ARN", ".spec.targetGroupARN", "The AWS TargetGroup's Amazon Resource Name", { priority: 1 }),
  column("NAME", ".spec.targetGroupName", "The AWS TargetGroup's Name", { priority: 2 }),
  column("AGE", ".metadata.creationTimestamp", "Age", { type: "date" }),
];

function version(name: string, storage: boolean, spec: Record<string, Schema>, rules: readonly Schema[], shownStatus: Schema): Schema {
  return {
    name,
    served: true,
    storage,
    additionalPrinterColumns: columns,
    subresources: { status: {} },
    schema: {
      openAPIV3Schema: object("A target group that is kept filled with the endpoints of a Service.", {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { type: "object" },
        spec: object("What is bound to what.", spec, { required: ["serviceRef"], "x-kubernetes-validations": rules }),
        status: shownStatus,
      }),
    },
  };
}

const oldStatus = object("The observed state.", { observedGeneration: { type: "integer", format: "int64" } });

export const targetGroupBindingDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "targetgroupbindings.elbv2.k8s.aws", labels: { "app.kubernetes.io/part-of": "fairlead" } },
  spec: {
    group: "elbv2.k8s.aws",
    scope: "Namespaced",
    names: {
      kind: "TargetGroupBinding",
      listKind: "TargetGroupBindingList",
      plural: "targetgroupbindings",
      singular: "targetgroupbinding",
    },
    versions: [version("v1alpha1", false, base, specRules, oldStatus), version("v1beta1", true, full, fullRules, status)],
  },
};
