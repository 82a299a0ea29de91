import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeaderElectionFlags } from "../../process/flags.ts";
import { parseFlags } from "../../runtime/flags.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import type { Options } from "../controller-manager/flags.ts";
import { clusterPrograms } from "./cluster-programs.ts";
import { processFlags } from "./flags.ts";
import { check, settle } from "./settle.ts";

const flags = processFlags("fairlead-cluster");

const read = (text: string, ...argv: string[]) => {
  const { files } = virtualWorld(1, { files: { "/f": text } });
  return settle(parseFlags(flags, ["--config=/f", ...argv]), flags, clusterPrograms, files);
};

test("a program has its own flags from its section, and those of the process from the process", async () => {
  const { options, programs } = await read(
    "process: {v: 3, secure-port: 1234, dry-run: true}\ncontroller-manager: {cluster-name: shop, concurrent-service-syncs: 7}",
    "--secure-port=4321",
    "--leader-elect-resource-namespace=fairlead",
  );
  assert.deepEqual([options.v, options["secure-port"], options["dry-run"]], [3, 4321, true], "the command line counts more");
  const [manager] = programs;
  const given = manager?.options as Options;
  assert.equal(programs.length, 1);
  assert.deepEqual([given["cluster-name"], given["concurrent-service-syncs"], given["cloud-provider"]], ["shop", 7, "aws"]);
  assert.deepEqual([given.v, given["secure-port"], given["dry-run"]], [3, 4321, true]);
  const lease = (from: Partial<LeaderElectionFlags>) => [from["leader-elect-resource-namespace"], from["leader-elect-resource-name"]];
  assert.deepEqual(lease(options), ["fairlead", "fairlead-cluster"]);
  assert.deepEqual(lease(given), ["kube-system", "cloud-controller-manager"], "the reference's, wherever our own is");
});

test("the lease of a hosted program has the name that its section says", async () => {
  const { programs } = await read("controller-manager: {leader-elect-resource-name: ccm}");
  assert.equal((programs[0]!.options as Options)["leader-elect-resource-name"], "ccm");
});

test("a list on the command line takes the place of the file's, and is not added to it", async () => {
  const { options } = await read("process: {tls-cipher-suites: [a, b]}\ncontroller-manager:", "--tls-cipher-suites=c");
  assert.deepEqual(options["tls-cipher-suites"], ["c"]);
});

const refused: readonly (readonly [what: string, text: string, message: string | RegExp])[] = [
  [
    "a flag of the process inside a program's section",
    "controller-manager: {secure-port: 1, leader-elect-lease-duration: 15s, version: true}",
    [
      "/f: controller-manager.secure-port: belongs to the process, which all programs share: give it once, on the command line, or in section process",
      "/f: controller-manager.leader-elect-lease-duration: belongs to the process, which all programs share: give it once, on the command line, or in section process",
      "/f: controller-manager.version: belongs to the process, which all programs share: give it once, on the command line",
    ].join("\n"),
  ],
  ["a file that names itself", "process: {config: /g}\ncontroller-manager:", "/f: process.config: can only be given on the command line"],
  [
    "a flag of a program in the process's section",
    "process: {cluster-cidr: x}\ncontroller-manager:",
    /^\/f: process\.cluster-cidr: there is no such flag/,
  ],
  [
    "a file without a program",
    "process: {v: 2}",
    "/f: no program is chosen: give a section for at least one of controller-manager, load-balancer-controller, node-termination-handler, ebs-csi-driver, cloud-data-discoverer, artifacts; it may be empty",
  ],
];

for (const [what, text, message] of refused) {
  test(`${what} is refused`, () => assert.rejects(read(text), { name: "ConfigurationFailed", message }));
}

test("without a file, or with one that cannot be read, it is said which", async () => {
  const { files } = virtualWorld(1);
  const settling = (...argv: string[]) => settle(parseFlags(flags, argv), flags, clusterPrograms, files);
  await assert.rejects(settling(), {
    message:
      /^--config is needed: .* of controller-manager, load-balancer-controller, node-termination-handler, ebs-csi-driver, cloud-data-discoverer, artifacts$/,
  });
  await assert.rejects(settling("--config=/nope"), { message: /^cannot read --config \/nope: ENOENT/ });
});

test("what a program would refuse is refused with the file and its section; what is wrong with the process comes first, once", async () => {
  const bad = "controller-manager: {cluster-cidr: x, webhooks: [y]}";
  await assert.rejects(
    read(bad).then((settled) => check(settled)),
    {
      name: "OptionsInvalid",
      message:
        '/f: controller-manager: [--cluster-cidr: invalid CIDR[0]: invalid CIDR address: x, "y" is not in the list of known webhooks]',
    },
  );
  await assert.rejects(
    read(bad, "--leader-elect-renew-deadline=20s").then((settled) => check(settled)),
    { message: "leaseDuration must be greater than renewDeadline" },
  );
});

test("deprecated flags of the file are warned about, as those of a command line are", async () => {
  const warnings = check(await read("controller-manager: {node-sync-period: 5m}"));
  assert.match(warnings[0]!, /^controller-manager: Flag --node-sync-period has been deprecated, /);
});
