/** The webhooks of the load balancer controller: what is served, with which certificate, on every replica. */
import { serviceClassWebhook } from "../../loadbalancers/admission/service-class.ts";
import { type CertificateSource, serveWebhooks } from "../../loadbalancers/admission/serving.ts";
import { targetControlWebhooks } from "../../loadbalancers/admission/target-control.ts";
import { type TrustPlace, webhookTrustController } from "../../loadbalancers/admission/trust-controller.ts";
import type { Webhook } from "../../loadbalancers/admission/webhook.ts";
import type { IngressInformers } from "../../loadbalancers/ingress/seen.ts";
import { ingressWebhooks } from "../../loadbalancers/ingress/webhooks.ts";
import type { BindingInformers } from "../../loadbalancers/targets/informers.ts";
import { quicWebhook } from "../../loadbalancers/targets/quic-injection.ts";
import { bindingWebhooks } from "../../loadbalancers/targets/webhooks.ts";
import { ConfigurationFailed } from "../../process/errors.ts";
import type { ControllerEntry, StandbyContext } from "../../process/program.ts";
import type { Serving } from "../../runtime/serving.ts";
import { gateOpen } from "./feature-gates.ts";
import type { Options } from "./flags.ts";
import { cloudAs } from "./roles.ts";

type Followed = BindingInformers & IngressInformers;

/** Answers on every replica. */
export async function startWebhooks(
  context: StandbyContext,
  options: Options,
  source: CertificateSource,
  informers: Followed,
): Promise<Pick<Serving, "stop">> {
  const { host, kube, health, signal } = context;
  const authorities = options["kube-ca-pem-filepath"];
  const clientAuthorities = authorities === "" ? undefined : (await readFile(context, authorities)).toString();
  return serveWebhooks({
    host: { ...host, log: host.log.with({ logger: "webhooks" }) },
    kube,
    health,
    signal,
    port: options["webhook-bind-port"],
    source,
    ...(clientAuthorities !== undefined && { clientAuthorities }),
    webhooks: webhooksOf(context, options, informers),
  });
}

/** All that are served. A door adds its own rows here. */
function webhooksOf(
  { host, kube, cloud, clouds, self, informers: shared }: Pick<StandbyContext, "host" | "kube" | "cloud" | "clouds" | "self" | "informers">,
  options: Options,
  informers: Followed,
): readonly Webhook[] {
  return [
    ...bindingWebhooks({
      bindings: shared.shared(informers.bindings),
      services: shared.shared(informers.services),
      cloudOf: ({ iamRoleArnToAssume: arn, assumeRoleExternalId: externalId }) =>
        arn ? cloudAs({ cloud, clouds }, options, { arn, ...(externalId && { externalId }) }) : cloud,
      vpc: self.vpc,
      injectsGates: options["enable-pod-readiness-gate-inject"],
    }),
    quicWebhook({ world: host.world, variable: options["quic-environment-variable-name"] }),
    ...(gateOpen(options["feature-gates"], "ALBTargetControlAgent") ? targetControlWebhooks(kube) : []),
    serviceClassWebhook(options["load-balancer-class"]),
    ...(gateOpen(options["feature-gates"], "IngressController")
      ? ingressWebhooks({
          classes: shared.shared(informers.classes),
          ingressClass: options["ingress-class"],
          forbidsClassAnnotation: options["disable-ingress-class-annotation"],
          forbidsGroupAnnotation: options["disable-ingress-group-name-annotation"],
        })
      : []),
  ];
}

async function readFile({ host }: StandbyContext, path: string): Promise<Buffer> {
  try {
    return Buffer.from(await host.world.files.read(path));
  } catch (cause) {
    throw new ConfigurationFailed(`--kube-ca-pem-filepath=${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** The leader's part: it makes the certificates and publishes whom to trust. */
export function trustEntry(client: string, place: TrustPlace, options: Options, informers: Followed): ControllerEntry {
  return {
    name: "webhookTrust",
    client,
    eventSource: "webhookTrust",
    metric: undefined,
    queue: "webhookTrust",
    make: async (context) => {
      const { host, kube } = context;
      const webhooks = webhooksOf(context, options, informers).map(({ name }) => name);
      return { kind: "run", controllers: [{ controller: webhookTrustController({ host, kube, place, webhooks }) }] };
    },
  };
}
