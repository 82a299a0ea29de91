/** Certificates of clients: what an HTTPS listener does with them. */
import type { CreateListenerInput, MutualAuthenticationAttributes, ProtocolEnum } from "@aws-sdk/client-elastic-load-balancing-v2";
import { invalidConfiguration } from "../balancing/network.ts";
import { ServiceError } from "../errors.ts";
import { type Elbv2, type Listener, type LoadBalancer, listenersOf, trustStoreAt } from "./state.ts";

/** Listeners of one load balancer that may verify certificates. */
const MOST_VERIFYING = 2;
const MODES = ["off", "passthrough", "verify"];

/** The settings of a listener as AWS keeps them: those given, or those it had. */
export function checkedMutualAuthentication(
  { elbv2, loadBalancer, protocol }: { readonly elbv2: Elbv2; readonly loadBalancer: LoadBalancer; readonly protocol: ProtocolEnum },
  { MutualAuthentication: given }: Pick<CreateListenerInput, "MutualAuthentication">,
  before: Listener | undefined,
): MutualAuthenticationAttributes | undefined {
  if (protocol !== "HTTPS") {
    if (given !== undefined) throw invalidConfiguration(`Mutual authentication is not supported for protocol ${protocol}`);
    return undefined;
  }
  if (given === undefined) return before?.mutualAuthentication ?? { Mode: "off" };
  const {
    Mode: mode = "off",
    TrustStoreArn: store,
    IgnoreClientCertificateExpiry: ignoreExpiry,
    AdvertiseTrustStoreCaNames: names,
  } = given;
  if (!MODES.includes(mode))
    throw new ServiceError("ValidationError", `The mutual authentication mode '${mode}' must be one of '[${MODES.join(", ")}]'`);
  if (mode !== "verify") {
    if (store) throw invalidConfiguration(`A trust store cannot be specified for mutual authentication mode '${mode}'`);
    if (ignoreExpiry) throw invalidConfiguration(`Client certificate expiry cannot be ignored in mutual authentication mode '${mode}'`);
    return { Mode: mode };
  }
  if (!store) throw invalidConfiguration("A trust store must be specified for mutual authentication mode 'verify'");
  const { arn, state } = trustStoreAt(elbv2, store);
  if (state !== "ACTIVE") throw new ServiceError("TrustStoreNotReady", `The trust store '${arn}' is not active`);
  const others = listenersOf(elbv2, loadBalancer.arn).filter((listener) => listener.arn !== before?.arn);
  if (others.filter(({ mutualAuthentication }) => mutualAuthentication?.Mode === "verify").length >= MOST_VERIFYING) {
    throw invalidConfiguration(`At most ${MOST_VERIFYING} listeners of a load balancer can verify client certificates`);
  }
  return {
    Mode: mode,
    TrustStoreArn: arn,
    IgnoreClientCertificateExpiry: ignoreExpiry ?? false,
    TrustStoreAssociationStatus: "active",
    AdvertiseTrustStoreCaNames: names ?? "off",
  };
}
