/** The programs that `fairlead cluster` can host. To add one is to add a row. */
import { gateWarnings } from "../controller-manager/feature-gates.ts";
import { flagSections, flagTable } from "../controller-manager/flags.ts";
import { optionWarnings, validateOptions } from "../controller-manager/validate.ts";
import { type HostedPrograms, hosted } from "./hosted.ts";

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
};
