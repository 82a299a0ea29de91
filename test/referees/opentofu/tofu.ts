/** Steps of the layouts, run by OpenTofu: each with inputs and a state of its own, in a folder that goes with the test. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { referenceOpenTofu } from "../reference.ts";
import { attachProvider, type Provider } from "./plugin.ts";

/** Where the layouts are. */
export const layoutsFolder = fileURLToPath(new URL("../../../deploy/terraform/", import.meta.url));

/** What a command printed, and the status it ended with. */
export interface Ran {
  readonly status: number;
  readonly output: string;
}

/** What a plan does to one resource: `create`, `update`, `delete,create`; what stays as it is is left out. */
export type Actions = Readonly<Record<string, string>>;

export interface Tofu {
  /** Runs a command in a folder below the layouts. */
  run(folder: string, args: readonly string[]): Promise<Ran>;
  /** One step with its own state: `with-nat/base-infrastructure`. */
  step(name: string, path: string): Step;
}

/** OpenTofu with this provider attached. */
export async function startTofu(t: Pick<TestContext, "after">, provider: Provider): Promise<Tofu> {
  const program = await referenceOpenTofu();
  const folder = await mkdtemp(join(tmpdir(), "fairlead-opentofu-"));
  const attached = await attachProvider(provider, join(folder, "provider"));
  t.after(async () => {
    attached.stop();
    await rm(folder, { recursive: true, force: true });
  });
  await writeFile(join(folder, "settings"), "");
  const initialised = new Map<string, Promise<Ran>>();
  const run = (path: string, args: readonly string[]) =>
    ran(program, args, resolve(layoutsFolder, path), {
      ...process.env,
      ...attached.environment,
      TF_CLI_CONFIG_FILE: join(folder, "settings"),
      TF_DATA_DIR: join(folder, path.replaceAll("/", "-")),
      TF_IN_AUTOMATION: "yes",
      CHECKPOINT_DISABLE: "1",
    });
  const initialise = async (path: string) => {
    const once = initialised.get(path) ?? run(path, ["init", "-input=false", "-no-color", "-backend=false"]);
    initialised.set(path, once);
    const { status, output } = await once;
    if (status !== 0) throw new Error(`init of ${path} failed:\n${output}`);
  };
  return {
    run: async (path, args) => {
      await initialise(path);
      return await run(path, args);
    },
    step: (name, path) =>
      new Step(join(folder, name), async (args) => {
        await initialise(path);
        return await run(path, args);
      }),
  };
}

/** One run of a root module for one cluster or node: its state survives between commands. */
export class Step {
  readonly #files: string;
  readonly #run: (args: readonly string[]) => Promise<Ran>;

  constructor(files: string, run: (args: readonly string[]) => Promise<Ran>) {
    this.#files = files;
    this.#run = run;
  }

  get stateFile(): string {
    return `${this.#files}.tfstate`;
  }

  /** What applying these inputs would do. */
  async plan(inputs: object): Promise<Actions> {
    const plan = `${this.#files}.plan`;
    const { status } = await this.#ok("plan", inputs, ["-detailed-exitcode", `-out=${plan}`], [0, 2]);
    if (status === 0) return {};
    const { output } = await this.#run(["show", "-json", "-no-color", plan]);
    return actionsOf(JSON.parse(output.slice(output.indexOf("{"))) as PlanDocument);
  }

  async apply(inputs: object, ...args: readonly string[]): Promise<void> {
    await this.#ok("apply", inputs, ["-auto-approve", ...args]);
  }

  /** Applies inputs that must be refused, and gives what OpenTofu says of them, in one line. */
  async refused(inputs: object): Promise<string> {
    const { output } = await this.#ok("plan", inputs, [], [1]);
    return output.replace(/\s*[│╷╵]\s*/g, " ").replace(/\s+/g, " ");
  }

  async destroy(inputs: object, ...args: readonly string[]): Promise<void> {
    await this.#ok("destroy", inputs, ["-auto-approve", ...args]);
  }

  async outputs(): Promise<Readonly<Record<string, unknown>>> {
    const { outputs } = await this.state();
    return Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));
  }

  async state(): Promise<StateFile> {
    return JSON.parse(await readFile(this.stateFile, "utf8")) as StateFile;
  }

  async #ok(command: string, inputs: object, args: readonly string[], allowed: readonly number[] = [0]): Promise<Ran> {
    const file = `${this.#files}.tfvars.json`;
    await writeFile(file, JSON.stringify(inputs));
    const result = await this.#run([command, "-input=false", "-no-color", `-state=${this.stateFile}`, `-var-file=${file}`, ...args]);
    if (!allowed.includes(result.status)) throw new Error(`tofu ${command} ended with status ${result.status}:\n${result.output}`);
    return result;
  }
}

/** The parts of a state file that tests look at. */
export interface StateFile {
  readonly outputs: Readonly<Record<string, { readonly value: unknown }>>;
  readonly resources: readonly {
    readonly module?: string;
    readonly mode: "managed" | "data";
    readonly type: string;
    readonly name: string;
    readonly instances: readonly { readonly index_key?: number | string; readonly attributes: Readonly<Record<string, unknown>> }[];
  }[];
}

/** `module.vpc.aws_vpc.kube[0]` and so on, for everything that a state manages. */
export function addressesIn({ resources }: StateFile): string[] {
  return resources
    .filter(({ mode }) => mode === "managed")
    .flatMap(({ module, type, name, instances }) =>
      instances.map(({ index_key: key }) => {
        const index = key === undefined ? "" : `[${JSON.stringify(key)}]`;
        return `${module === undefined ? "" : `${module}.`}${type}.${name}${index}`;
      }),
    )
    .sort();
}

interface PlanDocument {
  readonly resource_changes?: readonly { readonly address: string; readonly change: { readonly actions: readonly string[] } }[];
}

function actionsOf({ resource_changes = [] }: PlanDocument): Actions {
  const changes = resource_changes.filter(({ change }) => !["no-op", "read"].includes(change.actions.join()));
  return Object.fromEntries(changes.map(({ address, change }) => [address, change.actions.join()]));
}

function ran(program: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string | undefined>>): Promise<Ran> {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const keep = (text: string) => {
    output += text;
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve({ status: status ?? -1, output }));
  });
}
