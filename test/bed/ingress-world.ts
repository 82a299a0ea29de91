/** A cluster, an AWS account and the load balancer controller that serves Ingresses, in one process on virtual time. */
import "../../src/aws/sdk/acm.ts";
import "../../src/aws/sdk/route53.ts";
import "../../src/aws/sdk/shield.ts";
import "../../src/aws/sdk/tagging.ts";
import "../../src/aws/sdk/waf-regional.ts";
import "../../src/aws/sdk/wafv2.ts";
import "../../src/commands/load-balancer-controller/ingress.ts";
import { ingressClassParamsDefinition } from "../../src/loadbalancers/ingress/crd.ts";
import { BindingWorld, type BindingWorldOptions } from "./binding-world.ts";
import { issue } from "./certificates.ts";
import { loadClients } from "./service-world.ts";

const prefix = "alb.ingress.kubernetes.io/";

/** `Prefix /api web:80` by host; `*`: without a host. */
export type Rules = Readonly<Record<string, readonly string[]>>;

export async function ingressWorld(options: BindingWorldOptions = {}): Promise<IngressWorld> {
  await loadClients();
  const world = new IngressWorld(options);
  await world.prepare(options.nodes ?? 2);
  await world.say("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", ingressClassParamsDefinition);
  await world.say("POST", "/apis/networking.k8s.io/v1/ingressclasses", {
    metadata: { name: "alb" },
    spec: { controller: "ingress.k8s.aws/alb" },
  });
  return world;
}

export class IngressWorld extends BindingWorld {
  /** Starts the controller with Ingresses. */
  serve(...flags: readonly string[]): () => void {
    return this.start("--feature-gates=IngressController=true", "--default-target-type=ip", ...flags);
  }

  /** Certificates for these names, issued at once; their ARNs. */
  issue(...names: readonly (readonly string[])[]): Promise<readonly string[]> {
    return issue(this, names);
  }

  async ingress(name: string, rules: Rules, annotations: Readonly<Record<string, string>> = {}, className = "alb"): Promise<void> {
    await this.say("POST", "/apis/networking.k8s.io/v1/namespaces/default/ingresses", {
      metadata: { name, annotations: keyed(annotations) },
      spec: { ingressClassName: className, rules: rulesOf(rules) },
    });
  }

  /** Changes annotations (null takes one away) and, where given, the rules. */
  change(name: string, annotations: Readonly<Record<string, string | null>>, rules?: Rules): Promise<void> {
    const body = { metadata: { annotations: keyed(annotations) }, ...(rules && { spec: { rules: rulesOf(rules) } }) };
    return this.say("PATCH", `/apis/networking.k8s.io/v1/namespaces/default/ingresses/${name}`, body, "merge");
  }

  drop(name: string): Promise<void> {
    return this.say("DELETE", `/apis/networking.k8s.io/v1/namespaces/default/ingresses/${name}`);
  }

  get(name: string) {
    return this.cluster.objects("ingresses.networking.k8s.io").find(({ metadata }) => metadata.name === name) as
      | {
          metadata: { finalizers?: string[] };
          status?: { loadBalancer?: { ingress?: { hostname: string; ports?: { port: number }[] }[] } };
        }
      | undefined;
  }

  hostname(name: string): string {
    return this.get(name)?.status?.loadBalancer?.ingress?.[0]?.hostname ?? "";
  }

  /** Everything of a kind in the account: `elbv2/rules`. */
  all<T = Record<string, unknown>>(kind: string): readonly T[] {
    return Object.values(this.aws.controls.snapshot()[kind] ?? {}) as T[];
  }

  bindings(): readonly { readonly metadata: { readonly name: string } }[] {
    return this.cluster.objects("targetgroupbindings.elbv2.k8s.aws") as never;
  }

  /** Calls that change something, by action. */
  mutations(): Readonly<Record<string, number>> {
    return Object.fromEntries(Object.entries(this.calls()).filter(([action]) => !/^(Describe|Get|List)/.test(action)));
  }
}

/** Annotations with the prefix that those without a slash leave out. */
export const keyed = (annotations: Readonly<Record<string, string | null>>) =>
  Object.fromEntries(Object.entries(annotations).map(([name, value]) => [name.includes("/") ? name : prefix + name, value]));

export const rulesOf = (rules: Rules) =>
  Object.entries(rules).map(([host, paths]) => ({
    ...(host !== "*" && { host }),
    http: {
      paths: paths.map((text) => {
        const [pathType, path, backend = ""] = text.split(" ");
        const [name, port = ""] = backend.split(":");
        return { pathType, path, backend: { service: { name, port: /^\d+$/.test(port) ? { number: Number(port) } : { name: port } } } };
      }),
    },
  }));
