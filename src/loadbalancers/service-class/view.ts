/** A Service as much of it as its load balancer follows from. */

export interface ServicePortView {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  readonly targetPort: number | string;
  /** 0 when none is allocated. */
  readonly nodePort: number;
}

export interface ServiceView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly type: string;
  readonly loadBalancerClass?: string;
  readonly isDeleted: boolean;
  readonly ports: readonly ServicePortView[];
  readonly ipFamilies: readonly string[];
  readonly sourceRanges: readonly string[];
  /** Only nodes that run a pod take traffic, and a port of its own tells which do. */
  readonly local: boolean;
  readonly healthCheckNodePort: number;
  readonly allocatesNodePorts: boolean;
}

/** `namespace/name` */
export const keyOf = ({ namespace, name }: Pick<ServiceView, "namespace" | "name">) => `${namespace}/${name}`;
