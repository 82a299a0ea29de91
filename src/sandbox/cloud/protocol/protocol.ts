/** The wire protocols AWS speaks, each as one value: how a request is read, how an answer, an error and a refusal look. */
import { ServiceError } from "../errors.ts";
import { type FormDialect, type FormNode, readForm } from "./form.ts";
import { readJson, writeJson } from "./json.ts";
import type { OperationShape } from "./shapes.ts";
import { escapeXml, writeXml } from "./xml.ts";
import { readXml } from "./xml-read.ts";

/** A request whose action is known and whose input is not read yet. */
export interface Incoming {
  readonly action: string;
  readonly form: FormNode;
  readonly body: string;
  /** Parts of the path, where that says what is asked for. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** An answer on its way out. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Why a call was turned away before its operation ran; each protocol has its own code and status for it. */
export interface Refusals {
  unsigned(): ServiceError;
  wrongRegion(given: string): ServiceError;
  wrongService(given: string, expected: string): ServiceError;
  unknownKey(): ServiceError;
  expiredToken(): ServiceError;
  skewed(given: string): ServiceError;
  denied(principal: string, action: string, explicit: boolean): ServiceError;
  throttled(): ServiceError;
  unknownAction(action: string, version: string): ServiceError;
}

/** One wire protocol. */
export interface Protocol {
  readonly refusals: Refusals;
  read(shape: OperationShape, incoming: Incoming): Record<string, unknown>;
  write(shape: OperationShape, output: unknown, requestId: string): Answer;
  fail(error: ServiceError, requestId: string): Answer;
}

/** EC2's own dialect of the query protocol. */
export function ec2Query(namespace: string): Protocol {
  return {
    refusals: EC2_REFUSALS,
    read: (shape, incoming) => readForm(shape.input, incoming.form, EC2_DIALECT),
    write(shape, output, requestId) {
      const content = shape.output.kind === "unit" ? "\n    <return>true</return>" : writeXml(shape.output, output, 4, 4);
      const root = `${shape.name}Response`;
      return xml(200, requestId, `<${root} xmlns="${namespace}">\n    <requestId>${requestId}</requestId>${content}\n</${root}>`);
    },
    fail: (error, requestId) =>
      xml(
        error.status,
        requestId,
        `<Response><Errors><Error><Code>${escapeXml(error.code)}</Code><Message>${escapeXml(error.message)}</Message></Error></Errors>` +
          `<RequestID>${requestId}</RequestID></Response>`,
      ),
  };
}

/** The query protocol of ELB, STS, Auto Scaling and their age. */
export function query(namespace: string): Protocol {
  return {
    refusals: QUERY_REFUSALS,
    read: (shape, incoming) => readForm(shape.input, incoming.form, QUERY_DIALECT),
    write(shape, output, requestId) {
      const root = `${shape.name}Response`;
      const content = writeXml(shape.output, output, 4, 2);
      const result = shape.output.kind === "unit" ? "" : `\n  <${shape.name}Result>${content}\n  </${shape.name}Result>`;
      const metadata = `\n  <ResponseMetadata>\n    <RequestId>${requestId}</RequestId>\n  </ResponseMetadata>`;
      return xml(200, requestId, `<${root} xmlns="${namespace}">${result}${metadata}\n</${root}>\n`);
    },
    fail: (error, requestId) =>
      xml(
        error.status,
        requestId,
        `<ErrorResponse xmlns="${namespace}"><Error><Type>${error.status < 500 ? "Sender" : "Receiver"}</Type>` +
          `<Code>${escapeXml(error.code)}</Code><Message>${escapeXml(error.message)}</Message></Error>` +
          `<RequestId>${requestId}</RequestId></ErrorResponse>`,
      ),
  };
}

/** XML for what the path names: Route 53. */
export function restXml(namespace: string): Protocol {
  return {
    ...query(namespace),
    read(shape, { form, labels = {}, body }) {
      const { input } = shape;
      const placed = (input.kind === "struct" ? input.members : []).flatMap(({ name, place, shape: { kind } }) => {
        const given = place && ("label" in place ? labels[place.label] : form.children.get(place.query)?.value);
        return given === undefined ? [] : [[name, kind === "number" ? Number(given) : given]];
      });
      return { ...readXml(input, body), ...Object.fromEntries(placed) };
    },
    write(shape, output, requestId) {
      const root = `${shape.name}Response`;
      return xml(200, requestId, `<${root} xmlns="${namespace}">${writeXml(shape.output, output, 2, 2)}\n</${root}>`);
    },
  };
}

/** JSON over `x-amz-target`. */
export function json(version: "1.0" | "1.1"): Protocol {
  const answer = (status: number, requestId: string, body: string): Answer => ({
    status,
    headers: { "content-type": `application/x-amz-json-${version}`, "x-amzn-requestid": requestId },
    body,
  });
  return {
    refusals: JSON_REFUSALS,
    read: (shape, incoming) => readJson(shape.input, incoming.body),
    write: (shape, output, requestId) => answer(200, requestId, writeJson(shape.output, output)),
    fail: (error, requestId) => answer(error.status, requestId, JSON.stringify({ __type: error.code, message: error.message })),
  };
}

function xml(status: number, requestId: string, content: string): Answer {
  return {
    status,
    headers: { "content-type": "text/xml;charset=UTF-8", "x-amzn-requestid": requestId },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${content}`,
  };
}

const EC2_DIALECT: FormDialect = {
  memberName: (member) => member.ec2Name,
  flatLists: true,
  refuseUnknown: true,
  missing: (name) => new ServiceError("MissingParameter", `The request must contain the parameter ${name}`),
  invalid: (value, name) => new ServiceError("InvalidParameterValue", `Value (${value}) for parameter ${name} is invalid.`),
};

const QUERY_DIALECT: FormDialect = {
  memberName: (member) => member.queryName,
  flatLists: false,
  refuseUnknown: false,
  missing: (name) =>
    new ServiceError(
      "ValidationError",
      `1 validation error detected: Value null at '${uncapitalised(name)}' failed to satisfy constraint: Member must not be null`,
    ),
  invalid: (value, name) => new ServiceError("MalformedInput", `Invalid value '${value}' for ${name}`),
};

function uncapitalised(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function notAuthorized(principal: string, action: string, explicit: boolean): string {
  const because = explicit
    ? "with an explicit deny in an identity-based policy"
    : `because no identity-based policy allows the ${action} action`;
  return `User: ${principal} is not authorized to perform: ${action} on resource: * ${because}`;
}

const EC2_REFUSALS: Refusals = {
  unsigned: () => new ServiceError("MissingAuthenticationToken", "Request is missing Authentication Token", 403),
  wrongRegion: () => authFailure(),
  wrongService: () => authFailure(),
  unknownKey: () => authFailure(),
  expiredToken: () => new ServiceError("RequestExpired", "Request has expired."),
  skewed: (given) => new ServiceError("RequestExpired", `Request has expired. Timestamp date is ${given}.`),
  denied: (principal, action, explicit) =>
    new ServiceError(
      "UnauthorizedOperation",
      `You are not authorized to perform this operation. ${notAuthorized(principal, action, explicit)}`,
      403,
    ),
  throttled: () => new ServiceError("RequestLimitExceeded", "Request limit exceeded.", 503),
  unknownAction: (action) => new ServiceError("InvalidAction", `The action ${action} is not valid for this web service.`),
};

function authFailure(): ServiceError {
  return new ServiceError("AuthFailure", "AWS was not able to validate the provided access credentials", 401);
}

const QUERY_REFUSALS: Refusals = {
  unsigned: () => new ServiceError("MissingAuthenticationToken", "Request is missing Authentication Token", 403),
  wrongRegion: (given) => new ServiceError("SignatureDoesNotMatch", `Credential should be scoped to a valid region, not '${given}'.`, 403),
  wrongService: (given, expected) =>
    new ServiceError("SignatureDoesNotMatch", `Credential should be scoped to correct service: '${expected}', not '${given}'.`, 403),
  unknownKey: () => new ServiceError("InvalidClientTokenId", "The security token included in the request is invalid.", 403),
  expiredToken: () => new ServiceError("ExpiredToken", "The security token included in the request is expired", 403),
  skewed: (given) => new ServiceError("SignatureDoesNotMatch", `Signature expired: ${given} is out of the allowed range`, 403),
  denied: (principal, action, explicit) => new ServiceError("AccessDenied", notAuthorized(principal, action, explicit), 403),
  throttled: () => new ServiceError("Throttling", "Rate exceeded"),
  unknownAction: (action, version) => new ServiceError("InvalidAction", `Could not find operation ${action} for version ${version}`),
};

const JSON_REFUSALS: Refusals = {
  unsigned: () => new ServiceError("MissingAuthenticationTokenException", "Missing Authentication Token"),
  wrongRegion: (given) => new ServiceError("InvalidSignatureException", `Credential should be scoped to a valid region, not '${given}'.`),
  wrongService: (given, expected) =>
    new ServiceError("InvalidSignatureException", `Credential should be scoped to correct service: '${expected}', not '${given}'.`),
  unknownKey: () => new ServiceError("UnrecognizedClientException", "The security token included in the request is invalid."),
  expiredToken: () => new ServiceError("ExpiredTokenException", "The security token included in the request is expired"),
  skewed: (given) => new ServiceError("InvalidSignatureException", `Signature expired: ${given} is out of the allowed range`),
  denied: (principal, action, explicit) => new ServiceError("AccessDeniedException", notAuthorized(principal, action, explicit)),
  throttled: () => new ServiceError("ThrottlingException", "Rate exceeded"),
  unknownAction: (action) => new ServiceError("UnknownOperationException", `The operation ${action} is not known to this service`),
};
