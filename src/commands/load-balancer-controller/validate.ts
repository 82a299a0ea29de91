/** Command lines that cannot work. */
import type { Options } from "./flags.ts";

/** Mistakes in the options that no flag by itself shows; each names the flag. */
export function optionProblems(options: Options): readonly string[] {
  const least = (name: "targetgroupbinding-max-concurrent-reconciles", min: number) =>
    options[name] < min ? [`--${name}=${options[name]}: must be at least ${min}`] : [];
  return [
    ...(options["cluster-name"] === "" ? ["kubernetes cluster name must be specified: set --cluster-name"] : []),
    ...(Object.keys(options["aws-vpc-tags"]).length > 0 && options["aws-vpc-id"] === ""
      ? ["--aws-vpc-tags is not supported: set --aws-vpc-id"]
      : []),
    ...least("targetgroupbinding-max-concurrent-reconciles", 1),
  ];
}
