/** The node service of the EBS CSI driver as a hosted program of `fairlead node`, with its registration to kubelet. */

import { build } from "../../process/build.ts";
import { OptionsInvalid } from "../../process/flag-problems.ts";
import { flagsOf, sectionsOf } from "../ebs-csi-driver/flags.ts";
import { type DriverValues, validate } from "../ebs-csi-driver/validate.ts";
import { type HostedProgram, hosted } from "./hosted.ts";

export const hostedVolumeNode: HostedProgram = hosted({
  summary: "Volumes of the pods on its node; in place of the node service of aws-ebs-csi-driver, its registrar and its liveness probe",
  flags: flagsOf("node"),
  sections: sectionsOf("node"),
  implied: [],
  leaseFlags: [],
  replaced: {
    "http-endpoint": "metrics and health are served on --secure-port",
    "metrics-cert-file": "see --tls-cert-file",
    "metrics-key-file": "see --tls-private-key-file",
  },
  check(options) {
    const values = options as DriverValues;
    validate(values);
    if (!values["kubelet-registration-path"]) {
      throw new OptionsInvalid(["--kubelet-registration-path is needed: nobody else tells kubelet of the driver"]);
    }
    return [];
  },
  async configure(options) {
    const values = options as DriverValues;
    return {
      program: {
        component: "ebs-csi-driver",
        controllers: [],
        migrated: [],
        startIntervalMs: 0,
        async standby({ host, kube, clouds, signal }) {
          const [{ nodePart, registrationOf }, { startDriver }] = await Promise.all([
            import("../ebs-csi-driver/operate.ts"),
            import("../../volumes/driver.ts"),
          ]);
          const registration = registrationOf(values);
          const endpoint = values.endpoint ?? "";
          // What looks after the start-up taint ends with a try that fails: the next one has its own.
          const failed = new AbortController();
          try {
            const life = AbortSignal.any([signal, failed.signal]);
            const node = await nodePart(values, { host, kube, metadata: clouds.metadata, signal: life });
            return await startDriver({
              host,
              version: build.version,
              endpoint,
              metrics: undefined,
              controller: undefined,
              node,
              registration,
            });
          } catch (error) {
            failed.abort(error);
            throw error;
          }
        },
      },
      leases: [],
      configuration: {},
    };
  },
});
