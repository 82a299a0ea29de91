/** The definition of InstanceTypesCatalog, for clusters whose platform does not bring it. */

/** What Kubernetes reads as a quantity. */
const quantity = {
  anyOf: [{ type: "integer" }, { type: "string" }],
  pattern: "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$",
  "x-kubernetes-int-or-string": true,
};

export const catalogDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "instancetypescatalogs.deckhouse.io", labels: { heritage: "deckhouse", module: "node-manager" } },
  spec: {
    group: "deckhouse.io",
    scope: "Cluster",
    names: {
      plural: "instancetypescatalogs",
      singular: "instancetypescatalog",
      kind: "InstanceTypesCatalog",
      listKind: "InstanceTypesCatalogList",
    },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            description: "Instance types that a NodeGroup may grow from nothing with.",
            required: ["instanceTypes"],
            properties: {
              instanceTypes: {
                type: "array",
                items: {
                  type: "object",
                  required: ["cpu", "memory"],
                  properties: { name: { type: "string" }, cpu: quantity, memory: quantity, rootDisk: quantity },
                },
              },
            },
          },
        },
      },
    ],
  },
};
