/** One page about the load balancer of an Ingress: who asks for what, why it is so, what stands, what differs, and what to do next. */

import type { Ask } from "../../aws/ask.ts";
import { conditionsText } from "../application/conditions.ts";
import { type Certificate, fits } from "../certificate-choice.ts";
import { section } from "../explain-sections.ts";
import type { BackendHealth } from "../kind.ts";
import { type ApplicationListener, wantedGroups } from "../model.ts";
import type { Action } from "../routing.ts";
import { hostsOf } from "./certificates.ts";
import type { SurveyContext } from "./context.ts";
import { type GroupPreview, groupTitle } from "./preview.ts";
import type { GroupSurvey } from "./survey.ts";
import { type IngressView, keyOf } from "./view.ts";

export interface Explained {
  readonly preview: GroupPreview;
  readonly ingress: IngressView;
  /** The published host names. */
  readonly published: readonly string[];
  /** Texts of the Warning Events that are still kept. */
  readonly events: readonly string[];
  readonly certificates: readonly Certificate[];
}

export async function explainIngress(told: Explained, { inventory }: Pick<SurveyContext, "inventory">, ask: Ask): Promise<string> {
  const { preview, ingress, published, events } = told;
  const { survey } = preview;
  const found = survey?.seen.found;
  const health = survey && found ? await survey.seen.kind.health(found, survey.seen.seen, inventory, ask) : [];
  return [
    `Ingress ${keyOf(ingress)}`,
    ...section("Its group", members(preview)),
    ...section("What is asked for", survey ? wanted(survey) : ["nothing: everything goes"]),
    ...section("Rules", survey ? rules(survey) : []),
    ...section("Certificates", survey ? certificates(told, survey) : []),
    ...section("What exists", [
      found
        ? `application load balancer ${found.name}, ${found.hostname}${found.state === undefined ? "" : `, ${found.state}`}`
        : "no load balancer",
      published.length > 0 ? `published address ${published.join(", ")}` : "no address is published",
    ]),
    ...section("What is wrong", wrong(preview)),
    ...section("What would be done", preview.steps.length === 0 ? ["nothing"] : preview.steps.map(({ what, why }) => `${what}  (${why})`)),
    ...section("Subnets", survey ? subnets(survey) : []),
    ...section("Security groups", survey ? groups(survey) : []),
    ...section("Targets", targets(health)),
    ...section("Warnings", events),
    ...section("What to do next", [nextStep(preview, ingress, health)]),
    "",
  ].join("\n");
}

function members(preview: GroupPreview): string[] {
  const { group, faults } = preview;
  return [
    `${groupTitle(group)}, in the order of its rules:`,
    ...group.members.map(({ ingress, params }) => {
      const key = keyOf(ingress);
      const state = faults.has(key) ? "keeps what it had: it cannot be understood" : "served";
      return `${key}${params ? `, with IngressClassParams ${params.name}` : ""}: ${state}`;
    }),
    ...group.leaving.map((ingress) => `${keyOf(ingress)}: leaving`),
  ];
}

function wanted({ desire: { model } }: GroupSurvey): string[] {
  const { guards = {} } = model;
  return [
    `application load balancer ${model.name}, ${model.internal ? "internal" : "internet-facing"}, ${model.addressType}`,
    ...model.listeners.map((listener) => `listener ${listener.protocol}:${listener.port}: ${listener.why}`),
    ...(guards.webAcl ? [`web ACL ${guards.webAcl}`] : []),
    ...(guards.classicWebAcl ? [`web ACL ${guards.classicWebAcl} of WAF Classic`] : []),
    ...(guards.shield ? ["protected by Shield Advanced"] : []),
  ];
}

function rules({ desire: { model, bindings } }: GroupSurvey): string[] {
  const serviceOf = (group: string) => {
    const binding = bindings.find(({ targetGroup }) => targetGroup === group);
    return binding ? `Service ${binding.namespace}/${binding.spec.serviceRef.name}:${binding.spec.serviceRef.port}` : group;
  };
  const answers = (actions: readonly Action[]) => actions.map((action) => answerText(action, serviceOf)).join(", then ");
  return model.listeners.flatMap((listener: ApplicationListener) => [
    ...listener.rules.map(({ priority, conditions, actions, why, keeps }) =>
      keeps === undefined
        ? `${listener.protocol}:${listener.port} ${priority}: ${conditionsText(conditions)} → ${answers(actions)}  (${why})`
        : `${listener.protocol}:${listener.port} ${priority}: stays as it is  (${why})`,
    ),
    `${listener.protocol}:${listener.port} else: ${answers(listener.defaultActions)}`,
  ]);
}

function answerText(action: Action, serviceOf: (group: string) => string): string {
  if (action.kind === "forward") {
    const shares = action.to.map(({ group, arn, weight }) => {
      const where = group === undefined ? (arn ?? "") : serviceOf(group);
      return action.to.length > 1 ? `${where} weight ${weight ?? 1}` : where;
    });
    return shares.join(" and ");
  }
  if (action.kind === "redirect") {
    const { protocol = "#{protocol}", host = "#{host}", port = "#{port}", path = "/#{path}", status } = action;
    return `redirect to ${protocol}://${host}:${port}${path} ${status}`;
  }
  if (action.kind === "fixed-response") return `${action.status}${action.body ? ` ${JSON.stringify(action.body)}` : ""}`;
  if (action.kind === "jwt-validation") return `a token of ${action.issuer}`;
  return action.kind === "authenticate-cognito" ? "a log-in with Cognito" : `a log-in with ${action.issuer}`;
}

/** Which certificate serves which host, and how it was found. */
function certificates({ ingress, certificates: issued }: Explained, { desire: { model } }: GroupSurvey): string[] {
  return model.listeners.flatMap(({ protocol, port, certificates: attached }) =>
    attached.map((arn, i) => {
      const names = issued.find((each) => each.arn === arn)?.domains ?? [];
      const served = hostsOf(ingress).flatMap((host) => {
        const name = names.find((domain) => fits(domain, host));
        return name === undefined ? [] : [`${host}${name === host ? "" : ` by ${name}`}`];
      });
      const role = i === 0 ? "the default, as the first of the group" : "for its host names";
      return `${protocol}:${port} ${arn}: ${role}${served.length > 0 ? `; fits ${served.join(", ")}` : ""}`;
    }),
  );
}

function wrong({ problems, faults, warnings }: GroupPreview): string[] {
  const of = (told: ReadonlyMap<string, readonly string[]>) => [...told].flatMap(([key, texts]) => texts.map((text) => `${key}: ${text}`));
  return [...problems, ...of(faults), ...of(warnings)];
}

function subnets({ desire }: GroupSurvey): string[] {
  return desire.subnets.verdicts.map(({ subnet, taken, why }) => `${taken ? "taken  " : "refused"} ${subnet.id} ${subnet.zone}: ${why}`);
}

function groups({ desire, seen }: GroupSurvey): string[] {
  return [
    ...wantedGroups(desire.model).map((entry) =>
      entry.kind === "given"
        ? `wanted on the load balancer: ${entry.id}, given`
        : `wanted on the load balancer: ${entry.group.name}, managed`,
    ),
    ...(seen.found?.securityGroups ?? []).map((id) => `on the load balancer: ${id}`),
  ];
}

function targets(health: readonly BackendHealth[]): string[] {
  return health.flatMap(({ where, targets: all }) =>
    all.length === 0 ? [`${where}: none`] : all.map(({ id, state, why }) => `${where}: ${id} ${state}${why ? `: ${why}` : ""}`),
  );
}

function nextStep({ problems, faults, steps }: GroupPreview, ingress: IngressView, health: readonly BackendHealth[]): string {
  if (faults.has(keyOf(ingress))) return "Fix what is wrong with this Ingress: until then it keeps what it had, and the others go on.";
  if (problems.length > 0) return "Fix what is wrong: until then the load balancer stays as it is.";
  if (steps.length > 0) return "Wait: the controller takes these steps by itself. If it does not, look at its log and at the Events.";
  const unserved = health.filter(({ targets: all }) => !all.some(({ healthy }) => healthy));
  if (unserved.length > 0)
    return `Look at the pods behind ${unserved.map(({ where }) => where).join(", ")}: none of their targets is healthy.`;
  return "Nothing: it is as it should be.";
}
