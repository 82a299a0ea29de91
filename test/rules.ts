/**
 * The rules of the house that no linter knows: who may import whom, who may reach for the machine's own clock and
 * chance, and how long a file may be. Prints each breach as file:line and what to do instead.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export interface Breach {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

const kits = ["kube", "aws", "runtime", "identity"];
/** What every long-running command shares. */
const shared = [...kits, "process"];
const domains = ["nodes", "routes", "loadbalancers", "registry", "volumes", "interruptions", "discovery", "dashboard", "doctor", "e2e"];

/** What each folder of src/ may import besides itself. `commands` wires, so it may import all but the sandbox. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  kube: ["runtime"],
  aws: ["runtime"],
  identity: ["kube", "aws", "runtime"],
  process: kits,
  ...Object.fromEntries(domains.map((domain) => [domain, shared])),
  // It shows the objects that these follow.
  dashboard: [...shared, "loadbalancers", "volumes"],
  commands: [...shared, ...domains],
  main: ["commands", "process", "runtime"],
  sandbox: [...shared, ...domains, "commands", "main"],
};

/** The wings of src/loadbalancers: kinds of load balancer, and front doors. Everything else in it is the core that they share. */
const kinds = ["classic", "network", "application"];
const doors = ["service", "service-class", "ingress", "gateway"];

/** Questions that a value of type LoadBalancerKind answers: whoever asks them elsewhere would have to change for the next kind. */
const kindQuestions: readonly (readonly [RegExp, string])[] = [
  [
    /[!=]==\s*"(classic|network|application)"|"(classic|network|application)"\s*[!=]==/,
    "ask the LoadBalancerKind, or add to the door's table",
  ],
  [/\bcase\s+"(classic|network|application)"/, "ask the LoadBalancerKind, or add to the door's table"],
  [/"(targetGroups|loadBalancer|instances|listeners|rules)"\s+in\b/, "ask the LoadBalancerKind: a field tells of no kind"],
];

/** What only runtime/world.ts may take from the machine, because simulation replaces it. */
const machineGlobals: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\b|\bnew Date\(\)/, "take the time from World.clock"],
  [/\bperformance\.now\b/, "take the time from World.clock"],
  [/\b(setTimeout|setInterval|setImmediate)\(/, "take timers from World.clock"],
  [/\bAbortSignal\.timeout\b/, "use within() of runtime/world.ts"],
  [/\bMath\.random\b/, "take chance from World.random"],
  [/\b(randomBytes|randomUUID|randomInt|getRandomValues)\b/, "take chance from World.random"],
  [/\bprocess\.env\b/, "take the environment from World.environment"],
];

/** Files at the edge, where a real machine is the point. */
const atTheEdge = [/^src\/runtime\/world\.ts$/, /^src\/sandbox\/cluster\/real\//, /^src\/sandbox\/fault-proxy/, /\.test\.ts$/];

const maxLines = 300;

/** Files of src/ that may be longer, because they are tables: rows of data, and next to no code. */
const tables = [
  "src/commands/docs-events.ts",
  "src/doctor/permissions.ts",
  "src/kube/types.ts",
  "src/loadbalancers/ingress/annotations.ts",
  "src/loadbalancers/service-class/annotations.ts",
  "src/sandbox/cluster/embedded/tables.ts",
  "src/sandbox/layout/calls.ts",
  "src/volumes/csi/descriptor.ts",
];

/** Every breach in the given files (paths relative to the repository). */
export function breaches(files: readonly string[], read: (file: string) => string): Breach[] {
  return files.flatMap((file) => {
    const lines = withoutComments(read(file)).split("\n");
    const found = lines.flatMap((text, index) => breachesOfLine(file, text).map((message) => ({ file, line: index + 1, message })));
    return [...found, ...lengthBreach(file, lines.length - 1)];
  });
}

/** A file with two ideas in it is split between them; only tables grow with what they list. */
function lengthBreach(file: string, lines: number): Breach[] {
  if (!file.startsWith("src/") || isTest(file)) return [];
  const isTable = tables.includes(file);
  if (lines > maxLines && !isTable) {
    return [{ file, line: lines, message: `${lines} lines: split it by what it does (or name it a table in test/rules.ts, if it is one)` }];
  }
  return isTable && lines <= maxLines
    ? [{ file, line: lines, message: "no longer needs to be named among the tables of test/rules.ts" }]
    : [];
}

function breachesOfLine(file: string, text: string): string[] {
  const found: string[] = [];
  const imported = /(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/.exec(text)?.[1];
  if (imported) {
    const message = importBreach(file, normalize(join(dirname(file), imported)), /import\s*\(/.test(text));
    if (message) found.push(message);
  }
  if (/^src\/(loadbalancers|commands)\//.test(file) && !isTest(file) && !kinds.includes(wingOf(file))) {
    for (const [pattern, instead] of kindQuestions) {
      if (pattern.test(text)) found.push(`${pattern.exec(text)?.[0]}: ${instead}`);
    }
  }
  if (/"kubernetes-types\//.test(text)) found.push("take types of Kubernetes objects from src/kube/types.ts (npm run types makes it)");
  if (/"@kubernetes\/client-node/.test(text)) found.push("the official Kubernetes client is not used at run time");
  if (file.startsWith("src/") && !atTheEdge.some((edge) => edge.test(file))) {
    for (const [pattern, instead] of machineGlobals) {
      if (pattern.test(text)) found.push(`${pattern.exec(text)?.[0]}: ${instead}`);
    }
    const builder = /\bnew (?:EC2|ElasticLoadBalancing\w*|ECR\w*|STS|SQS|ACM|IAM)Client\(/.exec(text)?.[0];
    if (builder && !/^src\/(aws|sandbox)\//.test(file)) found.push(`${builder}: only aws/ constructs AWS clients`);
  }
  return found;
}

function importBreach(file: string, target: string, dynamic: boolean): string | undefined {
  const from = roomOf(file);
  const to = roomOf(target);
  if (from === "loadbalancers" && to === from) return wingBreach(file, target);
  if (!from || !to || from === to) return undefined;
  if (file.endsWith(".test.ts") && to === "sandbox") return undefined;
  if (to === "sandbox" && from === "commands" && dynamic) return undefined;
  if (mayImport[from]?.includes(to)) return undefined;
  const allowed = mayImport[from]?.join(", ") || "nothing else";
  return `${from}/ may not import ${to}/ (it may import ${allowed})${to === "sandbox" ? "; its command imports it dynamically" : ""}`;
}

/** A kind plans and knows no door; a door knows kinds, and no other door; the core knows neither. Tests may put them together. */
function wingBreach(file: string, target: string): string | undefined {
  const [from, to] = [wingOf(file), wingOf(target)];
  if (isTest(file) || from === to) return undefined;
  if (doors.includes(to)) return `${from || "the core of load balancers"} may not import the door ${to}/`;
  if (kinds.includes(to) && !doors.includes(from)) return `${from || "the core of load balancers"} may not import the kind ${to}/`;
  return undefined;
}

function wingOf(path: string): string {
  return /^src\/loadbalancers\/([^/]+)\//.exec(path)?.[1] ?? "";
}

const isTest = (file: string) => /\.(test|fixture)\.ts$/.test(file);

function roomOf(path: string): string | undefined {
  const match = /^src\/([^/]+)/.exec(path);
  return match?.[1]?.replace(/(\.test)?\.ts$/, "");
}

/** Comments blanked out, lines kept. Strings stay: an import is one. */
function withoutComments(source: string): string {
  return source
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "))
    .replace(/(^|[^:"'`])\/\/[^\n]*/g, (match, before: string) => before + " ".repeat(match.length - before.length));
}

function main(): void {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "src", "test", "bench"], {
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => file.endsWith(".ts") && existsSync(file));
  const found = breaches(files, (file) => readFileSync(file, "utf8"));
  for (const { file, line, message } of found) console.error(`${file}:${line}: ${message}`);
  if (found.length > 0) process.exitCode = 1;
}

if (import.meta.main) main();
