import type { Account } from "../account.ts";
import { interfacesOf } from "../ec2/instance-answers.ts";
import { instanceTypeNamed } from "../ec2/instance-types.ts";
import type { Instance } from "../ec2/state.ts";

/** The instance identity document. */
export function identityDocument(account: Account, instance: Instance): string {
  const document = {
    accountId: account.id,
    architecture: instanceTypeNamed(instance.type)?.architecture ?? "x86_64",
    availabilityZone: instance.zone,
    billingProducts: null,
    devpayProductCodes: null,
    marketplaceProductCodes: null,
    imageId: instance.imageId,
    instanceId: instance.id,
    instanceType: instance.type,
    kernelId: null,
    pendingTime: new Date(instance.launched).toISOString().replace(/\.\d+Z$/, "Z"),
    privateIp: interfacesOf(account.ec2, instance)[0]?.privateAddresses[0] ?? null,
    ramdiskId: null,
    region: account.region,
    version: "2017-09-30",
  };
  return JSON.stringify(document, undefined, 2);
}
