/** What serving Ingresses takes in the cluster: a class that leads here, and definitions of the kinds that are read. */
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { type Finding, ok, problem, some, warning } from "./finding.ts";
import type { Picture } from "./picture.ts";

export interface IngressFacts {
  readonly classes: readonly { readonly name: string; readonly controller: string; readonly isDefault: boolean }[];
  /** Resources of `elbv2.k8s.aws/v1beta1` that the server knows. */
  readonly resources: readonly string[];
}

const controller = "ingress.k8s.aws/alb";
const defaultClass = "ingressclass.kubernetes.io/is-default-class";

interface ClassList {
  readonly items?: readonly {
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
    readonly spec?: { readonly controller?: string };
  }[];
}

export async function askIngress(kube: KubeClient, signal: AbortSignal): Promise<IngressFacts> {
  const [classes, known] = await Promise.all([
    kube.raw("/apis/networking.k8s.io/v1/ingressclasses", { signal }),
    kube.raw("/apis/elbv2.k8s.aws/v1beta1", { signal }).catch((error: unknown) => {
      if (isApiError(error, "not-found")) return "{}";
      throw error;
    }),
  ]);
  const { items = [] } = JSON.parse(classes) as ClassList;
  const { resources = [] } = JSON.parse(known) as { readonly resources?: readonly { readonly name: string }[] };
  return {
    classes: items.map(({ metadata, spec }) => ({
      name: metadata.name,
      controller: spec?.controller ?? "",
      isDefault: metadata.annotations?.[defaultClass] === "true",
    })),
    resources: resources.map(({ name }) => name),
  };
}

const install =
  "helm upgrade fairlead deploy/chart --namespace kube-system --reuse-values --set loadBalancerController.enabled=true   # docs/ingress.md";

/** Asked only with `--features=ingresses`. */
export function checkIngress({ ingress }: Picture): readonly Finding[] {
  if (ingress === undefined) return [];
  if (!ingress.known) return [warning("ingress", ingress.why, "kubectl get ingressclasses")];
  const { classes, resources } = ingress.value;
  const missing = ["ingressclassparams", "targetgroupbindings"].filter((name) => !resources.includes(name));
  const own = classes.filter((each) => each.controller === controller).map(({ name }) => name);
  // Nothing of it is installed: nobody asks for Ingresses to be served.
  if (own.length === 0 && resources.length === 0) return [];
  const defaults = classes.filter(({ isDefault }) => isDefault).map(({ name }) => name);
  return [
    ...(missing.length > 0 ? [problem("ingress", `the API server does not know ${missing.join(" and ")} of elbv2.k8s.aws`, install)] : []),
    ...(own.length === 0
      ? [warning("ingress", `no IngressClass has the controller ${controller}: only Ingresses with the annotation are served`, install)]
      : [ok("ingress", `classes ${some(own)}`)]),
    ...(defaults.length > 1
      ? [
          problem(
            "ingress",
            `several classes are the default: ${some(defaults)}; Ingresses that name none are not served`,
            `kubectl annotate ingressclass ${defaults[0]} ${defaultClass}-`,
          ),
        ]
      : []),
  ];
}
