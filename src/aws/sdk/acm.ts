/** What is used of the client of AWS Certificate Manager. */
export { ACMClient as Client, DescribeCertificateCommand, ListCertificatesCommand } from "@aws-sdk/client-acm";
