/** What requesting certificates for Ingresses takes in AWS: only with the feature gate EnableCertificateManagement. */
import * as acm from "../aws/acm-actions.ts";
import * as route53 from "../aws/route53-actions.ts";
import type { Condition, Grant } from "./permissions.ts";

const clusterTag = "elbv2.k8s.aws/cluster";
const ofCluster: Condition = { StringEquals: { [`aws:ResourceTag/${clusterTag}`]: "CLUSTER_ID" } };
const markedAsClusters: Condition = { StringEquals: { [`aws:RequestTag/${clusterTag}`]: "CLUSTER_ID" } };

const certificates = ["arn:*:acm:*:*:certificate/*"];
const onlyPublic = "only certificates of a private authority can be requested";

export const certificateGrants: readonly Grant[] = [
  {
    sid: "ReadCertificates",
    why: "See which certificates exist, and which of them are the cluster's",
    calls: [acm.listCertificates, acm.describeCertificate, acm.listTagsForCertificate],
    resources: ["*"],
    strict: [{ condition: { StringEquals: { "aws:RequestedRegion": "REGION" } } }],
  },
  {
    sid: "RequestCertificates",
    why: "Request certificates for the host names of Ingresses, marked as the cluster's from the first moment (checked with the request)",
    calls: [acm.requestCertificate],
    also: ["acm:AddTagsToCertificate"],
    resources: ["*"],
    strict: [{ condition: markedAsClusters }],
  },
  {
    sid: "DeleteCertificates",
    why: "Delete those that no Ingress asks for any more",
    calls: [acm.deleteCertificate],
    resources: certificates,
    strict: [{ condition: ofCluster }],
  },
  {
    sid: "ReadZones",
    why: "Find the hosted zones of the host names",
    calls: [route53.listHostedZones],
    resources: ["*"],
    optional: onlyPublic,
  },
  {
    sid: "ProveDomains",
    why: "Write the records by which AWS sees that the domains are yours, and delete them. Name your zones here to allow no others",
    calls: [route53.changeResourceRecordSets],
    resources: ["arn:*:route53:::hostedzone/*"],
    optional: onlyPublic,
  },
  {
    sid: "UseAuthorities",
    why: "Checked where a private authority issues a certificate",
    calls: [],
    also: ["acm-pca:GetCertificate", "acm-pca:IssueCertificate", "acm-pca:ListPermissions"],
    resources: ["arn:*:acm-pca:*:*:certificate-authority/*"],
    optional: "no certificates of private authorities",
  },
];
