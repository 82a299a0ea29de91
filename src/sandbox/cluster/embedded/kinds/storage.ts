/** Claims, volumes, their classes and attachments. Binding them is the work of kube-controller-manager, not of the API. */
import { asList, asObject, asText, type JsonObject, type KubeObject, same } from "../json.ts";
import type { Behaviour } from "../resources.ts";
import { type FieldError, fieldErrors } from "../status.ts";

/** Admission protects what is in use: kube-controller-manager takes the finalizer off when nobody needs it any more. */
function protectedBy(finalizer: string): (object: KubeObject, before: KubeObject | undefined) => void {
  return ({ metadata }, before) => {
    if (before !== undefined) return;
    const finalizers = asList(metadata.finalizers).map(asText);
    if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
  };
}

const protectVolume = protectedBy("kubernetes.io/pv-protection");
const protectClaim = protectedBy("kubernetes.io/pvc-protection");
const protectAttributes = protectedBy("kubernetes.io/vac-protection");

/** Fields of a PersistentVolume's spec that are not the disk itself. */
const besidesTheSource = new Set([
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode",
]);

export const persistentVolumes: Behaviour = {
  empty: { spec: {}, status: {} },
  complete(volume, before, now) {
    protectVolume(volume, before);
    volume.spec = { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem", ...asObject(volume.spec) };
    const status = before === undefined ? { phase: "Pending" } : asObject(volume.status);
    const changed = before === undefined || asObject(before.status).phase !== status.phase;
    volume.status = { ...status, ...(changed && { lastPhaseTransitionTime: now }) };
  },
  validate(volume, before) {
    const spec = asObject(volume.spec);
    const sources = sourceOf(spec);
    const errors: FieldError[] = [];
    if (asList(spec.accessModes).length === 0) errors.push(fieldErrors.required("spec.accessModes"));
    if (Object.keys(asObject(spec.capacity)).length === 0) errors.push(fieldErrors.required("spec.capacity"));
    if (Object.keys(sources).length === 0) errors.push(fieldErrors.required("spec", "must specify a volume type"));
    if (before !== undefined && !same(sources, sourceOf(asObject(before.spec)))) {
      errors.push(fieldErrors.forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"));
    }
    return errors;
  },
};

function sourceOf(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !besidesTheSource.has(field)));
}

/** What of a claim may change while it lives. */
const changeable = new Set(["resources", "volumeAttributesClassName", "volumeName", "storageClassName"]);

export const claims: Behaviour = {
  empty: { spec: { resources: {} }, status: {} },
  complete(claim, before) {
    protectClaim(claim, before);
    claim.spec = { volumeMode: "Filesystem", ...asObject(claim.spec) };
    if (before === undefined) claim.status = { phase: "Pending" };
    const status = asObject(claim.status);
    if (Array.isArray(status.conditions)) {
      status.conditions = status.conditions.map((condition) => ({ lastProbeTime: null, lastTransitionTime: null, ...asObject(condition) }));
    }
  },
  validate(claim, before) {
    const spec = asObject(claim.spec);
    const errors: FieldError[] = [];
    if (asList(spec.accessModes).length === 0) errors.push(fieldErrors.required("spec.accessModes", "at least 1 access mode is required"));
    if (asObject(asObject(spec.resources).requests).storage === undefined) {
      errors.push(fieldErrors.required("spec.resources[storage]"));
    }
    if (before === undefined) return errors;
    const old = asObject(before.spec);
    const changed = Object.keys({ ...old, ...spec }).filter((field) => !same(spec[field], old[field]));
    // A name once given stays; both may be filled in.
    const refused = changed.filter(
      (field) => !changeable.has(field) || (field.endsWith("Name") && field !== "volumeAttributesClassName" && asText(old[field]) !== ""),
    );
    if (refused.length > 0) {
      const why = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
      errors.push(fieldErrors.forbidden("spec", why));
    }
    return errors;
  },
};

export const storageClasses: Behaviour = {
  complete(storageClass) {
    storageClass.reclaimPolicy ??= "Delete";
    storageClass.volumeBindingMode ??= "Immediate";
  },
  validate(storageClass, before) {
    const errors: FieldError[] = [];
    if (asText(storageClass.provisioner) === "") errors.push(fieldErrors.required("provisioner"));
    if (before === undefined) return errors;
    for (const field of ["parameters", "provisioner", "reclaimPolicy"]) {
      if (!same(storageClass[field], before[field]))
        errors.push(fieldErrors.invalid(field, storageClass[field] ?? null, "field is immutable"));
    }
    return errors;
  },
};

export const volumeAttachments: Behaviour = {
  empty: { spec: { attacher: "", source: {}, nodeName: "" }, status: { attached: false } },
  complete(attachment, before) {
    attachment.spec = { source: {}, ...asObject(attachment.spec) };
    if (before === undefined) attachment.status = { attached: false };
  },
  validate(attachment, before) {
    const spec = asObject(attachment.spec);
    const errors: FieldError[] = [];
    if (asText(spec.attacher) === "") errors.push(fieldErrors.required("spec.attacher"));
    if (asText(spec.nodeName) === "") errors.push(fieldErrors.required("spec.nodeName"));
    if (before !== undefined && !same(spec, before.spec)) errors.push(fieldErrors.invalid("spec", spec, "field is immutable"));
    return errors;
  },
};

export const csiNodes: Behaviour = {
  empty: { spec: { drivers: null } },
  complete(node) {
    node.spec = { drivers: null, ...asObject(node.spec) };
  },
};

export const csiDrivers: Behaviour = {
  empty: { spec: {} },
  complete(driver) {
    driver.spec = {
      attachRequired: true,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      podInfoOnMount: false,
      requiresRepublish: false,
      seLinuxMount: false,
      storageCapacity: false,
      volumeLifecycleModes: ["Persistent"],
      ...asObject(driver.spec),
    };
  },
};

export const attributesClasses: Behaviour = { complete: protectAttributes };
