/** What to do about the failures that most people meet, for somebody who has never used AWS. */

/** A failure by what is said of it, and its remedy. */
interface Advice {
  readonly when: RegExp;
  readonly advice: string;
}

/** In the order they should be looked at. */
const table: readonly Advice[] = [
  {
    when: /could not find any suitable subnets/,
    advice:
      'A load balancer stands in subnets of the VPC. For an internet-facing one tag at least one subnet that has a route to an internet gateway with kubernetes.io/role/elb=1; for an internal one (aws-load-balancer-internal: "true") tag subnets with kubernetes.io/role/internal-elb=1; or name them with aws-load-balancer-subnets. A subnet tagged kubernetes.io/cluster/<another cluster> is never taken.',
  },
  {
    when: /expected to find \d+, but found \d+ subnets/,
    advice: "aws-load-balancer-subnets names a subnet that is not in this VPC: check the ids, or the Name tags.",
  },
  {
    when: /CertificateNotFound|certificate.*not found/i,
    advice:
      "The certificate in aws-load-balancer-ssl-cert does not exist in this account and region. Certificates of ACM are regional: request or import it in the region of the cluster, wait until it is issued, and copy its ARN.",
  },
  {
    when: /RulesPerSecurityGroupLimitExceeded/,
    advice:
      'A security group takes 60 rules by default. Ask AWS to raise "Inbound or outbound rules per security group", use fewer ports or source ranges, or set DisableSecurityGroupIngress in the cloud config and open the nodes with one rule of your own.',
  },
  {
    when: /SecurityGroupLimitExceeded|TooManySecurityGroups|InvalidGroup\.InUse/,
    advice:
      "The account has as many security groups as its quota allows, or the load balancer more than 5: remove some, or ask AWS for more.",
  },
  {
    when: /deletion protection is (on|enabled)/,
    advice:
      "Deletion protection is on for the load balancer. Turn it off in the console, or with aws elbv2 modify-load-balancer-attributes --attributes Key=deletion_protection.enabled,Value=false: the deletion then continues by itself.",
  },
  {
    when: /UnauthorizedOperation|AccessDenied|allow \S+ in the policy/,
    advice:
      "The role of the controller may not do what the message names: add that action to its IAM policy. deploy/iam holds a complete one.",
  },
  {
    when: /There are no available nodes/,
    advice:
      "No Node can take traffic: all are labelled node.kubernetes.io/exclude-from-external-load-balancers, about to be removed, without a provider ID, or left out by aws-load-balancer-target-node-labels.",
  },
  {
    when: /unhealthy|OutOfService|Target\.(Timeout|FailedHealthChecks|ResponseCodeMismatch)/,
    advice:
      "Targets fail their health check. Look at the reason beside each: a timeout is a security group or a pod that does not listen; with externalTrafficPolicy: Local only nodes that run a pod are healthy, and that is as it should be.",
  },
  {
    when: /Must have same number of (EIP|Private)/,
    advice: "Give one elastic IP (or private address) for each subnet, in the order of aws-load-balancer-subnets.",
  },
  { when: /is not known and has no effect/, advice: "An annotation is misspelt: see above for the one that was meant." },
  {
    when: /TooManyLoadBalancers|TooManyAccessPoints/,
    advice:
      "The account has as many load balancers as its quota allows (20 classic, 50 network by default): delete some, or ask AWS for more under Service Quotas, Elastic Load Balancing.",
  },
];

/** What fits anything that was said. */
export function adviceFor(said: readonly string[]): string[] {
  return table.filter(({ when }) => said.some((text) => when.test(text))).map(({ advice }) => advice);
}
