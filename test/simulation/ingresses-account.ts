/** What an account says of Ingresses. */
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import { BalancerAccount } from "./balancer-account.ts";
import { type IngressWish, isServed } from "./ingresses-wish.ts";

export class IngressAccount extends BalancerAccount {
  constructor(cloud: Cloud) {
    super(cloud, ["ingress.k8s.aws"]);
  }

  /** Target groups of an Ingress whose targets are not those that its Services have. */
  wrongTargetsOf(wish: IngressWish, addresses: ReadonlyMap<string, string>, missing: ReadonlySet<string>): readonly string[] {
    if (!isServed(wish)) return [];
    return wish.services.flatMap((service) =>
      this.wrongTargets(`default/${wish.name}-${service}:80`, missing.has(service) ? "" : (addresses.get(service) ?? "")),
    );
  }
}
