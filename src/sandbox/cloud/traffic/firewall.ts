/** Security groups, as far as a packet from outside meets them. */
import type { Account } from "../account.ts";
import { isIn } from "./conditions.ts";

/** Whether one of the groups lets a client reach a port. Groups that a rule names as its source stand for nobody outside the VPC. */
export function letsIn(account: Account, groupIds: readonly string[], port: number, sourceIp: string): boolean {
  return account.ec2.rules.values().some((rule) => {
    if (rule.egress || !groupIds.includes(rule.groupId)) return false;
    const open = rule.protocol === "-1" || (rule.protocol === "tcp" && (rule.fromPort ?? 0) <= port && port <= (rule.toPort ?? 65_535));
    return open && "cidr" in rule.peer && isIn(rule.peer.cidr, sourceIp);
  });
}
