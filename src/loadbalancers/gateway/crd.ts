/** The definitions of LoadBalancerConfiguration and TargetGroupConfiguration: the reference's. */
import { definitionOf, flag, integer, list, map, object, oneOf, pair, rules, text, texts } from "./schema.ts";

const observed = { type: "integer", format: "int64", description: "Kept for the reference; not written." };
const status = object("What was seen of it.", {
  observedGatewayConfigurationGeneration: observed,
  observedGatewayClassConfigurationGeneration: observed,
});

const otherMode = (field: string) => `Mutual Authentication mode 'off' or 'passthrough' does not support '${field}'`;
const onlyVerify = (field: string) => [`self.mode == 'verify' || !has(self.${field})`, otherMode(field)] as const;

const mutualAuthentication = object(
  "Whether clients of an HTTPS listener must present certificates.",
  {
    mode: oneOf("How they are checked.", ["off", "passthrough", "verify"]),
    trustStore: text("The name or ARN of a trust store."),
    ignoreClientCertificateExpiry: flag("Whether certificates that have expired are taken."),
    advertiseTrustStoreCaNames: oneOf("Whether clients are told which authorities are trusted.", ["on", "off"]),
  },
  {
    required: ["mode"],
    ...rules(
      ["self.mode != 'verify' || has(self.trustStore)", "trustStore is required when mutualAuthentication mode is 'verify'"],
      onlyVerify("trustStore"),
      onlyVerify("ignoreClientCertificateExpiry"),
      onlyVerify("advertiseTrustStoreCaNames"),
    ),
  },
);

/** A port from 1 to 65535. */
const port = "(?:6553[0-5]|655[0-2]\\d|65[0-4]\\d{2}|6[0-4]\\d{3}|[1-5]\\d{4}|[1-9]\\d{0,3})";

const listener = object(
  "A listener, by protocol and port.",
  {
    protocolPort: text("Which one: HTTPS:443.", { pattern: `^(HTTP|HTTPS|TLS|TCP|UDP|TCP_UDP)?:${port}?$` }),
    defaultCertificate: text("The ARN of the certificate for clients that name no host."),
    certificates: texts("ARNs of further certificates."),
    sslPolicy: text("The AWS security policy."),
    alpnPolicy: oneOf("Of TLS listeners.", ["HTTP1Only", "HTTP2Only", "HTTP2Optional", "HTTP2Preferred", "None"], { default: "None" }),
    targetGroupStickiness: flag("Whether a network listener keeps clients with a target group."),
    mutualAuthentication,
    listenerAttributes: list("Its attributes.", pair),
    quicEnabled: flag("Whether UDP becomes QUIC."),
  },
  { required: ["protocolPort"] },
);

const subnet = object("A subnet, and addresses in it. What one entry says all have to say.", {
  identifier: text("Its id, or the value of its Name tag."),
  eipAllocation: text("The allocation of an elastic IP."),
  privateIPv4Allocation: text("A private IPv4 address."),
  ipv6Allocation: text("An IPv6 address."),
  sourceNatIPv6Prefix: text("A prefix for source NAT."),
});

export const loadBalancerConfigurationDefinition = definitionOf({
  kind: "LoadBalancerConfiguration",
  plural: "loadbalancerconfigurations",
  description: "How the load balancers of a Gateway, or of all Gateways of a class, are made.",
  status,
  spec: object("Settings; what is absent is left to defaults.", {
    mergingMode: oneOf("Who goes first where class and Gateway differ; read of the class's.", ["prefer-gateway", "prefer-gateway-class"]),
    loadBalancerName: text("The name of a new load balancer.", { minLength: 1, maxLength: 32 }),
    scheme: oneOf("Whether it has public addresses.", ["internal", "internet-facing"]),
    ipAddressType: oneOf("The families of its addresses.", ["ipv4", "dualstack", "dualstack-without-public-ipv4"]),
    enforceSecurityGroupInboundRulesOnPrivateLinkTraffic: text("on or off, of network load balancers."),
    customerOwnedIpv4Pool: text("A pool of addresses on Outposts."),
    ipv4IPAMPoolId: text("The id of an IPAM pool."),
    loadBalancerSubnets: list("The subnets it stands in.", subnet),
    loadBalancerSubnetsSelector: map("The same by tags, each with the values that it may have.", {
      type: "array",
      items: { type: "string" },
    }),
    listenerConfigurations: list("Settings of listeners; makes none.", listener),
    disableSecurityGroup: flag("Whether a network load balancer is made without security groups."),
    securityGroups: texts("Ids or Name tags of security groups, in place of a managed one."),
    securityGroupPrefixes: texts("Who may reach the listeners, by prefix list."),
    sourceRanges: texts("Who may reach the listeners, by CIDR block."),
    loadBalancerAttributes: list("Attributes of the load balancer.", pair),
    tags: map("Tags of load balancer, listeners and managed security group."),
    enableICMP: flag("Whether the managed group lets in what path MTU discovery needs."),
    manageBackendSecurityGroupRules: flag("Whether targets are opened where security groups are given."),
    minimumLoadBalancerCapacity: object(
      "Capacity that is reserved.",
      { capacityUnits: integer("Units.") },
      { required: ["capacityUnits"] },
    ),
    wafV2: object("The web ACL in front.", { webACL: text("Its ARN.") }, { required: ["webACL"] }),
    shieldConfiguration: object("Shield Advanced.", { enabled: flag("Whether it protects the load balancer.") }),
    defaultTargetGroupConfiguration: object(
      "The TargetGroupConfiguration of backends that have none of their own.",
      { name: text("Its name, in the same namespace.") },
      { required: ["name"] },
    ),
  }),
});

const selector = object("Nodes that are registered.", {
  matchLabels: map("Labels with these values."),
  matchExpressions: list(
    "Requirements, all of which must hold.",
    object(
      "A requirement.",
      { key: text("The label."), operator: text("In, NotIn, Exists or DoesNotExist."), values: texts("What In and NotIn compare with.") },
      { required: ["key", "operator"] },
    ),
  ),
});

const targetGroup = object("Settings of target groups.", {
  targetGroupName: text("Its name."),
  ipAddressType: oneOf("The family of its targets.", ["ipv4", "ipv6"]),
  targetType: oneOf("Whether nodes or pods are registered.", ["instance", "ip"]),
  protocol: oneOf("What targets speak.", ["HTTP", "HTTPS", "TCP", "TLS", "UDP", "TCP_UDP"]),
  protocolVersion: oneOf("Of HTTP, behind an HTTPS listener.", ["HTTP1", "HTTP2", "GRPC"]),
  healthCheckConfig: object("How targets are checked.", {
    healthCheckProtocol: oneOf("The protocol.", ["HTTP", "HTTPS", "TCP"]),
    healthCheckPort: text("traffic-port, a number, or the name of a port of the Service."),
    healthCheckPath: text("The path."),
    healthCheckInterval: integer("Seconds between checks."),
    healthCheckTimeout: integer("Seconds until a check fails."),
    healthyThresholdCount: integer("Checks until a target is healthy."),
    unhealthyThresholdCount: integer("Checks until it is not."),
    matcher: object("Codes of a healthy answer.", { httpCode: text("Of HTTP."), grpcCode: text("Of gRPC.") }),
  }),
  nodeSelector: selector,
  targetGroupAttributes: list("Attributes.", pair),
  targetControlPort: integer("Where targets tell how many requests they take."),
  enableMultiCluster: flag("Whether several clusters register targets."),
  tags: map("Tags."),
});

const routeIdentifier = object("Which routes: a kind, of a namespace, by name.", {
  kind: text("The kind of route."),
  namespace: text("Its namespace."),
  name: text("Its name; says nothing without the namespace."),
});

export const targetGroupConfigurationDefinition = definitionOf({
  kind: "TargetGroupConfiguration",
  plural: "targetgroupconfigurations",
  description: "How the target groups of a backend are made.",
  columns: [{ name: "SERVICE-NAME", type: "string", jsonPath: ".spec.targetReference.name" }],
  status,
  spec: object("Settings of a backend, or, without a reference, a default.", {
    targetReference: object(
      "The backend, in the same namespace.",
      { group: text("Its group.", { default: "" }), kind: text("Service or Gateway.", { default: "Service" }), name: text("Its name.") },
      { required: ["name"] },
    ),
    defaultConfiguration: targetGroup,
    routeConfigurations: list(
      "Settings for some routes.",
      object(
        "Settings for the routes that fit.",
        { routeIdentifier, targetGroupProps: targetGroup },
        {
          required: ["routeIdentifier", "targetGroupProps"],
        },
      ),
    ),
  }),
});
