/** Whose permissions the doctor looks at: the controllers' role, if it can tell which that is. */
import type { Caller } from "./picture.ts";

/** A principal of AWS, and what it is to the controllers. */
export interface Subject {
  readonly arn: string;
  /** `caller`: whoever asks is who the controllers are. `role`: theirs, asked for from outside. `person`: not the controllers. */
  readonly kind: "caller" | "role" | "person";
}

/** What tells who the controllers are. */
export interface SubjectClues {
  readonly caller: Caller;
  /** `--role-arn`, or the role that the service account is annotated with. */
  readonly roleArn: string | undefined;
  /** Whether this runs where the controllers do, or acts as the role that they are told to act as. */
  readonly asControllers: boolean;
  /** The instances of Nodes. */
  readonly instanceIds: ReadonlySet<string>;
}

/** The principal to ask about. */
export function subjectOf({ caller, roleArn, asControllers, instanceIds }: SubjectClues): Subject {
  const session = sessionIn(caller.arn);
  if (roleArn !== undefined && !(session && isSessionOf(session, roleArn))) return { arn: roleArn, kind: "role" };
  // The session of an instance's own role is named after the instance.
  const isNode = session !== undefined && instanceIds.has(session.name);
  return { arn: caller.arn, kind: roleArn !== undefined || asControllers || isNode ? "caller" : "person" };
}

interface Session {
  readonly partition: string;
  readonly account: string;
  readonly role: string;
  readonly name: string;
}

function sessionIn(arn: string): Session | undefined {
  const [, partition = "", account = "", role = "", name = ""] = /^arn:([\w-]+):sts::(\d+):assumed-role\/([^/]+)\/(.+)$/.exec(arn) ?? [];
  return role === "" ? undefined : { partition, account, role, name };
}

/** A session does not tell the path of its role. */
function isSessionOf({ partition, account, role }: Session, roleArn: string): boolean {
  return roleArn.startsWith(`arn:${partition}:iam::${account}:role/`) && roleArn.split("/").at(-1) === role;
}

/** The principal whose policies count for a caller: the role behind a session. Undefined for root and federated users. */
export function principalOf(callerArn: string): string | undefined {
  const session = sessionIn(callerArn);
  if (session !== undefined) return `arn:${session.partition}:iam::${session.account}:role/${session.role}`;
  return /^arn:[\w-]+:iam::\d+:(user|role)\//.test(callerArn) ? callerArn : undefined;
}

/** How people say it: `role shop-node`, `user ann`. */
export function principalText(arn: string): string {
  const principal = principalOf(arn);
  if (principal === undefined) return arn;
  const [kind = ""] = principal.split(":").at(-1)!.split("/");
  return `${kind} ${principal.split("/").at(-1)}`;
}

/** The command that gives a principal a policy of its own. */
export function policyRemedy(arn: string, feature: string): string {
  const principal = principalOf(arn);
  const policy = `--policy-name fairlead-${feature} --policy-document file://deploy/iam/${feature}.json`;
  if (principal === undefined)
    return `# ${arn} has no policies of its own: run the controllers under a role with deploy/iam/${feature}.json`;
  const [kind, name] = principalText(arn).split(" ");
  return `aws iam put-${kind}-policy --${kind}-name ${name} ${policy}`;
}
