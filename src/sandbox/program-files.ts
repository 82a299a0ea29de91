/** The files of this program that the sandbox starts or reads: where they are in the repository, and in the package. */
import { fileURLToPath } from "node:url";

/** Put in place of the name by the bundler of the package; absent when run from source. */
declare const FAIRLEAD_PACKAGE: true | undefined;

const packaged = typeof FAIRLEAD_PACKAGE !== "undefined";

/** Relative to this file; in the package, relative to the folder of chunks that it is bundled into. */
const places = packaged
  ? {
      main: "../fairlead.js",
      supervisor: "../supervisor.js",
      roles: "../../deploy/manifests/rbac.yaml",
      handlerRoles: "../../deploy/manifests/node-termination-handler.yaml",
      queueHandlerRoles: "../../deploy/manifests/node-termination-handler-queue.yaml",
      balancers: "../../deploy/manifests/load-balancer-controller.yaml",
      volumes: "../../deploy/manifests/ebs-csi-driver-built-in.yaml",
    }
  : {
      main: "../main.ts",
      supervisor: "./cluster/real/supervisor.ts",
      roles: "../../deploy/manifests/rbac.yaml",
      handlerRoles: "../../deploy/manifests/node-termination-handler.yaml",
      queueHandlerRoles: "../../deploy/manifests/node-termination-handler-queue.yaml",
      balancers: "../../deploy/manifests/load-balancer-controller.yaml",
      volumes: "../../deploy/manifests/ebs-csi-driver-built-in.yaml",
    };

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The program itself. */
export const mainFile = at(places.main);
/** The parent of the processes that it starts. */
export const supervisorFile = at(places.supervisor);
/** The shipped roles. */
export const rolesFile = at(places.roles);
/** The shipped roles of the termination handler, with its DaemonSet. */
export const handlerRolesFile = at(places.handlerRoles);
/** The same for the handler that reads a queue, with its Deployment. */
export const queueHandlerRolesFile = at(places.queueHandlerRoles);
/** The load balancer controller with its roles and definitions. */
export const balancerFile = at(places.balancers);
/** The EBS CSI driver with its roles, without sidecars. */
export const volumesFile = at(places.volumes);
