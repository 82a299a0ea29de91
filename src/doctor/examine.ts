/** All checks on one picture. */
import {
  checkClock,
  checkClusterId,
  checkCredentials,
  checkGroups,
  checkInstances,
  checkMetadata,
  checkPermissions,
  checkRouteTables,
  checkSubnets,
} from "./check-aws.ts";
import { checkAccess, checkKubelets, checkLease, checkProviderIds, checkServer } from "./check-cluster.ts";
import type { Finding } from "./finding.ts";
import type { Picture } from "./picture.ts";

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
  checkAccess,
  checkLease,
  checkKubelets,
  checkProviderIds,
];

/** What there is to say, in the order it is shown. Pure. */
export function examine(picture: Picture): readonly Finding[] {
  return checks.flatMap((check) => check(picture));
}
