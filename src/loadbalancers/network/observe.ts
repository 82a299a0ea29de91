/** A network load balancer as AWS tells of it, turned into what plans compare with. */
import type { Listener } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { SeenListener } from "./plan-listeners.ts";

export function seeListener(listener: Listener): SeenListener {
  return {
    arn: listener.ListenerArn ?? "",
    port: listener.Port ?? 0,
    protocol: listener.Protocol ?? "",
    certificate: listener.Certificates?.[0]?.CertificateArn,
    sslPolicy: listener.SslPolicy || undefined,
    actions: listener.DefaultActions ?? [],
    ...(listener.AlpnPolicy?.[0] && { alpnPolicy: listener.AlpnPolicy[0] }),
  };
}
