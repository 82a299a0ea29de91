/** What this version was tested with. A test holds it to what the tests obtain. */
export const testedWith = {
  Kubernetes: "1.36.3",
  etcd: "3.7.3",
  /** The minor of the AWS cloud provider whose flags, annotations and Events are matched. */
  "cloud-provider-aws": "1.36",
} as const;

/** The API servers it works with. */
export const worksWith = "Kubernetes 1.35 to 1.37";
