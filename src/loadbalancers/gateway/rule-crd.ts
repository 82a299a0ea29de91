/** The definition of ListenerRuleConfiguration: the reference's. */
import { definitionOf, flag, integer, list, map, object, oneOf, rules, text, texts } from "./schema.ts";

const day7 = 604_800;

const logIn = {
  scope: text("What is asked of the provider.", { default: "openid" }),
  authenticationRequestExtraParams: map("Further parameters.", { type: "string" }, { maxProperties: 10 }),
  onUnauthenticatedRequest: oneOf("What happens without a log-in.", ["deny", "allow", "authenticate"], { default: "authenticate" }),
  sessionCookieName: text("The cookie.", { default: "AWSELBAuthSessionCookie" }),
  sessionTimeout: {
    type: "integer",
    format: "int64",
    description: "Seconds that a log-in lasts.",
    minimum: 1,
    maximum: day7,
    default: day7,
  },
};

const oidc = object(
  "A log-in at a provider of OpenID Connect.",
  {
    issuer: text("The issuer."),
    authorizationEndpoint: text("Where users log in."),
    tokenEndpoint: text("Where tokens come from."),
    userInfoEndpoint: text("Where users are described."),
    secret: object(
      "The Secret with clientID and clientSecret.",
      { name: text("Its name, in the route's namespace.") },
      { required: ["name"] },
    ),
    useExistingClientSecret: flag("Accepted for the reference; has no effect."),
    ...logIn,
  },
  { required: ["authorizationEndpoint", "issuer", "secret", "tokenEndpoint", "userInfoEndpoint"] },
);

const cognito = object(
  "A log-in at Amazon Cognito.",
  { userPoolArn: text("The user pool."), userPoolClientId: text("The client."), userPoolDomain: text("The domain."), ...logIn },
  { required: ["userPoolArn", "userPoolClientId", "userPoolDomain"] },
);

const claim = object(
  "A claim that a token must have.",
  {
    name: text("Its name.", { minLength: 1 }),
    format: oneOf("Its form.", ["single-string", "string-array", "space-separated-values"]),
    values: list("What it may be.", { type: "string", maxLength: 256 }, { minItems: 1, maxItems: 10 }),
  },
  { required: ["format", "name", "values"] },
);

const jwt = object(
  "The check of a token.",
  {
    issuer: text("Who must have issued it.", { maxLength: 256 }),
    jwksEndpoint: text("Where keys are.", { maxLength: 256 }),
    additionalClaims: list("What else it must say.", claim),
  },
  { required: ["issuer", "jwksEndpoint"] },
);

const stickiness = object(
  "Whether clients stay with a target group.",
  {
    enabled: flag("Whether they do.", { default: false }),
    durationSeconds: integer("For how long.", { minimum: 1, maximum: day7, default: 3600 }),
  },
  { default: {} },
);

const contentTypes = ["text/plain", "text/css", "text/html", "application/javascript", "application/json"];

/** Each action by its type, with the block that it has. */
const blocks = {
  forward: ["forwardConfig", object("How requests are forwarded.", { targetGroupStickinessConfig: stickiness })],
  redirect: ["redirectConfig", object("More about a RequestRedirect filter.", { query: text("The query.", { default: "#{query}" }) })],
  "fixed-response": [
    "fixedResponseConfig",
    object(
      "An answer without a backend.",
      {
        statusCode: integer("200 to 299 or 400 to 599."),
        contentType: oneOf("Of what.", contentTypes, { default: "text/plain" }),
        messageBody: text("The body."),
      },
      {
        required: ["statusCode"],
        ...rules([
          "(self.statusCode >= 200 && self.statusCode <= 299) || (self.statusCode >= 400 && self.statusCode <= 599)",
          "statusCode must be 200-299 or 400-599",
        ]),
      },
    ),
  ],
  "authenticate-oidc": ["authenticateOIDCConfig", oidc],
  "authenticate-cognito": ["authenticateCognitoConfig", cognito],
  "jwt-validation": ["jwtValidationConfig", jwt],
} as const;

const action = object(
  "What is done with a request.",
  { type: oneOf("Which action.", Object.keys(blocks)), ...Object.fromEntries(Object.values(blocks)) },
  {
    required: ["type"],
    ...rules(
      ...Object.entries(blocks).map(
        ([type, [field]]) =>
          [`has(self.${field}) == (self.type == '${type}')`, `${field} must be specified only when type is '${type}'`] as const,
      ),
    ),
  },
);

const kindsIn = (...types: readonly string[]) => `size(self.filter(a, a.type in [${types.map((type) => `'${type}'`).join(", ")}])) <= 1`;

const condition = object(
  "A condition besides those of matches.",
  {
    field: oneOf("What is compared.", ["source-ip"]),
    sourceIPConfig: object("Addresses of clients.", { values: texts("CIDR blocks.", { minItems: 1 }) }, { required: ["values"] }),
    matchIndexes: list("Places of the matches that it is for; absent: all of them.", { type: "integer" }),
  },
  {
    required: ["field"],
    ...rules(["self.field != 'source-ip' || has(self.sourceIPConfig)", "sourceIPConfig must be specified when field is 'source-ip'"]),
  },
);

export const listenerRuleConfigurationDefinition = definitionOf({
  kind: "ListenerRuleConfiguration",
  plural: "listenerruleconfigurations",
  description: "What a rule of a route has that the Gateway API does not know.",
  spec: object("Settings of the rules that refer to it.", {
    actions: list("At most one before routing, and at most one of routing.", action, {
      minItems: 1,
      maxItems: 2,
      ...rules(
        [kindsIn("authenticate-oidc", "authenticate-cognito", "jwt-validation"), "At most one pre-routing action can be specified"],
        [kindsIn("forward", "redirect", "fixed-response"), "At most one routing action can be specified"],
      ),
    }),
    conditions: list("Further conditions.", condition, { minItems: 1 }),
    tags: map("Tags of the rules."),
  }),
  status: object("Whether it can be used.", {
    accepted: flag("Whether it can."),
    message: text("Why it cannot."),
    observedGeneration: { type: "integer", format: "int64", description: "The generation that this is about." },
  }),
});
