/** All checks on one picture. */
import { checkBalancer } from "./balancer-questions.ts";
import { checkClock, checkCredentials, checkGroups, checkMetadata, checkRouteTables, checkSubnets } from "./check-aws.ts";
import { checkAccess, checkControllers, checkKubelets, checkLease, checkProviderIds, checkServer } from "./check-cluster.ts";
import { checkGateways } from "./check-gateways.ts";
import { checkHooks, checkManagedTag, checkQueue, checkRules } from "./check-interruptions.ts";
import { checkPermissions } from "./check-permissions.ts";
import { checkClusterId, checkInstances, clusterMeant } from "./check-tags.ts";
import { checkControlPlane } from "./control-plane.ts";
import { checkDiscovery } from "./discovery-questions.ts";
import type { Finding } from "./finding.ts";
import { checkIngress } from "./ingress-questions.ts";
import { type Picture, valueIn } from "./picture.ts";
import { checkVolumes } from "./volume-questions.ts";

const checks: readonly ((picture: Picture) => readonly Finding[])[] = [
  checkCredentials,
  checkClock,
  checkPermissions,
  checkClusterId,
  checkInstances,
  checkSubnets,
  checkGroups,
  checkRouteTables,
  checkMetadata,
  checkServer,
  checkControlPlane,
  checkAccess,
  checkLease,
  checkControllers,
  checkIngress,
  checkGateways,
  checkBalancer,
  checkKubelets,
  checkProviderIds,
  checkQueue,
  checkRules,
  checkHooks,
  checkManagedTag,
  checkVolumes,
  checkDiscovery,
];

/** What there is to say, in the order it is shown. Pure. */
export function examine(picture: Picture): readonly Finding[] {
  // Under a wrong id every tag would be found missing, and the advice to set it would be harmful.
  const misnamed = clusterMeant(picture) !== undefined;
  const rest: Picture = misnamed ? { ...picture, cluster: { known: false, why: "it is set to another", kind: "missing" } } : picture;
  const region = valueIn(picture.caller)?.region;
  return checks.flatMap((check) => check(check === checkClusterId ? picture : rest)).map((finding) => inRegion(finding, region));
}

/** The aws command would ask in the region that it is set to, which may be another, or one of another partition. */
function inRegion(finding: Finding, region: string | undefined): Finding {
  const { remedy } = finding;
  if (region === undefined || !remedy?.startsWith("aws ")) return finding;
  return { ...finding, remedy: `aws --region ${region} ${remedy.slice("aws ".length)}` };
}
