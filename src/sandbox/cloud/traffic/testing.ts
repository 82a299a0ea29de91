/** A load balancer with rules of every kind in front of pods. What becomes of requests is in `cases.ts`. */
import { ACMClient, RequestCertificateCommand } from "@aws-sdk/client-acm";
import { AuthorizeSecurityGroupIngressCommand } from "@aws-sdk/client-ec2";
import {
  type Action,
  type Listener,
  type LoadBalancer,
  RegisterTargetsCommand,
  type RuleCondition,
  type RuleTransform,
  SetSecurityGroupsCommand,
  type TargetGroup,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { type BalancingBed, balancingBed } from "../balancing/testing.ts";
import { application, forwardTo, path, rule, webGroup, webListener } from "../elbv2/application-testing.ts";
import { sdkConfig } from "../sdk-handler.ts";
import { echo, SimulatedPods } from "./pods.ts";

/** A bed with pods behind an application load balancer. */
export interface TrafficBed extends BalancingBed {
  readonly pods: SimulatedPods;
  readonly lb: LoadBalancer;
  readonly plain: Listener;
  readonly secure: Listener;
  /** By name; each has pods `NAME-1` and so on. */
  readonly groups: Readonly<Record<string, TargetGroup>>;
  /** The name of the pod at an address. */
  podAt(address: string): string | undefined;
}

const GROUPS = { web: 2, api: 1, blue: 1, green: 1, sick: 1, empty: 0 } as const;

/** Lets everybody in to these ports. */
export async function openTo(bed: BalancingBed, groupId: string, ...ports: readonly number[]): Promise<void> {
  const IpPermissions = ports.map((port) => ({ IpProtocol: "tcp", FromPort: port, ToPort: port, IpRanges: [{ CidrIp: "0.0.0.0/0" }] }));
  await bed.ec2.send(new AuthorizeSecurityGroupIngressCommand({ GroupId: groupId, IpPermissions }));
}

/** The bed, with pods that answer over sockets if asked to, and all of them healthy but those that are sick. */
export async function trafficBed(sockets: boolean): Promise<TrafficBed> {
  const pods = new SimulatedPods();
  const bed = await balancingBed({ probe: pods.probe });
  const lb = await application(bed, { SecurityGroups: [bed.groupId] });
  await openTo(bed, bed.groupId, 80, 443);
  const names = new Map<string, string>();
  const groups: Record<string, TargetGroup> = {};
  for (const [index, [name, count]] of Object.entries(GROUPS).entries()) {
    const tg = await webGroup(bed, name, { HealthyThresholdCount: 2 });
    groups[name] = tg;
    for (let number = 1; number <= count; number++) {
      const address = `10.0.${index % 3}.${100 + 10 * index + number}`;
      const handler = name === "sick" ? () => ({ status: 500, body: "sick" }) : echo(`${name}-${number}`);
      if (sockets) await pods.start(address, 8080, handler);
      else pods.put(address, 8080, handler);
      names.set(address, `${name}-${number}`);
      await bed.elbv2.send(new RegisterTargetsCommand({ TargetGroupArn: tg.TargetGroupArn, Targets: [{ Id: address }] }));
    }
  }
  const acm = new ACMClient(sdkConfig(bed.cloud));
  const { CertificateArn } = await acm.send(
    new RequestCertificateCommand({ DomainName: "example.com", SubjectAlternativeNames: ["*.example.com"] }),
  );
  bed.world.pass(130_000);
  const plain = await webListener(bed, lb);
  const secure = await webListener(bed, lb, { Protocol: "HTTPS", Port: 443, Certificates: [{ CertificateArn }] });
  const made = { ...bed, pods, lb, plain, secure, groups, podAt: (address: string) => names.get(address) };
  await makeRules(made);
  bed.world.pass(180_000);
  await bed.elbv2.send(new SetSecurityGroupsCommand({ LoadBalancerArn: lb.LoadBalancerArn, SecurityGroups: [bed.groupId] }));
  return made;
}

const host = (...Values: string[]): RuleCondition => ({ Field: "host-header", HostHeaderConfig: { Values } });
const fixed = (MessageBody: string, StatusCode = "200"): Action => ({
  Type: "fixed-response",
  FixedResponseConfig: { StatusCode, ContentType: "text/plain", MessageBody },
});
const redirect = (RedirectConfig: object): Action => ({ Type: "redirect", RedirectConfig: { StatusCode: "HTTP_301", ...RedirectConfig } });
const rewrite = (Regex: string, Replace: string): RuleTransform => ({
  Type: "url-rewrite",
  UrlRewriteConfig: { Rewrites: [{ Regex, Replace }] },
});
const rename = (Regex: string, Replace: string): RuleTransform => ({
  Type: "host-header-rewrite",
  HostHeaderRewriteConfig: { Rewrites: [{ Regex, Replace }] },
});
const oidc = (OnUnauthenticatedRequest: "authenticate" | "allow" | "deny"): Action => ({
  Type: "authenticate-oidc",
  Order: 1,
  AuthenticateOidcConfig: {
    Issuer: "https://id.example.org",
    AuthorizationEndpoint: "https://id.example.org/authorize",
    TokenEndpoint: "https://id.example.org/token",
    UserInfoEndpoint: "https://id.example.org/userinfo",
    ClientId: "shop",
    ClientSecret: "hush",
    AuthenticationRequestExtraParams: { prompt: "login" },
    OnUnauthenticatedRequest,
  },
});
const cognito: Action = {
  Type: "authenticate-cognito",
  Order: 1,
  AuthenticateCognitoConfig: {
    UserPoolArn: "arn:aws:cognito-idp:us-east-1:123456789012:userpool/us-east-1_abc",
    UserPoolClientId: "pool-client",
    UserPoolDomain: "shop",
  },
};
const jwt: Action = {
  Type: "jwt-validation",
  Order: 1,
  JwtValidationConfig: {
    JwksEndpoint: "https://id.example.org/keys",
    Issuer: "https://id.example.org",
    AdditionalClaims: [{ Format: "space-separated-values", Name: "scope", Values: ["read"] }],
  },
};

type RuleInput = readonly [RuleCondition[], Action[], RuleTransform[]?];

async function makeRules(bed: TrafficBed): Promise<void> {
  const to = (name: string) => forwardTo(bed.groups[name]!);
  const last = (action: Action): Action => ({ ...action, Order: 2 });
  const plain: readonly RuleInput[] = [
    [[host("api.example.com")], [to("api")]],
    [[host("*.wild.example.com", "old?.example.com")], [fixed("wild")]],
    [[{ Field: "host-header", HostHeaderConfig: { RegexValues: ["^v[0-9]+\\.regex\\.example\\.com$"] } }], [fixed("regex host")]],
    [[host("shop.example.com"), path("/cart", "/cart/*")], [fixed("cart")]],
    [[host("shop.example.com"), path("/*.png")], [fixed("picture")]],
    [[host("shop.example.com"), path("/item/?")], [fixed("one character")]],
    [[host("shop.example.com"), { Field: "path-pattern", PathPatternConfig: { RegexValues: ["^/v[12]/(.+)$"] } }], [fixed("regex path")]],
    [[host("shop.example.com"), path("/*")], [to("api")]],
    [[{ Field: "http-header", HttpHeaderConfig: { HttpHeaderName: "X-Team", Values: ["blue*"] } }], [to("blue")]],
    [
      [{ Field: "http-header", HttpHeaderConfig: { HttpHeaderName: "User-Agent", RegexValues: ["Curl/[0-9.]+"] } }],
      [fixed("regex header")],
    ],
    [
      [host("write.example.com"), { Field: "http-request-method", HttpRequestMethodConfig: { Values: ["POST", "PUT"] } }],
      [fixed("written", "201")],
    ],
    [
      [{ Field: "query-string", QueryStringConfig: { Values: [{ Key: "version", Value: "v1" }, { Value: "*example*" }] } }],
      [fixed("query")],
    ],
    [[host("office.example.com"), { Field: "source-ip", SourceIpConfig: { Values: ["127.0.0.9/32", "10.0.0.0/8"] } }], [fixed("office")]],
    [[host("secure.example.com")], [redirect({ Protocol: "HTTPS", Port: "443" })]],
    [
      [host("moved.example.com")],
      [redirect({ Host: "new.#{host}", Path: "/archive/#{path}", Query: "from=#{port}&#{query}", StatusCode: "HTTP_302" })],
    ],
    [
      [host("gone.example.com")],
      [
        {
          Type: "fixed-response",
          FixedResponseConfig: { StatusCode: "503", ContentType: "application/json", MessageBody: '{"down":true}' },
        },
      ],
    ],
    [[host("rewrite.example.com")], [to("api")], [rewrite("^/api/(.*)$", "/$1"), rename("^(.+)\\.example\\.com", "$1.internal")]],
    [[host("product.example.com")], [to("api")], [rewrite("^/dp/([A-Za-z0-9]+)/?$", "/product.php?id=$1")]],
    [[host("broken.example.com")], [to("api")], [rewrite("^/", "nowhere")]],
    [[host("empty.example.com")], [to("empty")]],
    [[host("sick.example.com")], [to("sick")]],
    [[host("web.example.com")], [to("web")]],
  ];
  const secure: readonly RuleInput[] = [
    [[host("login.example.com")], [oidc("authenticate"), last(to("api"))]],
    [[host("pool.example.com")], [cognito, last(to("api"))]],
    [[host("closed.example.com")], [oidc("deny"), last(to("api"))]],
    [[host("open.example.com")], [oidc("allow"), last(to("api"))]],
    [[host("token.example.com")], [jwt, last(to("api"))]],
  ];
  for (const [listener, list] of [
    [bed.plain, plain],
    [bed.secure, secure],
  ] as const) {
    for (const [index, [Conditions, Actions, Transforms]] of list.entries()) {
      await rule(bed, listener, index + 1, { Conditions, Actions, ...(Transforms && { Transforms }) });
    }
  }
}
