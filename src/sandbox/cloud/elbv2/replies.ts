/** Actions that answer a request themselves: a redirect, or a response that is always the same. */
import type { Action, ProtocolEnum } from "@aws-sdk/client-elastic-load-balancing-v2";
import { ServiceError } from "../errors.ts";

const CONTENT_TYPES = ["text/plain", "text/css", "text/html", "application/javascript", "application/json"];
const MAX_BODY = 1024;
const MAX_LENGTH = 128;

/** What a redirect keeps of the request where it names nothing else. */
const KEPT = { Protocol: "#{protocol}", Port: "#{port}", Host: "#{host}", Path: "/#{path}", Query: "#{query}" } as const;

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_FixedResponseActionConfig.html */
export function fixedResponse(action: Action): Action {
  const { StatusCode: status, ContentType: type, MessageBody: body } = action.FixedResponseConfig ?? {};
  if (!/^[245]\d\d$/.test(status ?? "")) throw invalid(`The status code '${status}' of a fixed response must be 2XX, 4XX or 5XX`);
  if (type && !CONTENT_TYPES.includes(type)) throw invalid(`The content type '${type}' must be one of '[${CONTENT_TYPES.join(", ")}]'`);
  if ((body ?? "").length > MAX_BODY) throw invalid(`The body of a fixed response must have at most ${MAX_BODY} characters`);
  return {
    Type: "fixed-response",
    ...order(action),
    FixedResponseConfig: { StatusCode: status, ...(type && { ContentType: type }), ...(body !== undefined && { MessageBody: body }) },
  };
}

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_RedirectActionConfig.html */
export function redirect(action: Action, listener: ProtocolEnum): Action {
  const given = action.RedirectConfig;
  if (given?.StatusCode !== "HTTP_301" && given?.StatusCode !== "HTTP_302") {
    throw invalid(`The status code '${given?.StatusCode}' of a redirect must be HTTP_301 or HTTP_302`);
  }
  const parts = Object.fromEntries(Object.entries(KEPT).map(([part, kept]) => [part, given[part as keyof typeof KEPT] ?? kept]));
  const { Protocol: protocol, Port: port, Host: host, Path: path, Query: query } = parts as Record<keyof typeof KEPT, string>;
  if (!["HTTP", "HTTPS", KEPT.Protocol].includes(protocol))
    throw invalid(`The redirect protocol '${protocol}' must be HTTP, HTTPS or #{protocol}`);
  if (listener === "HTTPS" && protocol === "HTTP") throw badAction("A redirect from HTTPS to HTTP is not supported");
  if (port !== KEPT.Port && !(/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)) {
    throw invalid(`The redirect port '${port}' must be between 1 and 65535, or #{port}`);
  }
  if (host === "" || host.length > MAX_LENGTH) throw invalid(`The redirect host must have between 1 and ${MAX_LENGTH} characters`);
  if (!path.startsWith("/") || path.length > MAX_LENGTH) {
    throw invalid(`The redirect path '${path}' must begin with '/' and have at most ${MAX_LENGTH} characters`);
  }
  if (query.length > MAX_LENGTH) throw invalid(`The redirect query must have at most ${MAX_LENGTH} characters`);
  if (protocol === KEPT.Protocol && port === KEPT.Port && host === KEPT.Host && path === KEPT.Path) {
    throw badAction("A redirect must change the protocol, host, port or path: this one would redirect to itself");
  }
  return {
    Type: "redirect",
    ...order(action),
    RedirectConfig: { Protocol: protocol, Port: port, Host: host, Path: path, Query: query, StatusCode: given.StatusCode },
  };
}

function order({ Order }: Action): Pick<Action, "Order"> {
  return Order === undefined ? {} : { Order };
}

function invalid(message: string): ServiceError {
  return new ServiceError("ValidationError", message);
}

function badAction(message: string): ServiceError {
  return new ServiceError("InvalidLoadBalancerAction", message);
}
