/** A classic load balancer as AWS tells of it, turned into what plans compare with. */
import type { LoadBalancerAttributes, LoadBalancerDescription } from "@aws-sdk/client-elastic-load-balancing";
import type { ClassicAttributes, Tags } from "../model.ts";
import type { SeenClassic } from "./plan.ts";

export function seeClassic(
  lb: LoadBalancerDescription,
  attributes: ClassicAttributes,
  tags: Tags | undefined,
): NonNullable<SeenClassic["loadBalancer"]> {
  const { HealthCheck: check, Policies: policies } = lb;
  const listeners = lb.ListenerDescriptions ?? [];
  return {
    subnets: lb.Subnets ?? [],
    securityGroups: lb.SecurityGroups ?? [],
    listeners: listeners.flatMap(({ Listener: listener, PolicyNames = [] }) =>
      listener
        ? [
            {
              port: listener.LoadBalancerPort ?? 0,
              protocol: listener.Protocol ?? "",
              instancePort: listener.InstancePort ?? 0,
              instanceProtocol: listener.InstanceProtocol ?? listener.Protocol ?? "",
              certificate: listener.SSLCertificateId || undefined,
              policies: PolicyNames,
            },
          ]
        : [],
    ),
    ...(check && {
      healthCheck: {
        target: check.Target ?? "",
        healthyThreshold: check.HealthyThreshold ?? 0,
        unhealthyThreshold: check.UnhealthyThreshold ?? 0,
        interval: check.Interval ?? 0,
        timeout: check.Timeout ?? 0,
      },
    }),
    instances: classicInstances(lb),
    attributes,
    policies: {
      names: [...new Set([...(policies?.OtherPolicies ?? []), ...listeners.flatMap(({ PolicyNames = [] }) => PolicyNames)])],
      backends: Object.fromEntries(
        (lb.BackendServerDescriptions ?? []).map(({ InstancePort = 0, PolicyNames = [] }) => [InstancePort, PolicyNames]),
      ),
    },
    ...(tags && { tags }),
  };
}

/** The ids of what is registered. */
export function classicInstances({ Instances = [] }: LoadBalancerDescription): readonly string[] {
  return Instances.flatMap(({ InstanceId }) => InstanceId ?? []);
}

/** What plans compare of them. */
export function seeAttributes(is: LoadBalancerAttributes): ClassicAttributes {
  return {
    accessLog: {
      enabled: is.AccessLog?.Enabled ?? false,
      emitInterval: is.AccessLog?.EmitInterval,
      bucket: is.AccessLog?.S3BucketName,
      prefix: is.AccessLog?.S3BucketPrefix,
    },
    connectionDraining: { enabled: is.ConnectionDraining?.Enabled ?? false, timeout: is.ConnectionDraining?.Timeout },
    idleTimeout: is.ConnectionSettings?.IdleTimeout ?? 60,
    crossZone: is.CrossZoneLoadBalancing?.Enabled ?? false,
  };
}
