/** A machine as the node service sees it, without a kernel: its tools do in memory what they say, or fail when they are told to. */
import type { FileFacts, Finished, System } from "../../src/volumes/node/system.ts";

interface MountedHere {
  readonly device: string;
  readonly path: string;
  readonly source: string;
  readonly options: string;
}

const succeeded: Finished = { status: 0, out: "", err: "" };

export class ScriptedMachine implements System {
  /** Device files and their numbers. */
  readonly devices = new Map([["/dev/xvdaa", "202:1"]]);
  /** What is on a device; nothing when it is not there. */
  readonly content = new Map<string, string>();
  readonly files = new Set<string>();
  mounted: MountedHere[] = [];
  /** Every command, in order. */
  readonly commands: string[] = [];
  /** How a tool ends instead. */
  readonly failures = new Map<string, Finished>();
  /** Codes with which looking at a path fails, once. */
  readonly unreadable = new Map<string, string>();
  serial = "";

  async run(tool: string, args: readonly string[]): Promise<Finished> {
    this.commands.push(`${tool} ${args.join(" ")}`);
    const last = args.at(-1) ?? "";
    const failure = this.failures.get(tool);
    if (failure !== undefined) return failure;
    if (tool === "blkid") {
      const type = this.content.get(last);
      return type === undefined ? { status: 2, out: "", err: "" } : { status: 0, out: `TYPE=${type}\n`, err: "" };
    }
    if (tool.startsWith("mkfs.")) this.content.set(last, tool.slice(5));
    if (tool === "mount") this.#mount(args);
    if (tool === "umount") return this.#unmount(last);
    if (tool === "lsblk") return { ...succeeded, out: this.serial };
    if (tool === "blockdev") return { ...succeeded, out: args[0] === "--getro" ? "0\n" : "1073741824\n" };
    return succeeded;
  }

  async runForBytes(tool: string, args: readonly string[]) {
    const { out, ...end } = await this.run(tool, args);
    return { ...end, bytes: Buffer.from(out) };
  }

  #mount(args: readonly string[]): void {
    const options = args[args.indexOf("-o") + 1] ?? "";
    const [source, path] = args.slice(-2) as [string, string];
    const before = this.mounted.findLast((each) => each.path === path);
    const from = this.mounted.findLast((each) => each.path === source);
    if (options.includes("remount")) this.mounted = this.mounted.map((each) => (each === before ? { ...each, options } : each));
    else this.mounted.push({ device: from?.device ?? this.devices.get(source) ?? "", path, source: from?.source ?? source, options: "rw" });
  }

  #unmount(path: string): Finished {
    const last = this.mounted.findLastIndex((each) => each.path === path);
    if (last < 0) return { status: 32, out: "", err: `umount: ${path}: not mounted.` };
    this.mounted.splice(last, 1);
    return succeeded;
  }

  async stat(path: string): Promise<FileFacts | undefined> {
    const code = this.unreadable.get(path);
    this.unreadable.delete(path);
    if (code !== undefined) throw Object.assign(new Error(code), { code });
    const device = this.devices.get(path) ?? this.mounted.findLast((each) => each.path === path && this.#isDevice(each))?.device;
    if (device !== undefined) return { kind: "block", device };
    return this.files.has(path) ? { kind: "directory", device: "0:0" } : undefined;
  }

  /** A device that is mounted as it is. */
  #isDevice({ source, path }: MountedHere): boolean {
    return this.devices.has(source) && !this.content.has(source) && !path.includes("staging");
  }

  async read(path: string): Promise<string> {
    if (path !== "/proc/self/mountinfo") throw new Error(`there is no ${path}`);
    return this.mounted.map(({ device, path: at, source, options }) => `1 2 ${device} / ${at} ${options} - ext4 ${source} rw`).join("\n");
  }

  realPath = async (path: string) => path;
  list = async () => [];
  readable = async () => {};
  makeDirectory = async (path: string) => void this.files.add(path);
  makeFile = async (path: string) => void this.files.add(path);
  remove = async (path: string) => void this.files.delete(path);
  filesystem = async () => ({
    blockSize: 4096n,
    blocks: 2n ** 60n,
    freeBlocks: 2n ** 59n,
    availableBlocks: 9n,
    inodes: 0n,
    freeInodes: 0n,
  });
}
