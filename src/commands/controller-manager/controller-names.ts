/** The controllers this process can run, by the names flags, health checks, logs and metrics know them under. */

/** One controller's names. */
export interface ControllerName {
  /** In flags, health checks and logs. */
  readonly name: string;
  /** The name older command lines use. */
  readonly alias: string;
  /** Names a leader-migration file may use besides the canonical one. */
  readonly historical: readonly string[];
  readonly onByDefault: boolean;
  /** The client's name: in the user agent, and the service account with `--use-service-account-credentials`. */
  readonly client: string;
  /** The source of its Events. */
  readonly component: string;
  /** In `running_managed_controllers`; undefined when not reported there. */
  readonly metric: string | undefined;
  /** The source of its Events. */
  readonly eventSource: string;
  /** The queue's name in `workqueue_*`. */
  readonly queue: string;
}

/** Every controller, on or off by default. */
export const controllerNames = {
  "cloud-node-controller": {
    name: "cloud-node-controller",
    alias: "cloud-node",
    historical: [],
    onByDefault: true,
    client: "node-controller",
    component: "cloud-node-controller",
    metric: "cloud-node",
    eventSource: "cloud-node-controller",
    queue: "Nodes",
  },
  "cloud-node-lifecycle-controller": {
    name: "cloud-node-lifecycle-controller",
    alias: "cloud-node-lifecycle",
    historical: [],
    onByDefault: true,
    client: "node-controller",
    component: "cloud-node-lifecycle-controller",
    metric: "cloud-node-lifecycle",
    eventSource: "cloud-node-lifecycle-controller",
    queue: "cloud-node-lifecycle",
  },
  "service-lb-controller": {
    name: "service-lb-controller",
    alias: "service",
    historical: ["service-controller"],
    onByDefault: true,
    client: "service-controller",
    component: "service-controller",
    metric: "service",
    eventSource: "service-controller",
    queue: "service",
  },
  "node-route-controller": {
    name: "node-route-controller",
    alias: "route",
    historical: ["route-controller"],
    onByDefault: true,
    client: "route-controller",
    component: "route_controller",
    metric: "route",
    eventSource: "route_controller",
    queue: "Routes",
  },
  tagging: {
    name: "tagging",
    alias: "tagging",
    historical: [],
    onByDefault: false,
    client: "tagging-controller",
    component: "tagging-controller",
    metric: undefined,
    eventSource: "tagging-controller",
    queue: "tagging-controller",
  },
} as const satisfies Readonly<Record<string, ControllerName>>;

/** The name of one of them in flags, health checks and logs. */
export type CanonicalName = keyof typeof controllerNames;

/** All canonical names, sorted. */
export const canonicalNames = (Object.keys(controllerNames) as CanonicalName[]).sort();

/** Items of `--controllers` with aliases replaced by canonical names. */
export function canonicalSelection(items: readonly string[]): string[] {
  const byAlias = new Map<string, string>(Object.values(controllerNames).map(({ alias, name }) => [alias, name]));
  return items.map((item) => {
    const minus = item.startsWith("-") ? "-" : "";
    const name = item.slice(minus.length);
    return minus + (byAlias.get(name) ?? name);
  });
}

/** What is wrong with a selection, one message an unknown name. */
export function selectionProblems(items: readonly string[]): string[] {
  return canonicalSelection(items)
    .filter((item) => item !== "*")
    .map((item) => item.replace(/^-/, ""))
    .filter((name) => !Object.hasOwn(controllerNames, name))
    .map((name) => `${JSON.stringify(name)} is not in the list of known controllers`);
}

/** Whether a selection runs a controller: the first mention by name decides, else `*` for those on by default. */
export function isSelected(name: CanonicalName, items: readonly string[]): boolean {
  const selection = canonicalSelection(items);
  const mention = selection.find((item) => item === name || item === `-${name}`);
  if (mention !== undefined) return mention === name;
  return selection.includes("*") && controllerNames[name].onByDefault;
}
