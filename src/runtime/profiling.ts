/** CPU profiles of the running process and, only when asked for twice, dumps of its memory. */
import { Session } from "node:inspector/promises";
import { getHeapSnapshot } from "node:v8";
import { type Route, type RouteAnswer, type RouteTable, text } from "./routes.ts";
import { type Clock, sleep } from "./world.ts";

export interface ProfilingOptions {
  readonly clock: Clock;
  /** A heap dump holds every token the process has: a second switch, off by default. */
  readonly heapDumps: boolean;
  /** For the index page. */
  readonly routes: RouteTable;
}

const maxSeconds = 300;

/** `/debug/pprof/` and below. Profiles are in V8's form (`.cpuprofile`), which Chrome and VS Code open. */
export function profilingRoutes({ clock, heapDumps, routes }: ProfilingOptions): Route[] {
  let busy = false;
  const profile: Route = {
    path: "/debug/pprof/profile",
    async answer({ query, signal }) {
      const seconds = Number(query.get("seconds") ?? 30);
      if (!(seconds > 0 && seconds <= maxSeconds)) return text(400, `seconds must be above 0 and at most ${maxSeconds}\n`);
      if (busy) return text(409, "another CPU profile is being taken; try again when it is done\n");
      busy = true;
      try {
        return attachment("fairlead.cpuprofile", JSON.stringify(await cpuProfile(clock, seconds * 1000, signal)));
      } finally {
        busy = false;
      }
    },
  };
  const heap: Route = {
    path: "/debug/pprof/heap",
    answer() {
      if (!heapDumps) return text(403, "a heap dump holds every token of the process; it has to be switched on with a flag of its own\n");
      return attachment("fairlead.heapsnapshot", getHeapSnapshot());
    },
  };
  const index: Route = {
    path: "/debug/pprof/",
    answer: () => text(200, `${routes.paths("/debug/").join("\n")}\n\nprofile takes ?seconds= (30) and is in V8's .cpuprofile form\n`),
  };
  return [index, profile, heap];
}

async function cpuProfile(clock: Clock, ms: number, signal: AbortSignal): Promise<object> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await sleep(clock, ms, signal);
    return (await session.post("Profiler.stop")).profile;
  } finally {
    session.disconnect();
  }
}

function attachment(filename: string, body: RouteAnswer["body"]): RouteAnswer {
  return {
    status: 200,
    headers: { "content-type": "application/octet-stream", "content-disposition": `attachment; filename="${filename}"` },
    body,
  };
}
