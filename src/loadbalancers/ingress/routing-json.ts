/** What annotations say in JSON about routing: actions, conditions, transforms, log-ins and tokens. */
import { Fault, type Given } from "../annotation-rows.ts";
import { boolean, type Decoder, integer, list, Mismatch, object, record, string } from "../json-values.ts";
import { json } from "../parsers.ts";
import type { Condition, FixedResponse, Match, Redirect, Transform, ValidateJwt } from "../routing.ts";

/** A port as it is written: a number, or a name. */
export type PortRef = number | string;

/** A share of a forward: a Service of the Ingress's namespace, or a target group by ARN or name. */
export type BackendShare = { readonly weight?: number } & (
  | { readonly service: string; readonly port: PortRef }
  | { readonly targetGroupArn: string }
  | { readonly targetGroupName: string }
);

export interface ForwardWish {
  readonly kind: "forward";
  readonly to: readonly BackendShare[];
  readonly stickiness?: { readonly enabled: boolean; readonly seconds?: number };
}

export type ActionWish = ForwardWish | Redirect | FixedResponse;

/** A number, or a text; a text that is a number counts as one. */
const portRef: Decoder<PortRef> = (value, path) => {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  if (typeof value === "string") return /^\d+$/.test(value) ? Number(value) : value;
  throw new Mismatch(`${path} takes a number or a name`);
};

const actionShape = object({
  type: string,
  targetGroupARN: string,
  targetGroupName: string,
  fixedResponseConfig: object({ contentType: string, messageBody: string, statusCode: string }),
  redirectConfig: object({ host: string, path: string, port: string, protocol: string, query: string, statusCode: string }),
  forwardConfig: object({
    targetGroups: list(
      object({ targetGroupARN: string, targetGroupName: string, serviceName: string, servicePort: portRef, weight: integer }),
    ),
    targetGroupStickinessConfig: object({ enabled: boolean, durationSeconds: integer }),
  }),
});

type ActionJson = ReturnType<typeof actionShape>;

export function action(given: string, about: Given): ActionWish | Fault {
  const parsed = json(actionShape)(given, about);
  if (parsed instanceof Fault) return parsed;
  const { type = "" } = parsed;
  const reader = Object.hasOwn(actionReaders, type) ? actionReaders[type as keyof typeof actionReaders] : undefined;
  return reader ? reader(parsed) : new Fault(`unknown action type: ${type}`);
}

const actionReaders = {
  "fixed-response": ({ fixedResponseConfig: config }: ActionJson): FixedResponse | Fault => {
    if (config === undefined) return new Fault("missing FixedResponseConfig");
    if (!config.statusCode) return new Fault("invalid FixedResponseConfig: statusCode is required");
    return { kind: "fixed-response", status: config.statusCode, ...given({ contentType: config.contentType, body: config.messageBody }) };
  },
  redirect: ({ redirectConfig: config }: ActionJson): Redirect | Fault => {
    if (config === undefined) return new Fault("missing RedirectConfig");
    const { statusCode, ...parts } = config;
    if (!statusCode) return new Fault("invalid RedirectConfig: statusCode is required");
    return { kind: "redirect", ...given(parts), status: statusCode };
  },
  forward: ({ forwardConfig: config, targetGroupARN, targetGroupName }: ActionJson): ForwardWish | Fault => {
    const named = targetGroupARN || targetGroupName;
    if (!config && !named) return new Fault("missing ForwardConfig or TargetGroupARN/TargetGroupName");
    if (config && named) return new Fault("either ForwardConfig or TargetGroupARN/TargetGroupName can be specified");
    if (!config)
      return { kind: "forward", to: [targetGroupARN ? { targetGroupArn: targetGroupARN } : { targetGroupName: targetGroupName! }] };
    const shares = (config.targetGroups ?? []).map(shareOf);
    const fault = shares.find((share) => share instanceof Fault);
    if (fault) return fault;
    const to = shares.filter((share): share is BackendShare => !(share instanceof Fault));
    if (to.length > 1 && to.some(({ weight }) => weight === undefined)) {
      return new Fault("invalid ForwardConfig: weight must be set when route to multiple target groups");
    }
    const { enabled = false, durationSeconds: seconds } = config.targetGroupStickinessConfig ?? {};
    const stickiness = config.targetGroupStickinessConfig && { enabled, ...given({ seconds }) };
    return { kind: "forward", to, ...(stickiness && { stickiness }) };
  },
} as const;

type ShareJson = NonNullable<NonNullable<ActionJson["forwardConfig"]>["targetGroups"]>[number];

function shareOf({ targetGroupARN, targetGroupName, serviceName, servicePort, weight }: ShareJson): BackendShare | Fault {
  const invalid = "invalid ForwardConfig: invalid TargetGroupTuple:";
  const named = targetGroupARN || targetGroupName;
  if (!serviceName && !named) return new Fault(`${invalid} missing serviceName or targetGroupARN/targetGroupName`);
  if (serviceName && named) return new Fault(`${invalid} either serviceName or targetGroupARN/targetGroupName can be specified`);
  const share = given({ weight });
  if (targetGroupARN) return { ...share, targetGroupArn: targetGroupARN };
  if (targetGroupName) return { ...share, targetGroupName };
  if (servicePort === undefined) return new Fault(`${invalid} missing servicePort`);
  return { ...share, service: serviceName!, port: servicePort };
}

const matched = { values: list(string), regexValues: list(string) };
const conditionShape = list(
  object({
    field: string,
    hostHeaderConfig: object(matched),
    pathPatternConfig: object(matched),
    httpHeaderConfig: object({ ...matched, httpHeaderName: string }),
    httpRequestMethodConfig: object({ values: list(string) }),
    queryStringConfig: object({ values: list(object({ key: string, value: string })) }),
    sourceIPConfig: object({ values: list(string) }),
  }),
);

type ConditionJson = ReturnType<typeof conditionShape>[number];

/** Fields that nobody knows are accepted and mean nothing. */
export function conditions(given: string, about: Given): readonly Condition[] | Fault {
  const parsed = json(conditionShape)(given, about);
  if (parsed instanceof Fault) return parsed;
  const read = parsed.flatMap((entry): (Condition | Fault)[] => {
    const { field = "" } = entry;
    return Object.hasOwn(conditionReaders, field) ? [conditionReaders[field as keyof typeof conditionReaders](entry)] : [];
  });
  const fault = read.find((each) => each instanceof Fault);
  return fault ?? read.filter((each): each is Condition => !(each instanceof Fault));
}

const conditionReaders = {
  "host-header": ({ hostHeaderConfig }: ConditionJson) =>
    withMatch("hostHeaderConfig", hostHeaderConfig, (match) => ({ field: "host-header", ...match })),
  "path-pattern": ({ pathPatternConfig }: ConditionJson) =>
    withMatch("pathPatternConfig", pathPatternConfig, (match) => ({ field: "path-pattern", ...match })),
  "http-header": ({ httpHeaderConfig }: ConditionJson) =>
    withMatch("httpHeaderConfig", httpHeaderConfig, (match) => ({
      field: "http-header",
      header: httpHeaderConfig?.httpHeaderName ?? "",
      ...match,
    })),
  "http-request-method": ({ httpRequestMethodConfig }: ConditionJson) =>
    withValues("httpRequestMethodConfig", httpRequestMethodConfig, (values) => ({ field: "http-request-method", values })),
  "source-ip": ({ sourceIPConfig }: ConditionJson) =>
    withValues("sourceIPConfig", sourceIPConfig, (values) => ({ field: "source-ip", values })),
  "query-string": ({ queryStringConfig }: ConditionJson): Condition | Fault =>
    withValues("queryStringConfig", queryStringConfig, (values) => {
      if (values.some(({ value }) => !value)) return new Fault("invalid queryStringConfig: value cannot be empty");
      return { field: "query-string", values: values.map(({ key, value = "" }) => ({ ...given({ key }), value })) };
    }),
} as const;

function withMatch(
  name: string,
  config: { readonly values?: readonly string[]; readonly regexValues?: readonly string[] } | undefined,
  make: (match: { readonly match: Match; readonly values: readonly string[] }) => Condition,
): Condition | Fault {
  if (config === undefined) return new Fault(`missing ${name}`);
  const { values = [], regexValues = [] } = config;
  if (values.length === 0 && regexValues.length === 0) return new Fault(`invalid ${name}: values or regexValues must be specified`);
  if (values.length > 0 && regexValues.length > 0) {
    return new Fault(`invalid ${name}: precisely one of values and regexValues can be specified`);
  }
  return make(values.length > 0 ? { match: "wildcard", values } : { match: "regex", values: regexValues });
}

function withValues<T>(
  name: string,
  config: { readonly values?: readonly T[] } | undefined,
  make: (values: readonly T[]) => Condition | Fault,
): Condition | Fault {
  if (config === undefined) return new Fault(`missing ${name}`);
  return config.values?.length ? make(config.values) : new Fault(`invalid ${name}: values cannot be empty`);
}

const rewrites = object({ rewrites: list(object({ regex: string, replace: string })) });
const transformShape = list(object({ type: string, urlRewriteConfig: rewrites, hostHeaderRewriteConfig: rewrites }));

const transformConfigs = { "url-rewrite": "urlRewriteConfig", "host-header-rewrite": "hostHeaderRewriteConfig" } as const;

export function transforms(given: string, about: Given): readonly Transform[] | Fault {
  const parsed = json(transformShape)(given, about);
  if (parsed instanceof Fault) return parsed;
  const read: Transform[] = [];
  for (const entry of parsed) {
    const kind = entry.type as keyof typeof transformConfigs;
    if (!Object.hasOwn(transformConfigs, kind)) return new Fault(`unknown transform type: ${entry.type ?? ""}`);
    const name = transformConfigs[kind];
    const config = entry[name];
    if (config === undefined) return new Fault(`missing ${name}`);
    if (!config.rewrites?.length) return new Fault(`${name}.rewrites cannot be empty`);
    read.push({ kind, rewrites: config.rewrites.map(({ regex = "", replace = "" }) => ({ regex, replace })) });
  }
  return read;
}

export const cognito = json(
  object({ userPoolARN: string, userPoolClientID: string, userPoolDomain: string, authenticationRequestExtraParams: record(string) }),
);
export const oidc = json(
  object({
    issuer: string,
    authorizationEndpoint: string,
    tokenEndpoint: string,
    userInfoEndpoint: string,
    secretName: string,
    authenticationRequestExtraParams: record(string),
  }),
);

const jwtShape = object({
  jwksEndpoint: string,
  issuer: string,
  additionalClaims: list(object({ format: string, name: string, values: list(string) })),
});

export function jwt(given: string, about: Given): ValidateJwt | Fault {
  const parsed = json(jwtShape)(given, about);
  if (parsed instanceof Fault) return parsed;
  const { jwksEndpoint, issuer, additionalClaims = [] } = parsed;
  if (!jwksEndpoint) return new Fault("jwksEndpoint is a required field for jwt validation");
  if (!issuer) return new Fault("issuer is a required field for jwt validation");
  const claims: ValidateJwt["claims"][number][] = [];
  for (const { format, name, values } of additionalClaims) {
    const lacking = !format
      ? "format is a required field"
      : !name
        ? "name is a required field"
        : !values?.length && "values must not be empty";
    if (lacking) return new Fault(`${lacking} for additional claims for jwt validation`);
    claims.push({ format: format!, name: name!, values: values! });
  }
  return { kind: "jwt-validation", jwksEndpoint, issuer, claims };
}

/** Without what is absent or empty. */
function given<T extends object>(fields: T): { readonly [Key in keyof T]?: NonNullable<T[Key]> } {
  const full = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(full) as { readonly [Key in keyof T]?: NonNullable<T[Key]> };
}
