/**
 * The controls over HTTP, below `/_fairlead/`:
 *
 *     GET    settings            PATCH  settings   any part of them, as JSON
 *     GET    faults              POST   faults     a rule; answers its id        DELETE faults[/id]
 *     GET    calls               DELETE calls      counters by action and result
 *     GET    journal?since=N     mutating calls after a sequence number
 *     GET    snapshot            POST   compare    a snapshot; answers what has changed since
 *     POST   expire/role         ends the role's sessions
 *     POST   seed/N              starts ids and chance over
 */
import type { HttpRequest, Transport } from "../../../runtime/http.ts";
import type { Cloud } from "../cloud.ts";
import { requestText, respond } from "../protocol/http.ts";
import type { Snapshot } from "../store.ts";
import { compareSnapshots } from "./compare.ts";
import { faultRuleSchema, settingsSchema } from "./http-schemas.ts";

const PREFIX = "/_fairlead/";

/** Whether a request is for the controls. */
export function isControl(url: URL): boolean {
  return url.pathname.startsWith(PREFIX);
}

type Route = (request: HttpRequest, rest: string) => unknown;

/** The controls of one cloud as a transport. */
export function controlTransport(cloud: Cloud): Transport {
  const { controls } = cloud;
  const routes: Readonly<Record<string, Route>> = {
    "GET settings": () => controls.settings(),
    "PATCH settings": (request) => {
      controls.change(settingsSchema.parse(bodyOf(request)));
      return controls.settings();
    },
    "GET faults": () => controls.faults.list(),
    "POST faults": (request) => ({ id: controls.faults.add(faultRuleSchema.parse(bodyOf(request))) }),
    "DELETE faults": (_, id) => {
      controls.faults.remove(id === "" ? undefined : id);
      return {};
    },
    "GET calls": () => controls.journal.counts(),
    "DELETE calls": () => {
      controls.journal.resetCounts();
      return {};
    },
    "GET journal": (request) => controls.journal.entries(Number(request.url.searchParams.get("since") ?? 0)),
    "GET snapshot": () => controls.snapshot(),
    // Through JSON on both sides, so that fields that are undefined do not count as differences.
    "POST compare": (request) => compareSnapshots(bodyOf(request) as Snapshot, JSON.parse(JSON.stringify(controls.snapshot())) as Snapshot),
    "POST seed": (_, seed) => {
      if (!/^\d+$/.test(seed)) throw new Error(`a seed is a whole number, not '${seed}'`);
      controls.reseed(Number(seed));
      return {};
    },
    "POST expire": (_, role) => {
      controls.principals.expire(role);
      return {};
    },
  };
  return async (request) => {
    const [name = "", ...rest] = request.url.pathname.slice(PREFIX.length).split("/");
    const route = routes[`${request.method} ${name}`];
    if (route === undefined) return json(404, { error: `no control ${request.method} ${name}`, controls: Object.keys(routes) });
    try {
      return json(200, route(request, decodeURIComponent(rest.join("/"))));
    } catch (error) {
      return json(400, { error: (error as Error).message });
    }
  };
}

function bodyOf(request: HttpRequest): unknown {
  return JSON.parse(requestText(request) || "{}");
}

function json(status: number, value: unknown) {
  return respond({ status, headers: { "content-type": "application/json" }, body: JSON.stringify(value) });
}
