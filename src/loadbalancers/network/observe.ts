/** A network load balancer as AWS tells of it, turned into what plans compare with. */
import type { Listener, TargetGroup, TargetHealthDescription } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { SeenListener, SeenTargetGroup } from "./plan.ts";

export function seeListener(listener: Listener): SeenListener {
  return {
    arn: listener.ListenerArn ?? "",
    port: listener.Port ?? 0,
    protocol: listener.Protocol ?? "",
    certificate: listener.Certificates?.[0]?.CertificateArn,
    sslPolicy: listener.SslPolicy || undefined,
    forwardsTo: listener.DefaultActions?.[0]?.TargetGroupArn,
  };
}

/** A target group with what is registered in it. */
export function seeTargetGroup(
  group: TargetGroup,
  health: readonly TargetHealthDescription[],
  attributes: Readonly<Record<string, string>>,
): SeenTargetGroup {
  return {
    arn: group.TargetGroupArn ?? "",
    name: group.TargetGroupName ?? "",
    protocol: group.Protocol ?? "",
    port: group.Port ?? 0,
    healthCheck: {
      protocol: group.HealthCheckProtocol ?? "",
      port: group.HealthCheckPort ?? "",
      path: group.HealthCheckPath || undefined,
      interval: group.HealthCheckIntervalSeconds ?? 0,
      healthyThreshold: group.HealthyThresholdCount ?? 0,
      unhealthyThreshold: group.UnhealthyThresholdCount ?? 0,
    },
    attributes,
    targets: health
      // What is on its way out is gone, as far as anybody plans.
      .filter(({ TargetHealth }) => TargetHealth?.Reason !== "Target.DeregistrationInProgress")
      .flatMap(({ Target }) => (Target?.Id ? [{ id: Target.Id, port: Target.Port ?? group.Port ?? 0 }] : [])),
  };
}
