/** Every referee: a program nobody here wrote that ours is held to. What is added here is built and run by `npm run referees`. */
import { existsSync } from "node:fs";
import { realWorld } from "../../src/runtime/world.ts";
import {
  builtGatewayApi,
  builtGatewayReferee,
  builtMachineController,
  certificateReferee,
  csiSanity,
  gatewayApiManifest,
  gatewayReferee,
  goValuesReferee,
  kubeletReferee,
  machineController,
  translationReferee,
} from "./go-programs.ts";
import { fetchedInstallerFiles, installerFiles } from "./installers.ts";
import { obtainPython } from "./python.ts";
import {
  builtLoadBalancerController,
  builtOpenTofu,
  builtVolumeDriver,
  referenceControllerManager,
  referenceLoadBalancerController,
  referenceOpenTofu,
  referenceTerminationHandler,
  referenceVolumeDriver,
} from "./reference.ts";
import { allSidecars, builtSidecars } from "./sidecars.ts";

type Say = (line: string) => void;

export interface Referee {
  readonly name: string;
  /** Its tests, as beginnings of their paths. */
  readonly tests: readonly string[];
  /** Builds or installs it, unless that was done before. */
  obtain(say: Say): Promise<unknown>;
  /**
   * Only for a referee that is too large to be built by `npm test`, which must fit into an hour with everything it builds:
   * the file that is there once `npm run referees` has built it. Until then `npm test` skips its tests and says so.
   */
  readonly builtOnDemand?: () => Promise<string>;
}

export const referees: readonly Referee[] = [
  {
    name: "moto and the aws command",
    tests: ["test/referees/moto/", "test/referees/aws-command.test.ts"],
    obtain: (say) => obtainPython({ world: realWorld(), say }),
  },
  { name: "Go's crypto/x509", tests: ["test/referees/client-certificates.test.ts"], obtain: certificateReferee },
  { name: "Go's strconv, time and csv", tests: ["test/referees/go-values.test.ts"], obtain: goValuesReferee },
  { name: "csi-sanity", tests: ["test/referees/csi-sanity.test.ts"], obtain: csiSanity },
  { name: "Kubernetes' translation of volumes", tests: ["test/referees/csi-translation.test.ts"], obtain: translationReferee },
  {
    name: "Gardener's machine controller",
    tests: ["test/referees/machine-controller-manager.test.ts"],
    obtain: machineController,
    builtOnDemand: builtMachineController,
  },
  { name: "kubelet", tests: ["test/referees/kubelet.test.ts"], obtain: kubeletReferee },
  {
    name: "the definitions of kops and Cluster API, and kubeadm's types",
    tests: ["test/referees/installers.test.ts"],
    obtain: installerFiles,
    builtOnDemand: fetchedInstallerFiles,
  },
  {
    name: "the reference's controller manager",
    tests: ["test/referees/reference-controller-manager.test.ts", "test/referees/take-over.test.ts"],
    obtain: referenceControllerManager,
  },
  {
    name: "the reference's termination handler",
    tests: ["test/referees/node-termination-handler"],
    obtain: referenceTerminationHandler,
  },
  {
    name: "the reference's EBS CSI driver",
    tests: ["test/referees/ebs-csi-driver.test.ts", "test/referees/ebs-csi-driver-limits.test.ts"],
    obtain: referenceVolumeDriver,
    builtOnDemand: builtVolumeDriver,
  },
  {
    name: "csi-provisioner, csi-resizer and csi-snapshotter",
    tests: ["test/referees/sidecars.test.ts"],
    obtain: allSidecars,
    builtOnDemand: builtSidecars,
  },
  {
    name: "the Gateway API's conformance suite",
    tests: ["test/referees/gateway-conformance.test.ts", "test/referees/gateway-manifests.test.ts"],
    obtain: gatewayReferee,
    builtOnDemand: builtGatewayReferee,
  },
  {
    name: "the reference's load balancer controller",
    tests: ["test/referees/load-balancer-controller.test.ts", "test/referees/class-services.test.ts"],
    obtain: referenceLoadBalancerController,
    builtOnDemand: builtLoadBalancerController,
  },
  {
    name: "the reference's load balancer controller, and the definitions of the Gateway API",
    tests: ["test/referees/gateway-controller.test.ts"],
    async obtain(say) {
      await gatewayApiManifest(say);
      await referenceLoadBalancerController(say);
    },
    async builtOnDemand() {
      const definitions = await builtGatewayApi();
      return existsSync(definitions) ? builtLoadBalancerController() : definitions;
    },
  },
  {
    name: "OpenTofu",
    tests: ["test/referees/opentofu/"],
    obtain: referenceOpenTofu,
    builtOnDemand: builtOpenTofu,
  },
];

/** Those that `npm test` leaves out on this machine. */
export async function notBuilt(all: readonly Referee[]): Promise<readonly Referee[]> {
  const paths = await Promise.all(all.map(async ({ builtOnDemand }) => builtOnDemand?.()));
  return all.filter((_, index) => paths[index] !== undefined && !existsSync(paths[index]));
}
