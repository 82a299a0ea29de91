import type { HttpRequest, HttpResponse } from "../runtime/http.ts";
import type { Route } from "./route.ts";
import type { Hashing } from "./sign.ts";

/** What differs between the two runtimes this runs on: Bun in the single executable, Node as a command of `fairlead`. */
export interface Platform {
  /** Sends one request along a route. */
  readonly connect: (request: HttpRequest, route: Route) => Promise<HttpResponse>;
  readonly hashing: Hashing;
}
