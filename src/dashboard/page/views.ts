/** The other views: what is being done, what is wrong, what would be done, what it costs. */

import { ageText } from "../../runtime/age-text.ts";
import type { Trouble } from "../trouble.ts";
import type { Moment } from "../watching.ts";
import { type Described, h } from "./dom.ts";
import { row, spark, table } from "./parts.ts";
import type { Known } from "./store.ts";

const nothingYet = h("p", { class: "quiet" }, "Nothing is known yet.");

const nobodySays = "No process says what it does. Start the dashboard with --endpoint for each that shall be asked.";

export function nowView({ moment }: Known): readonly Described[] {
  if (moment === undefined) return [nothingYet];
  const lines = moment.processes.flatMap(({ component, lines }) => lines.map((line) => ({ component, ...line })));
  const steps = lines.toSorted((a, b) => b.at - a.at).slice(0, 80);
  return [
    h(
      "div",
      { class: "cards", key: "processes" },
      moment.processes.map((each) => processCard(each)),
      leasesCard(moment),
    ),
    h(
      "div",
      { class: "split", key: "split", style: "margin-top: 16px" },
      h(
        "section",
        {},
        h("h2", {}, "What is done, and why"),
        steps.length === 0
          ? h(
              "p",
              { class: "quiet" },
              moment.processes.length === 0 ? nobodySays : "Nothing was done since the dashboard looks. At rest, that is as it should be.",
            )
          : table(
              ["When", "What", "Why"],
              steps.map(({ at, message, why, level, component }) => [
                ageText(at, moment.at),
                h(
                  "span",
                  { class: level === "info" ? "" : "bad", style: level === "info" ? "" : "color: var(--state)", title: component },
                  message,
                ),
                why,
              ]),
            ),
      ),
      h(
        "section",
        {},
        h("h2", {}, "Events"),
        moment.events
          .slice(0, 40)
          .map(({ metadata, last, about, reason, message, warning }) =>
            h(
              "div",
              { key: metadata.uid, class: `event${warning ? " bad" : ""}` },
              h("b", {}, reason),
              h("span", { class: "quiet" }, ` ${about}, ${ageText(last, moment.at)}`),
              h("p", {}, message),
            ),
          ),
      ),
    ),
  ];
}

function processCard({ endpoint, component, identity, leads, controllers, budgets }: Moment["processes"][number]): Described {
  const tight = budgets.filter(({ waiting, throttledMsAgo = Number.POSITIVE_INFINITY }) => waiting > 0 || throttledMsAgo < 600_000);
  return h(
    "section",
    { key: `${endpoint} ${identity}`, class: "card" },
    h("h2", {}, component, h("span", { class: "quiet" }, leads ? " leads" : " stands by")),
    h("p", { class: "quiet" }, identity),
    table(
      ["Controller", "Queue", "Failing"],
      controllers.map(({ name, depth, failing }) => [name, String(depth), String(failing)]),
      [1, 2],
    ),
    tight.length === 0
      ? h("p", { class: "quiet" }, "No call waits for its budget, and AWS has throttled none for ten minutes.")
      : table(
          ["Action", "Calls a second", "Waiting", "Throttled"],
          tight.map(({ action, rate, waiting, throttledMsAgo }) => [
            action,
            rate.toFixed(1),
            String(waiting),
            throttledMsAgo === undefined ? "" : ageText(0, throttledMsAgo),
          ]),
          [1, 2],
        ),
  );
}

function leasesCard({ leases, at }: Moment): Described {
  return h(
    "section",
    { key: "leases", class: "card" },
    h("h2", {}, "Who leads"),
    table(
      ["Lease", "Held by", "Renewed"],
      leases.map(({ name, holder, renewed }) => [name, holder || "nobody", ageText(renewed, at)]),
    ),
  );
}

/** `go` leads to the thing; undefined when there is nowhere to go to. Its times change all the while, so it is not announced itself. */
export function banner(trouble: Trouble, now: number, go: ((id: string) => void) | undefined): Described {
  const { id, about, title, message, remedy, count, since, last, requestId, tried = [] } = trouble;
  return h(
    "div",
    { key: `trouble ${id}`, class: "banner" },
    h(
      "p",
      {},
      h("b", {}, title),
      about === undefined
        ? undefined
        : go === undefined
          ? ` ${about}`
          : h("button", { class: "row", style: "display: inline; width: auto", click: () => go(about) }, about),
    ),
    h("p", {}, message),
    h("p", { class: "remedy" }, remedy.replaceAll("`", "")),
    h(
      "p",
      { class: "quiet" },
      `${count > 1 ? `${count} times, ` : ""}since ${ageText(since, now)}, last ${ageText(last, now)}${requestId ? `; request id ${requestId}` : ""}`,
    ),
    tried.length === 0
      ? undefined
      : h(
          "ul",
          { class: "tried", "aria-label": "What was tried" },
          tried.map(({ at, text }) => h("li", {}, `${ageText(at, now)}: ${text}`)),
        ),
  );
}

export function troubleView({ moment, things }: Known, go: (id: string) => void): readonly Described[] {
  if (moment === undefined) return [nothingYet];
  if (moment.troubles.length === 0) return [h("p", { key: "none" }, "Nothing is wrong.")];
  return moment.troubles.map((each) => banner(each, moment.at, things.has(each.about ?? "") ? go : undefined));
}

export function costView({ moment, things }: Known, go: (id: string) => void): readonly Described[] {
  if (moment === undefined) return [nothingYet];
  const { actions, causes } = moment.activity;
  const paid = [...things.values()].filter(({ kind }) => kind === "balancer" || kind === "volume" || kind === "address");
  const idle = [...things.values()].filter(({ kind, state }) => state === "idle" && kind !== "target");
  const most = Math.max(1, ...actions.map(({ calls }) => calls));
  const rows = (of: typeof actions) =>
    of
      .slice(0, 25)
      .map(({ name, calls, throttled, failed, over }) => [
        name,
        h("div", { class: "bar" }, h("i", { style: `width: ${((calls / most) * 100).toFixed(1)}%` })),
        String(calls),
        throttled > 0 ? String(throttled) : "",
        failed > 0 ? String(failed) : "",
        spark(over),
      ]);
  const count = (kind: string) => paid.filter((thing) => thing.kind === kind).length;
  const described = [
    h(
      "div",
      { class: "cards", key: "what" },
      h(
        "section",
        { class: "card" },
        h("h2", {}, "What AWS charges for"),
        table(
          ["", "Number"],
          [
            ["Load balancers", String(count("balancer"))],
            ["Disks", String(count("volume"))],
            ["Addresses", String(count("address"))],
          ],
          [1],
        ),
      ),
      h(
        "section",
        { class: "card" },
        h("h2", {}, `Used by nobody: ${idle.length}`),
        idle.length === 0
          ? h("p", { class: "quiet" }, "Everything is used.")
          : h(
              "div",
              {},
              idle.slice(0, 20).map((thing) => row(thing, go)),
            ),
      ),
    ),
    h("h2", { key: "calls", style: "margin-top: 16px" }, "Calls to AWS by action, over the last ten minutes"),
    actions.length > 0 ? undefined : h("p", { key: "no-calls", class: "quiet" }, moment.processes.length === 0 ? nobodySays : "None."),
    table(["Action", "", "Calls", "Throttled", "Failed", "Over time"], rows(actions), [2, 3, 4]),
    h("h2", { key: "causes", style: "margin-top: 16px" }, "By cause"),
    table(["For", "", "Calls", "Throttled", "Failed", "Over time"], rows(causes), [2, 3, 4]),
  ];
  return described.filter((each) => each !== undefined);
}
