/** moto's server in a process of its own, which ends with the test's. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { World } from "../../../src/runtime/world.ts";
import { freePort } from "../../../src/sandbox/cluster/real/free-port.ts";
import { startServer } from "../../../src/sandbox/cluster/real/server-process.ts";
import { supervise } from "../../../src/sandbox/cluster/real/supervision.ts";
import { obtainPython } from "../python.ts";

export interface Moto {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  stop(): Promise<void>;
}

const settings = {
  // Its 1,301 stock images take a second to load and serve nobody here.
  MOTO_EC2_LOAD_DEFAULT_AMIS: "false",
  // It walks sets, and which item comes first shows in some answers.
  PYTHONHASHSEED: "0",
};

/** Starts moto and waits until it answers. */
export async function startMoto(world: World): Promise<Moto> {
  const { moto } = await obtainPython({ world, say: (line) => process.stderr.write(`${line}\n`) });
  const folder = await mkdtemp(join(tmpdir(), "fairlead-moto-"));
  const supervision = await supervise(folder);
  try {
    const port = await freePort(world);
    const url = `http://127.0.0.1:${port}`;
    await startServer({
      world: { ...world, environment: { ...world.environment, ...settings } },
      supervision,
      name: "moto",
      command: moto.command,
      args: [...moto.args, "-H", "127.0.0.1", "-p", `${port}`],
      folder,
      ready: async () => (await fetch(`${url}/moto-api/data.json`)).ok,
    });
    // From here on the same calls in the same order give the same ids and addresses.
    const seeded = await fetch(`${url}/moto-api/seed?a=1`, { method: "POST" });
    if (!seeded.ok) throw new Error(`moto refused its seed: ${seeded.status}`);
    return { url, stop: () => supervision.close() };
  } catch (error) {
    await supervision.close();
    throw error;
  }
}
