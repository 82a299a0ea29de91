/** Certificates in the account of a world on virtual time. */
import { ACMClient, RequestCertificateCommand } from "@aws-sdk/client-acm";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import type { BindingWorld } from "./binding-world.ts";

/** One for each list of names, issued at once; their ARNs. */
export async function issue(world: Pick<BindingWorld, "aws" | "world">, lists: readonly (readonly string[])[]): Promise<readonly string[]> {
  const client = new ACMClient(sdkConfig(world.aws));
  const arns: string[] = [];
  for (const [DomainName = "", ...more] of lists) {
    const input = { DomainName, SubjectAlternativeNames: [DomainName, ...more], ValidationMethod: "DNS" as const };
    arns.push((await client.send(new RequestCertificateCommand(input))).CertificateArn ?? "");
  }
  await world.world.advance(300_000);
  return arns;
}
