/** The AWS services Fairlead calls, and the names each is known by. */

export type ServiceName = keyof typeof services;

interface ServiceFacts {
  /** The SDK's service id: what the cloud config's `ServiceOverride` and the reference's metrics use. */
  readonly sdkId: string;
  /** What `AWS_ENDPOINT_URL_` is followed by. */
  readonly environment: string;
  /** The prefix of the service's IAM actions. */
  readonly iam: string;
  /** Further names accepted in `ServiceOverride`, in lower case. */
  readonly aliases: readonly string[];
}

const services = {
  ec2: { sdkId: "EC2", environment: "EC2", iam: "ec2", aliases: [] },
  elb: {
    sdkId: "Elastic Load Balancing",
    environment: "ELASTIC_LOAD_BALANCING",
    iam: "elasticloadbalancing",
    aliases: ["elasticloadbalancing", "elb"],
  },
  elbv2: {
    sdkId: "Elastic Load Balancing v2",
    environment: "ELASTIC_LOAD_BALANCING_V2",
    iam: "elasticloadbalancing",
    aliases: ["elasticloadbalancingv2", "elbv2"],
  },
  autoscaling: { sdkId: "Auto Scaling", environment: "AUTO_SCALING", iam: "autoscaling", aliases: ["autoscaling"] },
  sqs: { sdkId: "SQS", environment: "SQS", iam: "sqs", aliases: [] },
  events: { sdkId: "EventBridge", environment: "EVENTBRIDGE", iam: "events", aliases: ["events"] },
  acm: { sdkId: "ACM", environment: "ACM", iam: "acm", aliases: [] },
  wafv2: { sdkId: "WAFV2", environment: "WAFV2", iam: "wafv2", aliases: [] },
  "waf-regional": { sdkId: "WAF Regional", environment: "WAF_REGIONAL", iam: "waf-regional", aliases: ["waf-regional"] },
  route53: { sdkId: "Route 53", environment: "ROUTE_53", iam: "route53", aliases: ["route53"] },
  shield: { sdkId: "Shield", environment: "SHIELD", iam: "shield", aliases: [] },
  tagging: {
    sdkId: "Resource Groups Tagging API",
    environment: "RESOURCE_GROUPS_TAGGING_API",
    iam: "tag",
    aliases: ["tagging"],
  },
  kms: { sdkId: "KMS", environment: "KMS", iam: "kms", aliases: [] },
  iam: { sdkId: "IAM", environment: "IAM", iam: "iam", aliases: [] },
  sts: { sdkId: "STS", environment: "STS", iam: "sts", aliases: [] },
  ecr: { sdkId: "ECR", environment: "ECR", iam: "ecr", aliases: ["api.ecr"] },
  "ecr-public": { sdkId: "ECR PUBLIC", environment: "ECR_PUBLIC", iam: "ecr-public", aliases: ["ecr-public", "api.ecr-public"] },
} as const satisfies Record<string, ServiceFacts>;

/** What is known of a service. */
export function serviceFacts(service: ServiceName): ServiceFacts {
  return services[service];
}

/** The service a configuration means, in any case and by any of its names. */
export function findService(name: string): ServiceName | undefined {
  const wanted = name.trim().toLowerCase();
  for (const [service, facts] of Object.entries(services) as [ServiceName, ServiceFacts][]) {
    if (facts.sdkId.toLowerCase() === wanted || facts.aliases.includes(wanted)) return service;
  }
  return undefined;
}
