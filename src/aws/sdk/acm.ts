/** What is used of the client of AWS Certificate Manager. */
export {
  ACMClient as Client,
  DeleteCertificateCommand,
  DescribeCertificateCommand,
  ListCertificatesCommand,
  ListTagsForCertificateCommand,
  RequestCertificateCommand,
} from "@aws-sdk/client-acm";
