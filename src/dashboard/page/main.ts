/** The page: which view is open, and what is typed. Everything else comes from the server. */
import type { Kind } from "../graph.ts";
import { type Child, draw, h } from "./dom.ts";
import { mapView } from "./map.ts";
import { row } from "./parts.ts";
import { follow, type Known, search } from "./store.ts";
import { banner, costView, nowView, troubleView } from "./views.ts";

const views = ["Map", "Now", "Plan", "Trouble", "Cost"] as const;
type View = (typeof views)[number];

let known: Known | undefined;
let view: View = "Map";
let here: string | undefined;
let kind: Kind | undefined;
let typed = "";
let planned = "";
let manifest = "";
let planning = false;
const tops = new Map<string, number>();
let times = 0;
const root = document.querySelector("#page")!;

/** The address says where one is, so that back, reload and a link do what they should. */
function readAddress(): void {
  const [name = "", ...rest] = decoded(location.hash.slice(1)).split("|");
  view = views.find((each) => each === name) ?? "Map";
  here = rest.join("|") || undefined;
  fromTheTop();
  lookOn();
  drawSoon();
}

/** Lists are drawn anew, as elements that nobody has scrolled. */
function fromTheTop(): void {
  tops.clear();
  times++;
}

/** What somebody has written into the address by hand may be anything. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** The server reads more about what is looked at, as long as it hears of it. */
function lookOn(): void {
  if (here !== undefined && view === "Map" && !document.hidden) void ask("open", { id: here }).catch(() => {});
}

function goTo(next: View, id = ""): void {
  typed = "";
  location.hash = encodeURIComponent(id === "" ? next : `${next}|${id}`);
}

async function ask(path: string, input: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>> {
  const answer = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(input) });
  return answer.headers.get("content-type")?.includes("json")
    ? ((await answer.json()) as Record<string, string>)
    : { problem: await answer.text() };
}

async function plan(): Promise<void> {
  planning = true;
  drawSoon();
  const { text, problem } = await ask("plan", manifest.trim() === "" ? { object: here ?? "" } : { manifest }).catch((error: unknown) => ({
    text: undefined,
    problem: String(error),
  }));
  planned = text ?? problem ?? "";
  planning = false;
  drawSoon();
}

function planView(): readonly Child[] {
  const named = here === undefined ? "everything" : here;
  return [
    h("p", { key: "about" }, "What Fairlead would do, step by step, and why. It is computed from what is there now; nothing is changed."),
    h(
      "p",
      { key: "buttons" },
      h(
        "button",
        { class: "row", style: "width: auto", disabled: planning, click: () => void plan() },
        planning ? "…" : `Plan ${manifest.trim() ? "this manifest" : named}`,
      ),
    ),
    h("textarea", {
      key: "manifest",
      "aria-label": "A manifest that may not exist yet",
      placeholder: "Or paste a manifest with Services, Ingresses, Gateways and their routes here",
      spellcheck: "false",
      input: (event: Event) => {
        manifest = (event.target as HTMLTextAreaElement).value;
        drawSoon();
      },
    }),
    planned === "" ? h("p", { key: "none", class: "quiet" }, "") : h("pre", { key: "plan" }, planned),
  ];
}

function body(current: Known): readonly Child[] {
  const go = (id: string) => goTo("Map", id);
  const scrolled = {
    times,
    top: (key: string) => tops.get(key) ?? 0,
    to: (key: string, top: number) => {
      tops.set(key, top);
      drawSoon();
    },
  };
  const openKind = (next: Kind | undefined) => {
    kind = next;
    fromTheTop();
    drawSoon();
  };
  switch (view) {
    case "Now":
      return nowView(current);
    case "Plan":
      return planView();
    case "Trouble":
      return troubleView(current, go);
    case "Cost":
      return costView(current, go);
    case "Map":
      return mapView(current, { here, kind, go, openKind, scrolled });
  }
}

function page(current: Known): readonly Child[] {
  const { moment, connected } = current;
  const troubles = moment?.troubles ?? [];
  const found = search(current, typed, 50);
  // What concerns everything is said on every view; what concerns one object, where it is looked for.
  const general = view === "Trouble" ? [] : troubles.filter(({ about }) => about === undefined);
  const problems = moment?.problems ?? [];
  return [
    h(
      "header",
      { key: "header" },
      h("h1", {}, "Fairlead"),
      h(
        "nav",
        { "aria-label": "Views" },
        views.map((each) =>
          h(
            "button",
            {
              key: each,
              "aria-current": each === view ? "page" : undefined,
              click: () => goTo(each, each === "Map" || each === "Plan" ? (here ?? "") : ""),
            },
            each,
            each === "Trouble" && troubles.length > 0 ? h("span", { class: "count" }, String(troubles.length)) : undefined,
          ),
        ),
      ),
      h(
        "div",
        { class: "search", role: "search" },
        h("input", {
          type: "search",
          placeholder: "Find by name, host, ARN, address ( / )",
          "aria-label": "Find",
          value: typed,
          input: (event: Event) => {
            typed = (event.target as HTMLInputElement).value;
            drawSoon();
          },
        }),
        typed.trim() === ""
          ? undefined
          : h(
              "div",
              { class: "found" },
              found.length === 0
                ? h("p", { class: "none quiet", role: "status" }, "Nothing is called so.")
                : found.map((thing) => row(thing, (id) => goTo("Map", id))),
            ),
      ),
    ),
    h(
      "main",
      { key: "main", tabindex: -1 },
      h("p", { key: "said", class: "unseen", role: "status" }, troubles.length === 0 ? "" : `In trouble: ${titlesOf(troubles)}`),
      connected
        ? undefined
        : h(
            "div",
            { key: "lost", class: "banner", role: "alert" },
            h(
              "p",
              {},
              h("b", {}, "The dashboard does not answer"),
              " What is shown may be old. Start it again, and open the address that it prints.",
            ),
          ),
      problems.length === 0
        ? undefined
        : h(
            "div",
            { key: "account", class: "banner", role: "alert" },
            h("p", {}, h("b", {}, "Not everything of the account can be read")),
            problems.map((each) => h("p", {}, each)),
            h("p", { class: "remedy" }, "What was read before stays on the page. It reads with your own credentials."),
          ),
      ...general.map((each) => banner(each, moment?.at ?? 0, undefined)),
      h("div", { key: view }, body(current)),
    ),
  ];
}

/** Each once, and not all: it is read out when it changes. */
function titlesOf(troubles: readonly { readonly title: string }[]): string {
  const titles = [...new Set(troubles.map(({ title }) => title))];
  return titles.length > 5 ? `${titles.slice(0, 5).join(", ")} and others` : titles.join(", ");
}

let isDue = false;
function drawSoon(): void {
  if (isDue || known === undefined) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    if (known === undefined) return;
    const hadFocus = document.activeElement !== document.body;
    draw(root, page(known));
    document.title = `${view}: Fairlead`;
    // What had the focus may be gone with the view that it was on: Tab goes on from here, not from the top.
    if (hadFocus && document.activeElement === document.body) document.querySelector("main")?.focus({ preventScroll: true });
  });
}

addEventListener("hashchange", readAddress);
addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
  // With these, keys are the browser's: Ctrl-1 is its first tab.
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    document.querySelector<HTMLInputElement>(".search input")?.focus();
  } else if (event.key === "Escape" && typed !== "") {
    typed = "";
    drawSoon();
  } else if (!isTyping && event.key >= "1" && event.key <= String(views.length)) {
    goTo(views[Number(event.key) - 1]!);
  }
});
let lookedAt = 0;
follow((next) => {
  // The server says something every few seconds: that is the page's clock.
  const { at } = next.moment ?? { at: 0 };
  if (at - lookedAt > 4_000) {
    lookedAt = at;
    lookOn();
  }
  known = next;
  drawSoon();
});
readAddress();
