import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../annotation-rows.ts";
import { listenPorts, mutualTls } from "./listen-ports.ts";
import { action, conditions, jwt, transforms } from "./routing-json.ts";

const about = { key: "k", takes: "" };
const told = (value: unknown) => (value instanceof Fault ? value.messages.join() : value instanceof Map ? [...value] : value);
const check = (parse: (text: string, given: typeof about) => unknown, rows: readonly (readonly [string, unknown])[]) => {
  for (const [text, expected] of rows) {
    const is = told(parse(text, about));
    if (expected instanceof RegExp) assert.match(String(is), expected, text);
    else assert.deepEqual(is, expected, text);
  }
};
const forward = (...tuples: string[]) => `{"type":"forward","forwardConfig":{"targetGroups":[${tuples.join()}]}}`;

test("actions: keys in any case, values of their exact type, and each kind with what it needs", () => {
  check(action, [
    ['{"TYPE":"fixed-response","FixedResponseConfig":{"StatusCode":"503","x":1}}', { kind: "fixed-response", status: "503" }],
    [
      '{"type":"redirect","redirectConfig":{"port":"443","statusCode":"HTTP_301","host":""}}',
      { kind: "redirect", port: "443", status: "HTTP_301" },
    ],
    ['{"type":"forward","TargetGroupARN":"arn"}', { kind: "forward", to: [{ targetGroupArn: "arn" }] }],
    ['{"type":"forward","targetGroupName":"n"}', { kind: "forward", to: [{ targetGroupName: "n" }] }],
    [forward(), { kind: "forward", to: [] }],
    [forward('{"serviceName":"a","servicePort":"80"}'), { kind: "forward", to: [{ service: "a", port: 80 }] }],
    [forward('{"serviceName":"a","servicePort":"http"}'), { kind: "forward", to: [{ service: "a", port: "http" }] }],
    ['{"type":"x"}', "unknown action type: x"],
    ["{}", "unknown action type: "],
    ['{"type":"toString"}', "unknown action type: toString"],
    ['{"type":"redirect"}', "missing RedirectConfig"],
    ['{"type":"fixed-response"}', "missing FixedResponseConfig"],
    ['{"type":"fixed-response","fixedResponseConfig":{}}', "invalid FixedResponseConfig: statusCode is required"],
    [
      '{"type":"fixed-response","fixedResponseConfig":{"statusCode":503}}',
      /failed to parse json annotation, k: .*fixedResponseConfig.statusCode takes a text in quotes/,
    ],
    ['{"type":"redirect","redirectConfig":{"statusCode":null}}', "invalid RedirectConfig: statusCode is required"],
    ['{"type":"forward"}', "missing ForwardConfig or TargetGroupARN/TargetGroupName"],
    [
      '{"type":"forward","targetGroupARN":"a","forwardConfig":{}}',
      "either ForwardConfig or TargetGroupARN/TargetGroupName can be specified",
    ],
    [forward('{"weight":1}'), "invalid ForwardConfig: invalid TargetGroupTuple: missing serviceName or targetGroupARN/targetGroupName"],
    [
      forward('{"serviceName":"a","targetGroupARN":"b"}'),
      "invalid ForwardConfig: invalid TargetGroupTuple: either serviceName or targetGroupARN/targetGroupName can be specified",
    ],
    [forward('{"serviceName":"a"}'), "invalid ForwardConfig: invalid TargetGroupTuple: missing servicePort"],
    [
      forward('{"targetGroupARN":"a","weight":1}', '{"targetGroupARN":"b"}'),
      "invalid ForwardConfig: weight must be set when route to multiple target groups",
    ],
    [forward('{"targetGroupARN":"a","weight":"1"}'), /weight takes a whole number/],
    ["[", /failed to parse json annotation, k: \[/],
  ]);
});

test("conditions: values or regular expressions, never both nor neither; unknown fields mean nothing", () => {
  check(conditions, [
    [
      '[{"field":"host-header","HostHeaderConfig":{"Values":["a"]}},{"field":"new"}]',
      [{ field: "host-header", match: "wildcard", values: ["a"] }],
    ],
    ['[{"field":"path-pattern","pathPatternConfig":{"regexValues":["^a"]}}]', [{ field: "path-pattern", match: "regex", values: ["^a"] }]],
    [
      '[{"field":"http-header","httpHeaderConfig":{"httpHeaderName":"x","values":["1"]}}]',
      [{ field: "http-header", header: "x", match: "wildcard", values: ["1"] }],
    ],
    ['[{"field":"source-ip","sourceIpConfig":{"values":["10.0.0.0/8"]}}]', [{ field: "source-ip", values: ["10.0.0.0/8"] }]],
    [
      '[{"field":"query-string","queryStringConfig":{"values":[{"key":"a","value":"b"},{"value":"c"}]}}]',
      [{ field: "query-string", values: [{ key: "a", value: "b" }, { value: "c" }] }],
    ],
    ['[{"field":"host-header"}]', "missing hostHeaderConfig"],
    ['[{"field":"host-header","hostHeaderConfig":{}}]', "invalid hostHeaderConfig: values or regexValues must be specified"],
    [
      '[{"field":"http-header","httpHeaderConfig":{"values":["a"],"regexValues":["b"]}}]',
      "invalid httpHeaderConfig: precisely one of values and regexValues can be specified",
    ],
    ['[{"field":"http-request-method","httpRequestMethodConfig":{}}]', "invalid httpRequestMethodConfig: values cannot be empty"],
    ['[{"field":"query-string","queryStringConfig":{"values":[{"key":"a"}]}}]', "invalid queryStringConfig: value cannot be empty"],
  ]);
});

test("transforms and tokens say what they lack", () => {
  check(transforms, [
    [
      '[{"type":"url-rewrite","urlRewriteConfig":{"rewrites":[{"regex":"a","replace":"b"}]}}]',
      [{ kind: "url-rewrite", rewrites: [{ regex: "a", replace: "b" }] }],
    ],
    ['[{"type":"x"}]', "unknown transform type: x"],
    ['[{"type":"url-rewrite"}]', "missing urlRewriteConfig"],
    ['[{"type":"host-header-rewrite","hostHeaderRewriteConfig":{}}]', "hostHeaderRewriteConfig.rewrites cannot be empty"],
  ]);
  check(jwt, [
    ["{}", "jwksEndpoint is a required field for jwt validation"],
    ['{"jwksEndpoint":"a"}', "issuer is a required field for jwt validation"],
    ['{"jwksEndpoint":"a","issuer":"b","additionalClaims":[{}]}', "format is a required field for additional claims for jwt validation"],
    [
      '{"jwksEndpoint":"a","issuer":"b","additionalClaims":[{"format":"x","name":"n"}]}',
      "values must not be empty for additional claims for jwt validation",
    ],
    ['{"jwksEndpoint":"a","issuer":"b"}', { kind: "jwt-validation", jwksEndpoint: "a", issuer: "b", claims: [] }],
  ]);
});

test("ports to listen on", () => {
  check(listenPorts, [
    [
      '[{"HTTP":80,"HTTPS":443},{"HTTP":8080}]',
      [
        [80, "HTTP"],
        [443, "HTTPS"],
        [8080, "HTTP"],
      ],
    ],
    ['[{"HTTP":80},{"HTTPS":80}]', [[80, "HTTPS"]]],
    ["[{}]", []],
    ["[]", "empty listen-ports configuration: `[]`"],
    ['[{"HTTP":0}]', "listen port must be within [1, 65535]: 0"],
    ['[{"http":80}]', "listen protocol must be within [HTTP, HTTPS]: http"],
    ["80", /failed to parse listen-ports configuration: `80`/],
  ]);
});

test("mutual TLS: each mode with what it takes", () => {
  const entry = (fields: string) => `[{"port":443,${fields}}]`;
  check(mutualTls, [
    [entry('"mode":"off"'), [[443, { mode: "off" }]]],
    [
      entry('"mode":"verify","trustStore":"s","advertiseTrustStoreCaNames":"on"'),
      [[443, { mode: "verify", trustStore: "s", ignoresExpiry: false, advertisesNames: true }]],
    ],
    [entry('"mode":""'), "mutualAuthentication mode cannot be empty for port 443"],
    [entry('"mode":"x"'), "mutualAuthentication mode value must be among [off, passthrough, verify] for port 443 : x"],
    [entry('"mode":"verify"'), "trustStore is required when mutualAuthentication mode is verify for port 443"],
    [entry('"mode":"passthrough","trustStore":"s"'), "Mutual Authentication mode passthrough does not support trustStore for port 443"],
    [
      entry('"mode":"off","ignoreClientCertificateExpiry":true'),
      "Mutual Authentication mode off does not support ignoring client certificate expiry for port 443",
    ],
    [
      entry('"mode":"off","advertiseTrustStoreCaNames":"on"'),
      "Mutual Authentication mode off does not support advertiseTrustStoreCaNames for port 443",
    ],
    [
      entry('"mode":"verify","trustStore":"s","advertiseTrustStoreCaNames":"x"'),
      'advertiseTrustStoreCaNames only supports the values "on" and "off" got value x for port 443',
    ],
    ['[{"port":"443","mode":"off"}]', /failed to parse mutualAuthentication configuration/],
    ["[]", "empty mutualAuthentication configuration from ingress annotation: `[]`"],
  ]);
});

test("of two spellings of a key the last one counts", () => {
  check(action, [
    [
      '{"type":"redirect","Type":"fixed-response","fixedResponseConfig":{"statusCode":"200","StatusCode":"404"}}',
      { kind: "fixed-response", status: "404" },
    ],
  ]);
  check(mutualTls, [['[{"port":443,"mode":"off"},{"port":443,"mode":"passthrough"}]', [[443, { mode: "passthrough" }]]]]);
});
