/** Who else has the target group of a binding. */
import type { Bindings, SeenBinding } from "./binding.ts";
import type { OtherBinding } from "./validate.ts";

/** All bindings of a group but this one. One that does not exist yet comes after all others. */
export function otherBindings(bindings: Pick<Bindings, "by">, arn: string, uid: string): readonly OtherBinding[] {
  const all = bindings.by("group", arn);
  const self = all.find(({ metadata }) => metadata.uid === uid);
  const age = ({ metadata }: SeenBinding) => `${metadata.creationTimestamp} ${metadata.uid}`;
  return all
    .filter((other) => other !== self)
    .map((other) => ({
      namespace: other.metadata.namespace,
      name: other.metadata.name,
      uid: other.metadata.uid,
      createdBefore: self === undefined || age(other) < age(self),
      multiCluster: other.spec.multiClusterTargetGroup ?? false,
    }));
}
