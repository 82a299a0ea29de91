/** Everything that is shipped, in `dist/`: the program, and the credential provider's executables. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

for (const part of ["bundle.ts", "credential-provider.ts"]) {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, part)], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
