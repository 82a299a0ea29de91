/** Node, when the plugin runs as a command of `fairlead`. */
import { createHash, createHmac } from "node:crypto";
import { Agent, ProxyAgent, request as undiciRequest } from "undici";
import type { Platform } from "./platform.ts";

/** Sends by a connection of its own: a run makes two or three requests, each to another host. */
const connect: Platform["connect"] = async (request, route) => {
  const tls = route.ca === undefined ? {} : { ca: route.ca };
  const dispatcher =
    route.proxy === undefined ? new Agent({ connect: tls }) : new ProxyAgent({ uri: route.proxy, requestTls: tls, proxyTls: tls });
  const response = await undiciRequest(request.url, {
    dispatcher,
    method: request.method as "POST",
    headers: request.headers,
    body: request.body ?? null,
    signal: request.signal ?? null,
  });
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return { status: response.statusCode, headers, body: response.body };
};

/** The platform of the command. */
export const nodePlatform: Platform = {
  connect,
  hashing: {
    sha256: (text) => createHash("sha256").update(text).digest("hex"),
    hmac: (key, text) => createHmac("sha256", key).update(text).digest(),
  },
};
