/** What the authors of Ingresses ask for, in words that can be compared with what an account has. */

/** `tuned` has parameters that name the group of its Ingresses; `theirs` is another controller's. */
export type ClassName = "alb" | "tuned" | "theirs";

/** What the author of an Ingress asked for last. */
export interface IngressWish {
  readonly name: string;
  readonly className: ClassName;
  /** Undefined: it has a load balancer of its own. */
  readonly group: string | undefined;
  /** Of a load balancer of its own; undefined: what the controller takes without being told. */
  readonly scheme: string | undefined;
  readonly host: string;
  /** Of the namespace; each at a path of its name. */
  readonly services: readonly string[];
  /** 443 is served with a certificate. */
  readonly ports: readonly number[];
  /** Whether a certificate is requested for its host. */
  readonly isSecured: boolean;
  /** What is wrong with it, if anything: then it keeps what it had. */
  readonly mistake: string | undefined;
  readonly isDeleted: boolean;
}

/** What decides about a wish beside its author: administrators, and those who run the Services. */
export interface Surroundings {
  /** Of the class `tuned`. */
  readonly tunedGroup: string;
  /** Services that are not there. */
  readonly missing: ReadonlySet<string>;
}

/** Whether it is to have anything. */
export const isServed = ({ className, isDeleted }: IngressWish) => !isDeleted && className !== "theirs";

/** The group whose load balancer serves it. */
export function stackOf({ name, group, className }: IngressWish, { tunedGroup }: Surroundings): string {
  return className === "tuned" ? tunedGroup : (group ?? `default/${name}`);
}

/** Its rules: `stack:port host paths → target group`, or a fixed answer where the Service is missing. */
export function wantedRules(wish: IngressWish, around: Surroundings): readonly string[] {
  if (!isServed(wish)) return [];
  const { name, host, services, ports } = wish;
  return ports.flatMap((port) =>
    services.map((service) => {
      const to = around.missing.has(service) ? "503" : `default/${name}-${service}:80`;
      return `${stackOf(wish, around)}:${port} ${host} /${service},/${service}/* → ${to}`;
    }),
  );
}
