/** The programs that `fairlead cluster` can host. To add one is to add a row. */

import { OptionsInvalid } from "../../process/flag-problems.ts";
import { type RunOptions as ArtifactsOptions, runFlags, runSections, settingsProblems } from "../artifacts/flags.ts";
import { flagTable as discovererFlags, flagSections as discovererSections, refusePeriod } from "../cloud-data-discoverer/flags.ts";
import { gateWarnings } from "../controller-manager/feature-gates.ts";
import { flagSections, flagTable } from "../controller-manager/flags.ts";
import { optionWarnings, validateOptions } from "../controller-manager/validate.ts";
import { flagsOf as driverFlagsOf, sectionsOf as driverSectionsOf } from "../ebs-csi-driver/flags.ts";
import { type DriverValues, validate as validateDriver } from "../ebs-csi-driver/validate.ts";
import { flagTable as balancerFlags, flagSections as balancerSections } from "../load-balancer-controller/flags.ts";
import { optionProblems } from "../load-balancer-controller/validate.ts";
import { type HostedPrograms, hosted } from "./hosted.ts";
import { hostedQueueHandler } from "./termination-handler.ts";

export const clusterPrograms: HostedPrograms = {
  "controller-manager": hosted({
    summary: "Nodes, load balancers of Services, routes, tags; in place of aws-cloud-controller-manager",
    flags: flagTable,
    sections: flagSections,
    implied: ["--cloud-provider=aws"],
    leaseFlags: ["leader-elect-resource-name", "leader-elect-resource-namespace"],
    replaced: {},
    check(options) {
      validateOptions(options);
      return [...gateWarnings(options["feature-gates"]), ...optionWarnings(options)];
    },
    async configure(options, { host, cloudConfig }) {
      const [{ configure }, { controllerTable }, { configz }] = await Promise.all([
        import("../controller-manager/operate.ts"),
        import("../controller-manager/controller-table.ts"),
        import("../controller-manager/configz.ts"),
      ]);
      const { program, leadership } = await configure(options, controllerTable, host, cloudConfig);
      const { leases, migration } = leadership;
      return { program, leases, ...(migration && { migration }), configuration: configz(options) };
    },
  }),
  "load-balancer-controller": hosted({
    summary: "Ingresses, Services with its class, TargetGroupBindings and readiness gates; in place of aws-load-balancer-controller",
    flags: balancerFlags,
    sections: balancerSections,
    implied: [],
    leaseFlags: [],
    replaced: {
      "aws-api-endpoints": "give a ServiceOverride in the file of --cloud-config",
      "aws-region": "give Region in the file of --cloud-config",
      "aws-vpc-id": "give VPC in the file of --cloud-config",
      "aws-vpc-tags": "give VPC in the file of --cloud-config",
      "enable-leader-election": "see --leader-elect",
      "health-probe-bind-addr": "health is served on --secure-port",
      "log-level": "see --v",
      "metrics-bind-addr": "metrics are served on --secure-port",
    },
    check(options) {
      const problems = optionProblems(options);
      if (problems.length > 0) throw new OptionsInvalid(problems);
      return [];
    },
    async configure(options, { host }) {
      const { programOf, leaseOf } = await import("../load-balancer-controller/operate.ts");
      const lease = await leaseOf(options, host.world);
      return { program: programOf(options, lease.namespace), leases: [lease], configuration: {} };
    },
  }),
  "node-termination-handler": hostedQueueHandler,
  "ebs-csi-driver": hosted({
    summary: "Volumes for claims, without sidecars; in place of the controller of aws-ebs-csi-driver",
    flags: driverFlagsOf("controller"),
    sections: driverSectionsOf("controller"),
    implied: ["--built-in-roles"],
    leaseFlags: [],
    replaced: {
      endpoint: "no socket is served: the sidecars' work is done here",
      "http-endpoint": "metrics are served on --secure-port",
      "metrics-cert-file": "see --tls-cert-file",
      "metrics-key-file": "see --tls-private-key-file",
      "metadata-sources": "it is for nodes",
    },
    check(options) {
      // Of the cluster whose process this is, unless it says otherwise.
      validateDriver({ ...(options as DriverValues), "k8s-tag-cluster-id": options["k8s-tag-cluster-id"] || "found" });
      return [];
    },
    async configure(options) {
      const { roleLeases, roleProgram } = await import("../ebs-csi-driver/roles.ts");
      const values = options as DriverValues;
      return { program: roleProgram(values), leases: roleLeases(values), configuration: {} };
    },
  }),
  "cloud-data-discoverer": hosted({
    summary: "What the account offers, for a platform; in place of its cloud-data-discoverer. Reads CLUSTER_UUID",
    flags: discovererFlags,
    sections: discovererSections,
    implied: [],
    leaseFlags: [],
    replaced: { "listen-address": "metrics and health are served on --secure-port" },
    check(options) {
      refusePeriod(options);
      return [];
    },
    async configure(options, { host }) {
      const { programOf } = await import("../cloud-data-discoverer/program.ts");
      const program = programOf(options["discovery-period"], host.world.environment.CLUSTER_UUID ?? "");
      return { program, leases: [], configuration: {} };
    },
  }),
  artifacts: hosted({
    summary: "What a node manager such as Deckhouse's needs of the provider: registration, templates of machine classes, storage classes",
    flags: runFlags,
    sections: runSections,
    implied: [],
    leaseFlags: ["leader-elect-resource-name", "leader-elect-resource-namespace"],
    replaced: { "listen-address": "metrics and health are served on --secure-port" },
    check(options) {
      const problems = settingsProblems(options);
      if (problems.length > 0) throw new OptionsInvalid(problems);
      return [];
    },
    async configure(options) {
      const { leaseOf, programOf } = await import("../artifacts/operate.ts");
      const values = options as ArtifactsOptions;
      return { program: programOf(values), leases: [leaseOf(values)], configuration: {} };
    },
  }),
};
