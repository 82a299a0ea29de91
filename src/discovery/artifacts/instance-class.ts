/** The definition of AWSInstanceClass, as the platform has it. */

const schema = {
  openAPIV3Schema: {
    type: "object",
    description: "What the machines of a NodeGroup are like.",
    required: ["spec"],
    properties: {
      spec: {
        type: "object",
        required: ["instanceType"],
        properties: {
          instanceType: { type: "string", description: "Type of the instances. Every zone that is used must offer it." },
          ami: { type: "string", description: "Image; that of the control-plane nodes when left out." },
          spot: { type: "boolean", description: "Ask for spot capacity." },
          diskType: { type: "string", description: "Type of the root volume; gp2 when left out." },
          diskSizeGb: { type: "integer", description: "Size of the root volume in GiB; 20 when left out." },
          iops: { type: "string", description: "IOPS of a root volume of type io1." },
          additionalTags: {
            type: "object",
            description: "Further tags of instances and volumes.",
            additionalProperties: { type: "string" },
            "x-kubernetes-preserve-unknown-fields": true,
          },
          additionalSecurityGroups: { type: "array", description: "Ids of further security groups.", items: { type: "string" } },
          capacity: {
            type: "object",
            description: "For a type that the catalogue of instance types lacks: what a NodeGroup that grows from nothing expects of it.",
            required: ["cpu", "memory"],
            properties: {
              cpu: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }], pattern: "^[0-9]+m?$" },
              memory: {
                "x-kubernetes-int-or-string": true,
                anyOf: [{ type: "integer" }, { type: "string" }],
                pattern: "^[0-9]+(\\.[0-9]+)?(E|P|T|G|M|k|Ei|Pi|Ti|Gi|Mi|Ki)?$",
              },
            },
          },
        },
      },
      status: {
        type: "object",
        properties: {
          nodeGroupConsumers: { type: "array", description: "NodeGroups that use the class.", items: { type: "string" } },
        },
      },
    },
  },
};

export const instanceClassDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "awsinstanceclasses.deckhouse.io", labels: { heritage: "deckhouse", module: "cloud-provider-aws" } },
  spec: {
    group: "deckhouse.io",
    scope: "Cluster",
    names: {
      plural: "awsinstanceclasses",
      singular: "awsinstanceclass",
      kind: "AWSInstanceClass",
      listKind: "AWSInstanceClassList",
      categories: ["cloudinstanceclasses"],
    },
    versions: [
      { name: "v1alpha1", served: true, storage: false, schema },
      {
        name: "v1",
        served: true,
        storage: true,
        schema,
        additionalPrinterColumns: [
          { name: "Node Groups", type: "string", jsonPath: ".status.nodeGroupConsumers" },
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        ],
      },
    ],
  },
};
