/** The definition of IngressClassParams: the reference's, with what it leaves to a webhook said as rules of the schema. */
type Schema = Readonly<Record<string, unknown>>;

const text = (description: string, more: Schema = {}): Schema => ({ type: "string", description, ...more });
const texts = (description: string, more: Schema = {}): Schema => ({ type: "array", description, items: { type: "string" }, ...more });
const object = (description: string, properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: "object",
  description,
  properties,
  ...more,
});
const list = (description: string, items: Schema): Schema => ({ type: "array", description, items });

const pair = object("A key and its value.", { key: text("The key."), value: text("The value.") }, { required: ["key", "value"] });

const namespaceSelector = object("Namespaces whose Ingresses may use the class. Absent: all.", {
  matchLabels: { type: "object", description: "Labels with these values.", additionalProperties: { type: "string" } },
  matchExpressions: list(
    "Requirements, all of which must hold.",
    object(
      "A requirement.",
      { key: text("The label."), operator: text("In, NotIn, Exists or DoesNotExist."), values: texts("What In and NotIn compare with.") },
      { required: ["key", "operator"] },
    ),
  ),
});

const subnets = object(
  "The subnets to use, by ids or by tags.",
  {
    ids: texts("Ids.", { minItems: 1, items: { type: "string", pattern: "subnet-[0-9a-f]+" } }),
    tags: {
      type: "object",
      description: "Tags, each with the values that it may have.",
      minProperties: 1,
      additionalProperties: { type: "array", items: { type: "string" } },
    },
  },
  {
    "x-kubernetes-validations": [
      { rule: "has(self.ids) || has(self.tags)", message: "must have either `ids` or `tags`" },
      { rule: "!(has(self.ids) && has(self.tags))", message: "may not have both `ids` and `tags` set" },
    ],
  },
);

const spec: Record<string, Schema> = {
  loadBalancerName: text("The name of a new load balancer."),
  certificateArn: texts("ARNs of certificates of HTTPS listeners."),
  namespaceSelector,
  group: object("The group that all Ingresses of the class are in.", { name: text("Its name.") }, { required: ["name"] }),
  scheme: text("Whether the load balancer has public addresses.", { enum: ["internal", "internet-facing"] }),
  inboundCIDRs: texts("Who may reach the listeners."),
  sslPolicy: text("The AWS security policy of HTTPS listeners."),
  sslRedirectPort: text("The port of the HTTPS listener to which all HTTP listeners redirect."),
  subnets,
  ipAddressType: text("The families of its addresses.", { enum: ["ipv4", "dualstack", "dualstack-without-public-ipv4"] }),
  tags: list("Tags on everything that is created.", pair),
  targetType: text("Whether nodes or pods are registered.", { enum: ["instance", "ip"] }),
  loadBalancerAttributes: list("Attributes of the load balancer.", pair),
  listeners: list(
    "Attributes of listeners; makes none.",
    object("A listener.", {
      protocol: text("HTTP or HTTPS."),
      port: { type: "integer", format: "int32", description: "Its port." },
      listenerAttributes: list("Its attributes.", pair),
    }),
  ),
  minimumLoadBalancerCapacity: object(
    "Capacity that is reserved.",
    { capacityUnits: { type: "integer", format: "int32", description: "Units; 0 cancels the reservation." } },
    { required: ["capacityUnits"] },
  ),
  ipamConfiguration: object("Where its public addresses come from.", { ipv4IPAMPoolId: text("The id of an IPAM pool.") }),
  prefixListsIDs: texts("Who may reach the listeners, by prefix list."),
  PrefixListsIDs: texts("The same, in its old spelling."),
  wafv2AclArn: text("The ARN of the web ACL of WAF in front."),
  wafv2AclName: text("The same by its name."),
};

const column = (name: string, jsonPath: string, description: string, more: Schema = {}): Schema => ({
  name,
  type: "string",
  description,
  jsonPath,
  ...more,
});

export const ingressClassParamsDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "ingressclassparams.elbv2.k8s.aws", labels: { "app.kubernetes.io/part-of": "fairlead" } },
  spec: {
    group: "elbv2.k8s.aws",
    scope: "Cluster",
    names: { kind: "IngressClassParams", listKind: "IngressClassParamsList", plural: "ingressclassparams", singular: "ingressclassparam" },
    versions: [
      {
        name: "v1beta1",
        served: true,
        storage: true,
        additionalPrinterColumns: [
          column("GROUP-NAME", ".spec.group.name", "The Ingress Group name"),
          column("SCHEME", ".spec.scheme", "The AWS Load Balancer scheme"),
          column("IP-ADDRESS-TYPE", ".spec.ipAddressType", "The AWS Load Balancer ipAddressType"),
          column("AGE", ".metadata.creationTimestamp", "Age", { type: "date" }),
        ],
        schema: {
          openAPIV3Schema: object("What all Ingresses of a class have in common.", {
            apiVersion: { type: "string" },
            kind: { type: "string" },
            metadata: { type: "object" },
            spec: object("Settings that take precedence over the annotations of its Ingresses.", spec, {
              "x-kubernetes-validations": [
                {
                  rule: "!(has(self.prefixListsIDs) && has(self.PrefixListsIDs))",
                  message: "cannot specify both prefixListsIDs and PrefixListsIDs",
                },
              ],
            }),
          }),
        },
      },
    ],
  },
};
