/** The live view as lines of text: pure, so that what is seen can be tested. */
import { isAbsence, isThrottle, type Tally } from "../calls.ts";
import type { ReplicaView } from "../replicas.ts";
import { type BalancerRow, balancerOf, type NodeRow, type Picture, type ServiceRow, shortName, totals } from "./picture.ts";
import type { Happening } from "./story.ts";
import { type Column, cut, fill, type Line, line, type Piece, type Style, spread, table } from "./text.ts";

/** What the view shows besides the picture. */
export interface Scenery {
  readonly story: readonly Happening[];
  /** The machine that keys act on. */
  readonly selected: string | undefined;
  /** What the last key did. */
  readonly message: string;
  /** Shown instead of everything while there is one. */
  readonly help: readonly string[] | undefined;
  /** The keys, in a few words each. */
  readonly keys: string;
  readonly uptimeMs: number;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Exactly `rows` lines, none wider than `columns`. */
export function drawScreen(picture: Picture, scenery: Scenery, { columns, rows }: Size): readonly Line[] {
  const head = [
    spread(line(["bar", ` Fairlead sandbox   ${picture.title}`]), line(["bar", `up ${clockOf(scenery.uptimeMs)} `]), columns, "bar"),
    cut(statusLine(picture), columns),
    line(),
  ];
  const foot = [
    spread(line(" ", ["accent", scenery.message]), line(["dim", "? help  q quit "]), columns),
    cut(line(["dim", ` ${scenery.keys}`]), columns),
  ];
  const room = Math.max(0, rows - head.length - foot.length);
  const middle =
    scenery.help === undefined ? body(picture, scenery, columns, room) : scenery.help.map((text) => cut(line(` ${text}`), columns));
  const shown = middle.slice(0, room);
  const blank = Array.from({ length: room - shown.length }, () => line());
  return [...head, ...shown, ...blank, ...foot].slice(0, rows);
}

function body(picture: Picture, scenery: Scenery, columns: number, room: number): readonly Line[] {
  const upper = [
    ...nodesBlock(picture, scenery.selected, columns, Math.max(3, Math.floor(room / 2) - 1)),
    ...servicesBlock(picture, columns),
  ];
  const lower = Math.max(0, room - upper.length);
  if (columns >= 120) {
    const left = Math.floor(columns * 0.58);
    const [story, calls] = [storyBlock(scenery, left, lower), callsBlock(picture, columns - left - 2, lower)];
    return [
      ...upper,
      ...Array.from({ length: lower }, (_, row) => [...fill(story[row] ?? [], left), ...line("  "), ...(calls[row] ?? [])]),
    ];
  }
  const forCalls = lower >= 14 ? Math.floor(lower / 3) : 0;
  return [...upper, ...storyBlock(scenery, columns, lower - forCalls), ...callsBlock(picture, columns, forCalls)];
}

function statusLine({ replicas, calls, throttling, balancers, routes }: Picture): Line {
  const { calls: count, throttled, failed } = totals(calls.tallies);
  const counted = [`${count} calls`, ...(throttled > 0 ? [`${throttled} throttled`] : []), ...(failed > 0 ? [`${failed} failed`] : [])];
  return line(
    ["dim", " replicas "],
    ...replicas.flatMap((replica) => [...replicaParts(replica), "  "]),
    ["dim", " AWS "],
    throttling ? ["warn", "▲ throttling"] : ["good", "● answering"],
    `  ${counted.join(", ")}`,
    ["dim", `${alsoThere(balancers.length, "load balancer")}${alsoThere(routes.length, "pod route")}`],
  );
}

function alsoThere(count: number, what: string): string {
  return count === 0 ? "" : ` · ${count} ${what}${count === 1 ? "" : "s"}`;
}

const replicaStyles: Readonly<Record<ReplicaView["state"], readonly [Style, string]>> = {
  leading: ["good", "● leads"],
  "standing by": ["plain", "○ standby"],
  starting: ["warn", "○ starts"],
  down: ["bad", "✗ down"],
};

function replicaParts({ name, state, cutOff }: ReplicaView): readonly (string | readonly [Style, string])[] {
  return [["bold", `${name} `], replicaStyles[state], ...(cutOff ? ([["bad", " cut off"]] as const) : [])];
}

function nodesBlock(picture: Picture, selected: string | undefined, columns: number, most: number): readonly Line[] {
  const { heading, lines } = table(nodeColumns(picture), picture.nodes, columns - 3);
  const marked = lines.map((each, index): Line => {
    const here = selected !== undefined && picture.nodes[index]?.instanceId === selected;
    return [{ text: here ? " ▸ " : "   ", style: "accent" }, ...each];
  });
  const chosen = picture.nodes.findIndex(({ instanceId }) => instanceId !== undefined && instanceId === selected);
  return [line("   ", ...asParts(heading)), ...around(marked, chosen, most), line()];
}

/** As many as fit, the chosen one among them; what is left out is counted. */
function around(lines: readonly Line[], chosen: number, most: number): readonly Line[] {
  if (lines.length <= most) return lines;
  const room = most - 1;
  const first = Math.min(Math.max(0, chosen - room + 1), lines.length - room);
  return [...lines.slice(first, first + room), line(["dim", `   … and ${lines.length - room} more`])];
}

const nodeColumns = ({ routes }: Picture): readonly Column<NodeRow>[] => [
  { title: "NODE", rank: 1, cell: ({ node }) => (node ? plain(shortName(node.name)) : { text: "(none)", style: "dim" }) },
  { title: "STATE", rank: 1, cell: nodeState },
  { title: "MACHINE", rank: 7, cell: ({ instanceId }) => plain(instanceId ?? "–") },
  { title: "EC2", rank: 3, cell: machineState },
  { title: "TYPE", rank: 4, cell: ({ node }) => plain(node?.type ?? "–") },
  { title: "ZONE", rank: 2, cell: ({ node }) => plain(node?.zone ?? "–") },
  { title: "ADDRESS", rank: 5, cell: ({ node }) => plain(node?.internalIp ?? "–") },
  { title: "PODS", rank: 8, cell: ({ node }) => podsCell(node?.podCidr, routes) },
  { title: "TAINTS", rank: 2, cell: ({ node }) => ({ text: node?.taints.join(" ") || "–", style: node?.taints.length ? "warn" : "dim" }) },
];

function nodeState({ node }: NodeRow): Piece {
  if (node === undefined) return { text: "–", style: "dim" };
  return node.ready === "True" ? { text: "Ready", style: "good" } : { text: "NotReady", style: "bad" };
}

/** Green when a route leads there. */
function podsCell(podCidr: string | undefined, routes: Picture["routes"]): Piece {
  const routed = podCidr !== undefined && routes.some(({ destination }) => destination === podCidr);
  return routed ? { text: podCidr, style: "good" } : plain(podCidr ?? "–");
}

function machineState({ machine }: NodeRow): Piece {
  if (machine === undefined) return { text: "unknown", style: "dim" };
  return { text: machine, style: machine === "running" ? "good" : machine === "pending" ? "accent" : "bad" };
}

function servicesBlock(picture: Picture, columns: number): readonly Line[] {
  if (picture.services.length === 0) return [];
  const { heading, lines } = table(serviceColumns(picture), picture.services, columns - 3);
  return [line("   ", ...asParts(heading)), ...lines.slice(0, 6).map((each) => line("   ", ...asParts(each))), line()];
}

const serviceColumns = (picture: Picture): readonly Column<ServiceRow>[] => [
  { title: "SERVICE", rank: 1, cell: ({ name }) => plain(name) },
  { title: "KIND", rank: 2, cell: ({ kind }) => plain(kind) },
  { title: "PORTS", rank: 3, cell: ({ ports }) => plain(ports) },
  { title: "HEALTHY", rank: 1, cell: (service) => health(balancerOf(service, picture)) },
  {
    title: "LOAD BALANCER",
    rank: 1,
    cell: ({ address, deleting }) =>
      deleting ? { text: "being deleted", style: "warn" } : address ? { text: address, style: "good" } : { text: "waiting", style: "warn" },
  },
];

function health(balancer: BalancerRow | undefined): Piece {
  if (balancer === undefined) return plain("–");
  const { healthy, targets } = balancer;
  return { text: `${healthy} of ${targets}`, style: healthy === targets && targets > 0 ? "good" : "warn" };
}

function storyBlock({ story }: Scenery, columns: number, room: number): readonly Line[] {
  if (room < 2) return [];
  const lines = story
    .slice(1 - room)
    .map(({ at, who, text, style }) =>
      cut(line(["dim", ` ${timeOf(at)}  `], [who === "Fairlead" ? "bold" : "dim", who.padEnd(11)], [style, text]), columns),
    );
  return [line(["dim", " WHAT HAPPENS"]), ...lines];
}

function callsBlock({ calls }: Picture, columns: number, room: number): readonly Line[] {
  if (room < 2) return [];
  const tallies = calls.tallies.toSorted((a, b) => b.calls - a.calls);
  const summed = tallies.slice(0, Math.max(1, Math.floor(room / 3))).map((tally) => cut(line("  ", ...tallyParts(tally)), columns));
  const recent = calls.recent
    .slice(-Math.max(0, room - summed.length - 2))
    .map(({ at, who, action, result, tookMs }) =>
      cut(
        line(["dim", ` ${timeOf(at)}  `], who === "you" ? ["accent", "you "] : "", action, " ", resultPart(result), [
          "dim",
          ` ${Math.round(tookMs)} ms`,
        ]),
        columns,
      ),
    );
  return [line(["dim", " AWS CALLS"]), ...summed, line(), ...recent].slice(0, room);
}

function tallyParts({ action, calls, throttled, failed }: Tally): readonly (string | readonly [Style, string])[] {
  return [
    `${String(calls).padStart(4)}  ${action}`,
    ["warn", throttled > 0 ? `  ${throttled} throttled` : ""],
    ["bad", failed > 0 ? `  ${failed} failed` : ""],
  ];
}

function resultPart(result: string): readonly [Style, string] {
  if (result === "ok") return ["good", "ok"];
  return [isThrottle(result) ? "warn" : isAbsence(result) ? "dim" : "bad", result];
}

function plain(text: string): Piece {
  return { text, style: text === "–" ? "dim" : "plain" };
}

function asParts(of: Line): readonly (readonly [Style, string])[] {
  return of.map(({ style, text }) => [style, text]);
}

/** `14:03:07`, in UTC as Kubernetes tells time. */
export function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}

function clockOf(ms: number): string {
  const total = Math.floor(ms / 1000);
  return `${Math.floor(total / 60)}:${String(total % 60).padStart(2, "0")}`;
}
