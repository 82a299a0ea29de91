/** Roles that target groups of other accounts are reached as. */
import type { Cloud } from "../../aws/cloud.ts";
import type { ProcessContext } from "../../process/program.ts";
import type { Options } from "./flags.ts";

/** By which the owner of a role knows who acts: AWS takes 64 letters of these kinds. */
export function sessionNameOf(cluster: string): string {
  return `AWS-LBC-${cluster.replace(/[^A-Za-z0-9=,.@_-]/g, "")}`.slice(0, 64);
}

export function cloudAs(
  { cloud, clouds }: Pick<ProcessContext, "cloud" | "clouds">,
  options: Options,
  role: { readonly arn: string; readonly externalId?: string },
): Cloud {
  return clouds.in(cloud.region, { ...role, sessionName: sessionNameOf(options["cluster-name"]) });
}
