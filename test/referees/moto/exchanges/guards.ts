/** What stands around application load balancers: certificates, web access control lists, protections, tags found by tag. */
import {
  AddTagsToCertificateCommand,
  DeleteCertificateCommand,
  DescribeCertificateCommand,
  ListCertificatesCommand,
  ListTagsForCertificateCommand,
  RequestCertificateCommand,
} from "@aws-sdk/client-acm";
import { GetResourcesCommand } from "@aws-sdk/client-resource-groups-tagging-api";
import { CreateProtectionCommand, DeleteProtectionCommand, DescribeProtectionCommand } from "@aws-sdk/client-shield";
import {
  AssociateWebACLCommand,
  CreateWebACLCommand,
  DisassociateWebACLCommand,
  GetWebACLForResourceCommand,
  ListWebACLsCommand,
} from "@aws-sdk/client-wafv2";
import { asker, type Exchange } from "../script.ts";

const acm = asker("acm");
const waf = asker("wafv2");
const shield = asker("shield");
const tagging = asker("tagging");

const noCertificate = "arn:aws:acm:us-east-1:123456789012:certificate/01234567-89ab-cdef-0123-456789abcdef";

export const certificateExchanges: readonly Exchange[] = [
  acm(
    "a certificate is requested",
    RequestCertificateCommand,
    {
      DomainName: "shop.example.com",
      SubjectAlternativeNames: ["www.example.com"],
      ValidationMethod: "DNS",
      Tags: [{ Key: "team", Value: "shop" }],
    },
    { certificate: "CertificateArn" },
  ),
  acm(
    "another certificate is requested",
    RequestCertificateCommand,
    { DomainName: "other.example.com", ValidationMethod: "DNS" },
    { otherCertificate: "CertificateArn" },
  ),
  acm("a certificate that does not exist", DescribeCertificateCommand, { CertificateArn: noCertificate }),
  acm("the tags of a certificate", ListTagsForCertificateCommand, { CertificateArn: "$certificate" }),
  acm("a certificate is tagged", AddTagsToCertificateCommand, { CertificateArn: "$certificate", Tags: [{ Key: "stage", Value: "prod" }] }),
  acm("certificates that are revoked", ListCertificatesCommand, { CertificateStatuses: ["REVOKED"] }),
];

/** After the load balancer of these exchanges has its listeners. */
export const guardExchanges: readonly Exchange[] = [
  acm("a certificate that a load balancer uses", DescribeCertificateCommand, { CertificateArn: "$certificate" }),
  waf(
    "a web ACL is created",
    CreateWebACLCommand,
    {
      Name: "guard",
      Scope: "REGIONAL",
      DefaultAction: { Allow: {} },
      VisibilityConfig: { SampledRequestsEnabled: false, CloudWatchMetricsEnabled: false, MetricName: "guard" },
    },
    { acl: "Summary.ARN", aclId: "Summary.Id", aclLock: "Summary.LockToken" },
  ),
  waf("a load balancer without a web ACL", GetWebACLForResourceCommand, { ResourceArn: "$shopArn" }),
  waf("a web ACL guards a load balancer", AssociateWebACLCommand, { WebACLArn: "$acl", ResourceArn: "$shopArn" }),
  waf("the web ACL of a load balancer", GetWebACLForResourceCommand, { ResourceArn: "$shopArn" }),
  waf("a web ACL that does not exist guards a load balancer", AssociateWebACLCommand, {
    WebACLArn: "arn:aws:wafv2:us-east-1:123456789012:regional/webacl/nobody/01234567-89ab-cdef-0123-456789abcdef",
    ResourceArn: "$shopArn",
  }),
  waf("web ACLs", ListWebACLsCommand, { Scope: "REGIONAL" }),
  waf("a web ACL guards a load balancer no more", DisassociateWebACLCommand, { ResourceArn: "$shopArn" }),
  shield("a protection that does not exist", DescribeProtectionCommand, { ResourceArn: "$shopArn" }),
  shield("a protection without a subscription", CreateProtectionCommand, { Name: "ours", ResourceArn: "$shopArn" }),
  shield("a protection that does not exist is deleted", DeleteProtectionCommand, { ProtectionId: "01234567-89ab-cdef-0123-456789abcdef" }),
  tagging("load balancers by tag", GetResourcesCommand, {
    ResourceTypeFilters: ["elasticloadbalancing:loadbalancer"],
    TagFilters: [{ Key: "elbv2.k8s.aws/cluster", Values: ["test"] }],
  }),
  tagging("nothing by tag", GetResourcesCommand, { TagFilters: [{ Key: "nobody", Values: ["has", "this"] }] }),
  acm("a certificate in use is deleted", DeleteCertificateCommand, { CertificateArn: "$otherCertificate" }),
  acm("a certificate that does not exist is deleted", DeleteCertificateCommand, { CertificateArn: noCertificate }),
];
