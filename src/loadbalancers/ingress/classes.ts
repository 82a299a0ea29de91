/** Which Ingresses are this controller's, and the parameters of their class. Pure. */
import { classAnnotation } from "./annotations.ts";
import type { ClassParams, ClassView, IngressView } from "./view.ts";

export const controllerName = "ingress.k8s.aws/alb";
const paramsGroup = "elbv2.k8s.aws";
const paramsKind = "IngressClassParams";

export interface ClassSources {
  /** `--ingress-class` */
  readonly ingressClass: string;
  readonly classes: readonly ClassView[];
  params(name: string): ClassParams | undefined;
  /** Whether a namespace has the labels that a selector asks for; also false of a namespace that cannot be read. */
  namespaceMatches(namespace: string, selector: NonNullable<ClassParams["namespaceSelector"]>): boolean;
}

export type ClassVerdict =
  | { readonly kind: "ours"; readonly params?: ClassParams }
  | { readonly kind: "foreign" }
  /** Its class cannot be told: nothing of it is made, and nothing of it is taken away. */
  | { readonly kind: "invalid"; readonly message: string };

export function classOf(ingress: IngressView, sources: ClassSources): ClassVerdict {
  const { ingressClass, classes } = sources;
  const annotated = ingress.annotations[classAnnotation];
  if (annotated !== undefined) {
    const isOurs = ingressClass === "" ? annotated === "" || annotated === "alb" : annotated === ingressClass;
    return { kind: isOurs ? "ours" : "foreign" };
  }
  if (ingress.className !== undefined) return verdictOn(ingress, ingress.className, sources);
  const defaults = classes.filter(({ isDefault }) => isDefault);
  if (defaults.length > 1) return invalid("multiple default IngressClasses found");
  if (defaults[0]) return verdictOn(ingress, defaults[0].name, sources);
  return { kind: ingressClass === "" ? "ours" : "foreign" };
}

function verdictOn(ingress: IngressView, name: string, { classes, params, namespaceMatches }: ClassSources): ClassVerdict {
  const found = classes.find((each) => each.name === name);
  if (found === undefined) return invalid(`IngressClass.networking.k8s.io "${name}" not found`);
  if (found.controller !== controllerName) return { kind: "foreign" };
  const { parameters } = found;
  if (parameters === undefined) return { kind: "ours" };
  if (parameters.apiGroup !== paramsGroup || parameters.kind !== paramsKind)
    return invalid(`IngressClass ${name} references unknown parameters`);
  const its = params(parameters.name);
  if (its === undefined) return invalid(`IngressClassParams.elbv2.k8s.aws "${parameters.name}" not found`);
  const { namespaceSelector } = its;
  if (namespaceSelector && !namespaceMatches(ingress.namespace, namespaceSelector)) {
    return invalid(`namespaceSelector of IngressClassParams ${its.name} mismatch`);
  }
  return { kind: "ours", params: its };
}

const invalid = (cause: string): ClassVerdict => ({ kind: "invalid", message: `invalid ingress class: ${cause}` });
