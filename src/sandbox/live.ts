/** The sandbox for somebody who watches: a view that follows the world, and keys that break it. */
import { spawn } from "node:child_process";
import type { ReadStream, WriteStream } from "node:tty";
import { sleep } from "../runtime/world.ts";
import { type Action, actionsFor } from "./actions.ts";
import { openSandboxDashboard } from "./dashboard.ts";
import type { Access, Sandbox } from "./sandbox.ts";
import { emptied, type Picture } from "./view/picture.ts";
import { drawScreen, timeOf } from "./view/screen.ts";
import { type Happening, storyBetween } from "./view/story.ts";
import { openTerminal } from "./view/terminal.ts";

const redrawMs = 125;
const storyKept = 200;

/** Until it is ended: on the terminal or in plain lines, and on a page for the browser. */
export async function showLive(sandbox: Sandbox, watched: boolean, print: (text: string) => void, stop: AbortSignal): Promise<void> {
  const dashboard = await openSandboxDashboard(sandbox, stop);
  try {
    print(`In a browser: ${dashboard.address()}\n\n`);
    if (watched && process.stdin.isTTY) await watchLive(sandbox, () => dashboard.address(), process.stdin, process.stdout, stop);
    else await tellPlainly(sandbox, print, stop);
  } finally {
    await dashboard.close();
  }
}

/** Shows the world on a terminal until `q`, Ctrl-C or the signal. */
async function watchLive(sandbox: Sandbox, page: () => string, input: ReadStream, output: WriteStream, signal: AbortSignal): Promise<void> {
  const { clock } = sandbox.world;
  const began = clock.monotonic();
  const quit = new AbortController();
  const until = AbortSignal.any([signal, quit.signal]);
  const actions = [...actionsFor(sandbox), showsPage(page)];
  let last: Picture = emptied(sandbox.picture());
  let story: readonly Happening[] = [];
  let selected: string | undefined;
  let message = "";
  let helping = false;

  const press = (key: string): void => {
    const rows = last.nodes.flatMap(({ instanceId }) => (instanceId === undefined ? [] : [instanceId]));
    const at = rows.indexOf(selected ?? "");
    if (key === "q" || key === "ctrl-c") quit.abort();
    else if (key === "?" || helping) helping = !helping;
    else if (key === "up") selected = rows[Math.max(0, at - 1)];
    else if (key === "down") selected = rows[Math.min(rows.length - 1, at + 1)];
    else void act(actions.find((action) => action.key === key));
    draw();
  };
  const act = async (action: Action | undefined): Promise<void> => {
    try {
      if (action !== undefined) message = await action.run(selected);
    } catch (error) {
      message = `that did not work: ${error instanceof Error ? error.message : error}`;
    }
  };
  const draw = (): void => {
    const now = sandbox.picture();
    story = [...story, ...storyBetween(last, now)].slice(-storyKept);
    last = now;
    if (!now.nodes.some(({ instanceId }) => instanceId === selected)) selected = now.nodes[0]?.instanceId;
    const keys = actions.map(({ key, short }) => `${key} ${short}`).join("  ");
    const help = helping ? helpText(actions, sandbox.access) : undefined;
    terminal.draw(drawScreen(now, { story, selected, message, help, keys, uptimeMs: clock.monotonic() - began }, terminal.size()));
  };

  const terminal = openTerminal(input, output, press, () => draw());
  try {
    while (!until.aborted) {
      draw();
      await sleep(clock, redrawMs, until).catch(() => {});
    }
  } finally {
    terminal.close();
  }
}

/** Every press has an address of its own: each is good for one browser. */
function showsPage(page: () => string): Action {
  return {
    key: "w",
    short: "page",
    long: "open the dashboard in a browser",
    async run() {
      const address = page();
      const opener = spawn(process.platform === "darwin" ? "open" : "xdg-open", [address], { detached: true, stdio: "ignore" });
      opener.on("error", () => {});
      opener.unref();
      return address;
    },
  };
}

/** Tells the world's story in plain lines until the signal, for pipes and files. */
async function tellPlainly(sandbox: Sandbox, print: (text: string) => void, signal: AbortSignal): Promise<void> {
  let last = emptied(sandbox.picture());
  while (!signal.aborted) {
    const now = sandbox.picture();
    for (const { at, who, text } of storyBetween(last, now)) print(`${timeOf(at)}  ${who.padEnd(11)}${text}\n`);
    last = now;
    await sleep(sandbox.world.clock, redrawMs, signal).catch(() => {});
  }
}

function helpText(actions: readonly Action[], { file, logs }: Access): readonly string[] {
  return [
    "Fairlead runs here as in production, only faster. The cloud and the machines are simulated.",
    "",
    ...actions.map(({ key, long }) => `  ${key}    ${long}`),
    "  ↑ ↓  choose the machine that keys act on",
    "  q    end the sandbox; nothing is left behind",
    "",
    "In another terminal:",
    "",
    `  . ${file}`,
    "  kubectl get nodes -o wide --watch",
    "  aws ec2 describe-instances --output table",
    `  tail -f ${logs}`,
    "",
    "Any key closes this.",
  ];
}
