/** Answers that a load balancer gives by itself. */
import type { FixedResponseActionConfig, ProtocolEnum, RedirectActionConfig } from "@aws-sdk/client-elastic-load-balancing-v2";
import { hostOf, type Request } from "./request.ts";

/** An answer. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Cookies to set, each a whole header. */
  readonly cookies: readonly string[];
}

/** The listener that a request came in by. */
export interface Place {
  readonly protocol: ProtocolEnum;
  readonly port: number;
}

/** A page of the load balancer's own about what went wrong. */
export function failure(status: number, title: string): Reply {
  const body = `<html>\n<head><title>${status} ${title}</title></head>\n<body>\n<center><h1>${status} ${title}</h1></center>\n</body>\n</html>\n`;
  return { status, headers: { "content-type": "text/html" }, body, cookies: [] };
}

/** The response of a fixed-response action. */
export function fixedResponse({ StatusCode, ContentType, MessageBody = "" }: FixedResponseActionConfig): Reply {
  const type = ContentType || "text/plain";
  return { status: Number(StatusCode), headers: { "content-type": `${type}; charset=utf-8` }, body: MessageBody, cookies: [] };
}

/** The response of a redirect action; its location always names the port. */
export function redirect(config: RedirectActionConfig, request: Request, place: Place): Reply {
  const parts: Readonly<Record<string, string>> = {
    protocol: place.protocol,
    host: hostOf(request),
    port: String(place.port),
    path: request.path.replace(/^\//, ""),
    query: request.query,
  };
  const filled = (text: string) => text.replace(/#\{(\w+)\}/g, (whole, name: string) => parts[name] ?? whole);
  const { Protocol = "#{protocol}", Host = "#{host}", Port = "#{port}", Path = "/#{path}", Query = "#{query}" } = config;
  const query = filled(Query);
  const location = `${filled(Protocol).toLowerCase()}://${filled(Host)}:${filled(Port)}${filled(Path)}${query === "" ? "" : `?${query}`}`;
  return seeOther(location, config.StatusCode === "HTTP_301" ? 301 : 302);
}

/** Sends the client elsewhere. */
export function seeOther(location: string, status = 302, cookies: readonly string[] = []): Reply {
  return { status, headers: { "content-type": "text/html", location }, body: "", cookies };
}
