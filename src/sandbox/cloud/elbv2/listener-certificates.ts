/** The certificates of a TLS or HTTPS listener: its default one, and more for other host names. */
import {
  AddListenerCertificates$,
  type AddListenerCertificatesInput,
  type AddListenerCertificatesOutput,
  DescribeListenerCertificates$,
  type DescribeListenerCertificatesInput,
  type DescribeListenerCertificatesOutput,
  RemoveListenerCertificates$,
  type RemoveListenerCertificatesInput,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { checkCertificate } from "../balancing/certificates.ts";
import { markerPage } from "../balancing/pages.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { type Elbv2, type Listener, listenerAt, listenersOf } from "./state.ts";

/** The operations on a listener's certificates. */
export function listenerCertificateOperations(elbv2: Elbv2): Operations {
  return [
    write<AddListenerCertificatesInput, AddListenerCertificatesOutput>(AddListenerCertificates$, (input) => {
      const listener = secureListener(elbv2, input.ListenerArn);
      const added = (input.Certificates ?? []).map(({ CertificateArn }) => checkCertificate(elbv2.account, CertificateArn ?? ""));
      const moreCertificates = [...new Set([...listener.moreCertificates, ...added])];
      const others = listenersOf(elbv2, listener.loadBalancerArn).filter(({ arn }) => arn !== listener.arn);
      // Default certificates do not count, also where they are listed beside themselves.
      const counted = [...others, { ...listener, moreCertificates }].flatMap((each) =>
        each.moreCertificates.filter((arn) => arn !== each.certificate),
      );
      if (counted.length > elbv2.account.settings().quotas.certificatesPerLoadBalancer) {
        throw new ServiceError("TooManyCertificates", "The maximum number of certificates has been reached for this load balancer");
      }
      elbv2.listeners.update(listener.arn, { moreCertificates });
      return { Certificates: added.map((CertificateArn) => ({ CertificateArn, IsDefault: false })) };
    }),
    write<RemoveListenerCertificatesInput, object>(RemoveListenerCertificates$, (input) => {
      const listener = secureListener(elbv2, input.ListenerArn);
      const leaving = (input.Certificates ?? []).map(({ CertificateArn }) => CertificateArn ?? "");
      if (leaving.some((arn) => arn === listener.certificate && !listener.moreCertificates.includes(arn))) {
        throw new ServiceError(
          "OperationNotPermitted",
          "The default certificate of a listener cannot be removed: replace it with ModifyListener",
        );
      }
      elbv2.listeners.update(listener.arn, { moreCertificates: listener.moreCertificates.filter((arn) => !leaving.includes(arn)) });
      return {};
    }),
    read<DescribeListenerCertificatesInput, DescribeListenerCertificatesOutput>(DescribeListenerCertificates$, (input) => {
      const listener = listenerAt(elbv2, input.ListenerArn);
      const all = [
        ...(listener.certificate === undefined ? [] : [{ CertificateArn: listener.certificate, IsDefault: true }]),
        ...listener.moreCertificates.map((CertificateArn) => ({ CertificateArn, IsDefault: false })),
      ];
      const key = (one: (typeof all)[number]) => `${one.IsDefault ? 0 : 1} ${one.CertificateArn}`;
      const { items, NextMarker } = markerPage(elbv2.account, all, key, input);
      return { Certificates: [...items], NextMarker };
    }),
  ];
}

function secureListener(elbv2: Elbv2, arn: string | undefined): Listener {
  const listener = listenerAt(elbv2, arn);
  if (listener.certificate === undefined) {
    throw new ServiceError(
      "OperationNotPermitted",
      `Certificates can only be used with TLS and HTTPS listeners: '${listener.arn}' has protocol ${listener.protocol}`,
    );
  }
  return listener;
}
