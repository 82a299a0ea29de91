/** What the controllers may do to AWS, and what somebody is told who is not the controllers. */
import { type Finding, ok, problem, some, warning } from "./finding.ts";
import type { PermissionAnswer, Permissions, Picture } from "./picture.ts";
import { valueIn } from "./picture.ts";
import { isMendedByPolicy, type Refusal } from "./refusal.ts";
import { policyRemedy, principalOf, principalText, type Subject } from "./subject.ts";

export function checkPermissions(picture: Picture): readonly Finding[] {
  const asked = (valueIn(picture.permissions) ?? []).filter(({ answers }) => answers.length > 0);
  return asked.flatMap((each) => (each.subject.kind === "person" ? ofPerson(each, picture) : ofControllers(each)));
}

/** What somebody may do says nothing of the controllers. It is worth knowing all the same: the doctor looks with it. */
function ofPerson({ subject, answers }: Permissions, { namespace }: Picture): readonly Finding[] {
  const denied = actionsIn(answers.filter(({ verdict }) => verdict === "denied"));
  const lacking = denied.length === 0 ? "" : `; you may not call ${some(denied)}`;
  return [
    warning(
      "permissions",
      `checked those of ${principalText(subject.arn)}: that is you, not the controllers${lacking}`,
      `fairlead doctor --role-arn=ROLE   # the controllers' role; or in their pod: kubectl -n ${namespace} exec POD -- fairlead doctor`,
    ),
  ];
}

function ofControllers({ subject, answers, objection }: Permissions): readonly Finding[] {
  const who = principalText(subject.arn);
  const denied = answers.filter(({ verdict }) => verdict === "denied");
  if (denied.length > 0) return [...Map.groupBy(denied, kindOf).values()].map((alike) => deniedFinding(alike, subject));
  const all = actionsIn(answers);
  const open = actionsIn(answers.filter(({ verdict }) => verdict === "unknown"));
  if (open.length === 0) return [ok("permissions", `all ${all.length} actions are allowed to ${who}`)];
  if (subject.kind === "role") {
    const why = objection ?? "the policy simulator gives no answer";
    return [warning("permissions", `those of ${who} cannot be checked: ${why}`, policyRemedyOfCaller)];
  }
  const rest = "the others can be checked where iam:SimulatePrincipalPolicy is allowed (deploy/iam/doctor.json)";
  return [ok("permissions", `${all.length - open.length} of ${all.length} actions are allowed to ${who}; ${rest}`)];
}

const policyRemedyOfCaller = "# check the ARN with its path, and allow yourself iam:SimulatePrincipalPolicy (deploy/iam/doctor.json)";

/** Actions with the same remedy are told in one line. */
function kindOf({ feature, optional = "", refusal }: PermissionAnswer): string {
  return [feature, optional, refusal?.explicit, refusal?.by].join("/");
}

function deniedFinding(alike: readonly PermissionAnswer[], subject: Subject): Finding {
  const { feature, optional, refusal } = alike[0]!;
  const actions = actionsIn(alike);
  const verb = actions.length === 1 ? "is" : "are";
  const how = refusal?.explicit ? `${verb} denied by ${/^[aeiou]/.test(refusal.by) ? "an" : "a"} ${refusal.by}` : `${verb} not allowed`;
  const what = `${some(actions)} ${how} to ${principalText(subject.arn)} (${feature})${optional === undefined ? "" : `: ${optional}`}`;
  const remedy =
    refusal === undefined || isMendedByPolicy(refusal) ? policyRemedy(subject.arn, feature) : denyRemedy(refusal, subject, actions);
  return optional === undefined ? problem("permissions", what, remedy) : warning("permissions", what, remedy);
}

function denyRemedy({ explicit, by }: Refusal, { arn }: Subject, actions: readonly string[]): string {
  const where =
    by === "service control policy" ? "ask the administrators of the organisation" : `look at the ${by} of ${principalText(arn)}`;
  const why = explicit ? "another permission does not help" : "a policy of its own does not help";
  const principal = principalOf(arn);
  if (principal === undefined) return `# ${why}: ${where}`;
  return `aws iam simulate-principal-policy --policy-source-arn ${principal} --action-names ${actions.join(" ")}   # ${why}: ${where}`;
}

function actionsIn(answers: readonly PermissionAnswer[]): readonly string[] {
  return [...new Set(answers.map(({ action }) => action))];
}
