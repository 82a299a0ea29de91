/**
 * What an application load balancer does with a request: a function of its rules, its targets and the request. It waits for nothing
 * and touches nothing, so it serves behind a socket as well as on virtual time.
 */
import type { Action, RuleCondition, RuleTransform } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type Choice, type Choosing, choose } from "./choice.ts";
import { meets } from "./conditions.ts";
import { failure, fixedResponse, type Place, type Reply, redirect } from "./replies.ts";
import type { Request } from "./request.ts";
import { ruleReturnedTo, signIn } from "./sign-in.ts";
import { transformed } from "./transforms.ts";

/** A listener with its rules, and what there is to know about targets. */
export interface Routing extends Choosing {
  readonly place: Place;
  readonly region: string;
  /** In the order in which they are evaluated, the default rule last. */
  readonly rules: readonly RuleView[];
  /** Of the load balancer, defaults included. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Whether the security groups let this client in at all. */
  readonly admits: (sourceIp: string) => boolean;
}

/** A rule as routing sees it. */
export interface RuleView {
  readonly arn: string;
  /** `default`, or a number. */
  readonly priority: string;
  readonly conditions: readonly RuleCondition[];
  readonly actions: readonly Action[];
  readonly transforms: readonly RuleTransform[];
}

/** What becomes of a request, and by which rule. */
export type Decision =
  | { readonly kind: "dropped" }
  | { readonly kind: "answered"; readonly rule: string; readonly reply: Reply }
  | {
      readonly kind: "forwarded";
      readonly rule: string;
      readonly choice: Choice;
      /** As the target gets it. */
      readonly request: Request;
    };

/** Decides. */
export function route(routing: Routing, request: Request): Decision {
  if (!routing.admits(request.sourceIp)) return { kind: "dropped" };
  const returned = ruleReturnedTo(request);
  const rule = routing.rules.find(({ arn }) => arn === returned) ?? routing.rules.find(({ conditions }) => meets(request, conditions));
  if (rule === undefined) return { kind: "dropped" };
  const answered = (reply: Reply): Decision => ({ kind: "answered", rule: rule.priority, reply });
  let told: Readonly<Record<string, string>> = {};
  for (const action of rule.actions.slice(0, -1)) {
    const outcome = signIn(action, { rule: rule.arn, request, place: routing.place, region: routing.region, now: routing.now });
    if ("reply" in outcome) return answered(outcome.reply);
    told = { ...told, ...outcome.headers };
  }
  const action = rule.actions.at(-1);
  switch (action?.Type) {
    case "fixed-response":
      return answered(fixedResponse(action.FixedResponseConfig!));
    case "redirect":
      return answered(redirect(action.RedirectConfig!, request, routing.place));
    case "forward": {
      const choice = choose(action.ForwardConfig ?? {}, rule.arn, request, routing);
      if (choice === undefined) return answered(failure(503, "Service Temporarily Unavailable"));
      const rewritten = transformed(request, rule.transforms);
      if (rewritten === undefined) return answered(failure(500, "Internal Server Error"));
      return { kind: "forwarded", rule: rule.priority, choice, request: forwarded(rewritten, request, told, routing) };
    }
    default:
      return answered(failure(500, "Internal Server Error"));
  }
}

/** The headers that a load balancer adds: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/x-forwarded-headers.html */
function forwarded(request: Request, original: Request, told: Readonly<Record<string, string>>, { place, attributes }: Routing): Request {
  const headers: Record<string, readonly string[]> = {};
  const dropInvalid = attributes["routing.http.drop_invalid_header_fields.enabled"] === "true";
  for (const [name, values] of Object.entries(request.headers)) {
    // What targets are told of users comes from the load balancer alone.
    if (name.startsWith("x-amzn-oidc-") || (dropInvalid && !/^[-A-Za-z0-9]+$/.test(name))) continue;
    headers[name] = values;
  }
  const client = attributes["routing.http.xff_client_port.enabled"] === "true" ? withPort(original) : original.sourceIp;
  const mode = attributes["routing.http.xff_header_processing.mode"] ?? "append";
  if (mode === "append") headers["x-forwarded-for"] = [[...(headers["x-forwarded-for"] ?? []), client].join(", ")];
  if (mode === "remove") delete headers["x-forwarded-for"];
  headers["x-forwarded-proto"] = [place.protocol.toLowerCase()];
  headers["x-forwarded-port"] = [String(place.port)];
  for (const [name, value] of Object.entries(told)) headers[name] = [value];
  return { ...request, headers };
}

function withPort({ sourceIp, sourcePort }: Request): string {
  return sourceIp.includes(":") ? `[${sourceIp}]:${sourcePort}` : `${sourceIp}:${sourcePort}`;
}
