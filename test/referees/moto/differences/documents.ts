/** Addresses of AWS's own pages. */

/** A page of the EC2 API reference: `API_Subnet`, `errors-overview`. */
export function ec2Page(name: string): string {
  return `https://docs.aws.amazon.com/AWSEC2/latest/APIReference/${name}.html`;
}

/** A page of the API reference of classic load balancers. */
export function classicPage(name: string): string {
  return `https://docs.aws.amazon.com/elasticloadbalancing/2012-06-01/APIReference/${name}.html`;
}

/** A page of the API reference of application and network load balancers. */
export function balancingPage(name: string): string {
  return `https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/${name}.html`;
}

/** EC2's list of error codes. */
export const ec2Errors = ec2Page("errors-overview");

/** A page of the IAM API reference. */
export function iamPage(name: string): string {
  return `https://docs.aws.amazon.com/IAM/latest/APIReference/${name}.html`;
}
