/** What must stand for a Service of type none: a target group for each port, and no load balancer. A second opinion too. */
import type { Service } from "../../src/kube/types.ts";
import type { Surroundings } from "./services-wanted.ts";

const prefix = "service.beta.kubernetes.io/aws-load-balancer-";
const protocols: Readonly<Record<string, string>> = { "": "TCP", tcp: "TCP", tls: "TLS", http: "HTTP", https: "HTTPS" };

/** Why we must refuse it. */
export function targetsRefusal({ metadata, spec }: Service, stands: boolean): string | undefined {
  const get = (annotation: string) => metadata?.annotations?.[prefix + annotation];
  if (stands) return "the load balancer that exists is kept";
  if (spec?.ports?.some(({ protocol }) => protocol === "UDP")) return "target groups alone are not for UDP";
  if (!((get("backend-protocol") ?? "") in protocols)) return "there is no such backend protocol";
  if (get("extra-security-groups") !== undefined) return "there is nothing that has groups";
  if (![undefined, "replace"].includes(get("type-change"))) return "there is no such type change";
  if (get("name")?.startsWith("-")) return "no load balancer can have this name";
  return undefined;
}

/** What is wrong with the target groups. */
export function wrongTargetGroups({ metadata, spec, status }: Service, { account, targets }: Surroundings): string[] {
  const name = metadata?.name ?? "";
  const base = `a${metadata?.uid?.replaceAll("-", "")}`;
  const get = (annotation: string) => metadata?.annotations?.[prefix + annotation];
  const { must, may } = targets(get("target-node-labels"));
  const hostname = status?.loadBalancer?.ingress?.[0]?.hostname;
  const groups = account.targetGroups().filter(({ name: each }) => each.startsWith(base.slice(0, 28)));
  const wanted = (spec?.ports ?? []).map(({ nodePort }, i) => ({ name: `${base.slice(0, 30)}-${i}`, port: nodePort }));
  return [
    ...(hostname === "none" ? [] : [`${name} is published as ${hostname}, should be none`]),
    ...groups.filter((group) => !wanted.some((each) => each.name === group.name)).map((group) => `${group.name} of ${name} is left`),
    ...wanted.flatMap(({ name: each, port }) => {
      const group = groups.find((other) => other.name === each);
      if (group === undefined) return [`${name} lacks target group ${each}`];
      const protocol = protocols[get("backend-protocol") ?? ""];
      const is = account.targets(group.arn);
      return [
        ...(group.protocol === protocol ? [] : [`${each} of ${name} speaks ${group.protocol}, should be ${protocol}`]),
        ...must.filter((id) => !is.includes(`${id}:${port}`)).map((id) => `${each} of ${name} lacks ${id}`),
        ...is
          .filter((target) => ![...must, ...may].some((id) => target === `${id}:${port}`))
          .map((target) => `${each} should not have ${target}`),
      ];
    }),
  ];
}
