/** The cloud behind a socket, for the aws command, other programs and integration tests. */
import { type Served, serveTransport } from "../serve.ts";
import type { Cloud } from "./cloud.ts";
import { controlTransport, isControl } from "./controls/http.ts";

export type { Served } from "../serve.ts";

/** Serves the cloud, and its controls below `/_fairlead/`, on loopback; port 0 takes a free one. */
export function serve(cloud: Cloud, port = 0): Promise<Served> {
  const controls = controlTransport(cloud);
  return serveTransport((request) => (isControl(request.url) ? controls(request) : cloud.handle(request)), { port });
}
