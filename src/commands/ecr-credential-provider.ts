/** `fairlead ecr-credential-provider`: what kubelet runs before it pulls an image from Amazon ECR. */

import { build } from "../process/build.ts";
import { nodePlatform, readStdin } from "../registry/platform-node.ts";
import { runProgram } from "../registry/program.ts";
import type { Command } from "./command.ts";

/** Answers the request on standard input, or runs one of the operator's tools; resolves with the exit status. */
export const run: Command = ({ argv, world, console }) =>
  runProgram(argv, {
    world,
    platform: nodePlatform,
    version: build.version,
    pid: process.pid,
    readStdin,
    writeStdout: async (text) => console.out(text),
    writeStderr: (text) => console.err(text),
  });
