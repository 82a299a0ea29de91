/** What webhooks say of Ingresses and of parameters of their classes. Everything is also checked in reconcile. Pure. */
import { formatCidr, parseAddress, parseCidr } from "../../runtime/ip.ts";
import { type AdmissionRequest, allow, record, type Verdict } from "../admission/review.ts";
import { annotationKey, annotationPrefix, classAnnotation, unknownAnnotations } from "./annotations.ts";
import { controllerName } from "./classes.ts";
import { MemberFault, readFamily, readMember } from "./member.ts";
import { ingressState } from "./seen.ts";
import { defaultGates } from "./settings.ts";
import { type ClassParams, type ClassView, type IngressView, keyOf } from "./view.ts";

export interface IngressAdmission {
  /** `--ingress-class` */
  readonly ingressClass: string;
  readonly classes: readonly ClassView[];
  /** `--disable-ingress-class-annotation` and `--disable-ingress-group-name-annotation` */
  readonly forbidsClassAnnotation: boolean;
  readonly forbidsGroupAnnotation: boolean;
}

/**
 * Refuses what the reference refuses, and warns of everything else that reconcile would complain about. What an Ingress had
 * before, it may keep: a class that was deleted since, or a mistake that came while no webhook was there, keeps nobody from changing
 * a label, and the controller not from adding or removing a finalizer.
 */
export function validateIngress({ object, oldObject }: AdmissionRequest, admission: IngressAdmission): Verdict {
  const now = viewOf(object);
  if (now === undefined) return allow;
  const before = viewOf(oldObject);
  const ours = isOurs(now, admission);
  if (typeof ours === "string") {
    const isNew = before === undefined || before.className !== now.className || isOurs(before, admission) !== ours;
    return isNew ? deny("class", ours) : { kind: "allow", warnings: [ours] };
  }
  if (!ours) return allow;
  const conditions = conditionsFault(now);
  const isKept = conditions !== undefined && before !== undefined && conditionsFault(before) === conditions;
  const fault = forbidden(now, before, admission) ?? (isKept ? undefined : conditions);
  if (fault !== undefined) return deny("validation", fault);
  const warnings = [...(isKept ? [conditions] : []), ...warningsOn(now)];
  return warnings.length > 0 ? { kind: "allow", warnings } : allow;
}

const deny = (category: string, message: string): Verdict => ({ kind: "deny", category, message });

/** Undefined of what is no Ingress: the API server says so itself. */
function viewOf(object: unknown): IngressView | undefined {
  const { metadata, spec } = record(object);
  if (metadata === undefined || spec === undefined) return undefined;
  return ingressState(object as Parameters<typeof ingressState>[0]).view;
}

/** Whether its class is this controller's, whatever its parameters; a text says why that cannot be told. */
function isOurs({ annotations, className }: IngressView, { ingressClass, classes }: IngressAdmission): boolean | string {
  const annotated = annotations[classAnnotation];
  if (annotated !== undefined) return isOurAnnotation(annotated, ingressClass);
  const defaults = classes.filter(({ isDefault }) => isDefault);
  if (className === undefined && defaults.length > 1) return "multiple default IngressClasses found";
  const name = className ?? defaults[0]?.name;
  if (name === undefined) return ingressClass === "";
  const found = classes.find((each) => each.name === name);
  return found ? found.controller === controllerName : `invalid ingress class: IngressClass.networking.k8s.io "${name}" not found`;
}

const isOurAnnotation = (value: string, ingressClass: string) =>
  ingressClass === "" ? value === "" || value === "alb" : value === ingressClass;

function forbidden(now: IngressView, before: IngressView | undefined, admission: IngressAdmission): string | undefined {
  const group = annotationKey("group.name");
  const changed = (key: string) => now.annotations[key] !== undefined && now.annotations[key] !== before?.annotations[key];
  if (admission.forbidsClassAnnotation && changed(classAnnotation)) return `new usage of \`${classAnnotation}\` annotation is forbidden`;
  if (admission.forbidsGroupAnnotation && changed(group)) return `new usage of \`${group}\` annotation is forbidden`;
  const { className } = now;
  if (className !== undefined && className !== before?.className && !admission.classes.some(({ name }) => name === className))
    return `invalid ingress class: IngressClass.networking.k8s.io "${className}" not found`;
  return undefined;
}

/** Those of the default backend are not looked at, as with the reference. */
function conditionsFault(ingress: IngressView): string | undefined {
  for (const { backend } of ingress.rules.flatMap(({ paths }) => paths)) {
    if (backend.service === undefined) continue;
    const { name } = backend.service;
    const fault = faultOf(() => readFamily({ member: { ingress } }, "conditions.", name));
    if (fault !== undefined)
      return `ignoring Ingress ${keyOf(ingress)} since invalid ${annotationPrefix}conditions.${name} annotation: ${fault}`;
  }
  return undefined;
}

function warningsOn(ingress: IngressView): readonly string[] {
  const odd = unknownAnnotations(ingress.annotations).map(({ message }) => message);
  const fault = faultOf(() => readMember({ ingress }, defaultGates));
  const routing = (["actions.", "transforms."] as const).flatMap((family) =>
    Object.keys(ingress.annotations).flatMap((key) => {
      const name = key.startsWith(annotationPrefix + family) ? key.slice(annotationPrefix.length + family.length) : undefined;
      return name === undefined ? [] : (faultOf(() => readFamily({ member: { ingress } }, family, name)) ?? []);
    }),
  );
  return [...odd, ...(fault === undefined ? [] : [fault]), ...routing];
}

function faultOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof MemberFault) return error.message;
    throw error;
  }
}

/** Texts of the reference's; all of them at once. */
export function validateParams({ object }: AdmissionRequest): Verdict {
  const { inboundCIDRs = [], subnets } = record(record(object).spec) as Pick<ClassParams, "inboundCIDRs" | "subnets">;
  const faults = [
    ...inboundCIDRs.flatMap((text, i) => cidrFault(`spec.inboundCIDRs[${i}]`, text)),
    ...(subnets ? subnetFaults(subnets) : []),
  ];
  if (faults.length === 0) return allow;
  return deny("validation", faults.length === 1 ? faults[0]! : `[${faults.join(", ")}]`);
}

function cidrFault(path: string, text: string): readonly string[] {
  const invalid = (why: string) => [`${path}: Invalid value: ${JSON.stringify(text)}: ${why}`];
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    const address = parseAddress(text);
    const meant = address ? ` (did you mean "${text}/${text.includes(":") ? 64 : 32}")` : "";
    return invalid(`Could not be parsed as a CIDR${meant}`);
  }
  const [given] = text.split("/");
  const [network] = formatCidr(cidr).split("/");
  const [a, b] = [parseAddress(given ?? ""), parseAddress(network ?? "")];
  return a && b && a.value === b.value ? [] : invalid(`Network contains bits outside prefix (did you mean "${formatCidr(cidr)}")`);
}

function subnetFaults({ ids, tags }: NonNullable<ClassParams["subnets"]>): readonly string[] {
  const duplicates = (path: string, values: readonly string[]) =>
    values.flatMap((value, i) => (values.indexOf(value) < i ? [`${path}[${i}]: Duplicate value: ${JSON.stringify(value)}`] : []));
  if (!ids && !tags) return ["spec.subnets: Required value: must have either `ids` or `tags`"];
  return [
    ...(ids && tags ? ["spec.subnets.tags: Forbidden: may not have both `ids` and `tags` set"] : []),
    ...(ids ? duplicates("spec.subnets.ids", ids) : []),
    ...(tags && !ids && Object.keys(tags).length === 0 ? ["spec.subnets.tags: Required value: must have at least one tag key"] : []),
    ...Object.entries(tags ?? {}).flatMap(([key, values]) => duplicates(`spec.subnets.tags[${key}]`, values)),
  ];
}
