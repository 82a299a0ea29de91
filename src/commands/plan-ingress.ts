/** `fairlead plan ingress/NAME`, and the Ingresses of a manifest: what would be done for their groups. */
import { planJson } from "../aws/plan.ts";
import { isApiError } from "../kube/errors.ts";
import { type GroupPreview, groupTitle } from "../loadbalancers/ingress/preview.ts";
import { keyOf } from "../loadbalancers/ingress/view.ts";
import { exitStatus } from "../process/exit.ts";
import type { Clock } from "../runtime/world.ts";
import type { Console } from "./command.ts";
import { type Live, NotPossible } from "./live.ts";
import { type Overlay, openIngresses } from "./live-ingress.ts";
import { painter, stepLines } from "./plan-text.ts";

/** `ingress/web`, `ing/shop/web`: namespace and name; undefined where another kind is named. */
export function ingressNamed(word: string, namespace: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, path] = /^(?:ingresse?s?|ing)\/(.+)$/.exec(word) ?? [];
  if (path === undefined) return undefined;
  const [first = "", second, ...more] = path.split("/");
  if (first === "" || second === "" || more.length > 0)
    throw new NotPossible(`${JSON.stringify(word)} names no Ingress: write ingress/NAME`);
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}

/** Those that are named, or those of a manifest; each group once. */
export async function planIngresses(
  names: readonly { readonly namespace: string; readonly name: string }[],
  overlay: Overlay,
  live: Live,
  clock: Clock,
): Promise<PlannedIngresses> {
  const { all, preview } = await openIngresses(live, clock, overlay);
  const ofManifest = overlay.ingresses.map(({ metadata }) => ({
    namespace: metadata?.namespace ?? live.namespace,
    name: metadata?.name ?? "",
  }));
  const previews = new Map<string, GroupPreview>();
  for (const wanted of [...names, ...ofManifest]) {
    const found = all.find(({ view }) => keyOf(view) === keyOf(wanted));
    if (found === undefined) throw new NotPossible(`there is no Ingress ${keyOf(wanted)}`);
    const seen = await preview(found.view);
    previews.set(groupTitle(seen.group), seen);
  }
  return { previews: [...previews.values()], refused: new Map() };
}

/** Those of the whole cluster; a text says why nobody can tell. */
export async function planAllIngresses(live: Live, clock: Clock): Promise<PlannedIngresses | string> {
  try {
    const { previewAll } = await openIngresses(live, clock);
    return await previewAll();
  } catch (error) {
    if (isApiError(error, "forbidden")) return `Ingresses are left out: ${error.message}`;
    throw error;
  }
}

export interface PlannedIngresses {
  readonly previews: readonly GroupPreview[];
  /** Why Ingresses are served by nobody, by their keys. */
  readonly refused: ReadonlyMap<string, string>;
}

/** The status that the command ends with, by what would be done. */
export function statusOf({ previews, refused }: PlannedIngresses): number {
  if (refused.size > 0 || previews.some(({ problems, faults }) => problems.length > 0 || faults.size > 0)) return exitStatus.failed;
  return previews.some(({ steps }) => steps.length > 0) ? exitStatus.changes : exitStatus.done;
}

export function ingressesAsJson({ previews, refused }: PlannedIngresses): readonly object[] {
  const unserved = [...refused].map(([key, message]) => ({ ingress: key, steps: [], problems: [message] }));
  const groups = previews.map(({ group, steps, problems, faults, warnings }) => ({
    group: groupTitle(group),
    steps: planJson(steps),
    problems,
    faults: Object.fromEntries(faults),
    warnings: Object.fromEntries(warnings),
  }));
  return [...groups, ...unserved];
}

export function ingressesAsText({ previews, refused }: PlannedIngresses, console: Console): string {
  const paint = painter(console);
  const lines = previews.flatMap(({ group, steps, problems, faults, warnings }) => [
    `${groupTitle(group)}: ${problems.length > 0 ? "is wrong and is not applied; what exists in AWS stays as it is" : counted(steps.length)}`,
    ...problems.map((message) => paint(`  ! ${message}`, "delete")),
    ...[...faults].flatMap(([key, texts]) => texts.map((text) => paint(`  ! ${key}: ${text}; it keeps what it has`, "delete"))),
    ...[...warnings].flatMap(([key, texts]) => texts.map((text) => paint(`  ? ${key}: ${text}`, "change"))),
    ...stepLines(steps, paint),
  ]);
  const unserved = [...refused].map(([key, message]) => paint(`  ! Ingress ${key} is not served: ${message}`, "delete"));
  return [...lines, ...unserved].map((line) => `${line}\n`).join("");
}

const counted = (steps: number) => (steps === 0 ? "nothing to do" : steps === 1 ? "1 step" : `${steps} steps`);
