/** The attributes of a classic load balancer. */
import {
  DescribeLoadBalancerAttributes$,
  type DescribeLoadBalancerAttributesInput,
  type DescribeLoadBalancerAttributesOutput,
  type LoadBalancerAttributes,
  ModifyLoadBalancerAttributes$,
  type ModifyLoadBalancerAttributesInput,
  type ModifyLoadBalancerAttributesOutput,
} from "@aws-sdk/client-elastic-load-balancing";
import { invalidConfiguration } from "../balancing/network.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { type Attributes, type Elb, loadBalancerNamed } from "./state.ts";

const DESYNC = "elb.http.desyncmitigationmode";

/** What a new load balancer has. */
export const DEFAULT_ATTRIBUTES: Attributes = {
  crossZone: false,
  accessLog: { enabled: false, bucket: undefined, prefix: undefined, emitInterval: undefined },
  draining: { enabled: false, timeout: 300 },
  idleTimeout: 60,
  desyncMode: "defensive",
};

/** The operations on attributes. */
export function attributeOperations(elb: Elb): Operations {
  return [
    read<DescribeLoadBalancerAttributesInput, DescribeLoadBalancerAttributesOutput>(DescribeLoadBalancerAttributes$, (input) => ({
      LoadBalancerAttributes: describe(loadBalancerNamed(elb, input.LoadBalancerName).attributes),
    })),
    write<ModifyLoadBalancerAttributesInput, ModifyLoadBalancerAttributesOutput>(ModifyLoadBalancerAttributes$, (input) => {
      const { name, attributes } = loadBalancerNamed(elb, input.LoadBalancerName);
      const wished = input.LoadBalancerAttributes!;
      const changed = modified(attributes, wished);
      elb.loadBalancers.update(name, { attributes: changed });
      return { LoadBalancerName: name, LoadBalancerAttributes: part(describe(changed), wished) };
    }),
  ];
}

/** Groups that are not given stay as they are. */
function modified(present: Attributes, wished: LoadBalancerAttributes): Attributes {
  const { AccessLog: log, ConnectionDraining: draining, ConnectionSettings: settings } = wished;
  if (log?.Enabled && !log.S3BucketName) throw invalidConfiguration("S3BucketName is required when access logs are enabled");
  if (log?.EmitInterval !== undefined && log.EmitInterval !== 5 && log.EmitInterval !== 60) {
    throw invalidConfiguration(`EmitInterval must be 5 or 60, not ${log.EmitInterval}`);
  }
  checkRange("ConnectionDraining.Timeout", draining?.Timeout, 1, 3600);
  checkRange("ConnectionSettings.IdleTimeout", settings?.IdleTimeout, 1, 4000);
  return {
    crossZone: wished.CrossZoneLoadBalancing?.Enabled ?? present.crossZone,
    accessLog:
      log === undefined
        ? present.accessLog
        : {
            enabled: log.Enabled ?? false,
            bucket: log.S3BucketName,
            prefix: log.S3BucketPrefix,
            emitInterval: log.EmitInterval ?? (log.Enabled ? 60 : undefined),
          },
    draining: {
      enabled: draining?.Enabled ?? present.draining.enabled,
      timeout: draining?.Timeout ?? present.draining.timeout,
    },
    idleTimeout: settings?.IdleTimeout ?? present.idleTimeout,
    desyncMode: desyncMode(wished.AdditionalAttributes) ?? present.desyncMode,
  };
}

function desyncMode(given: LoadBalancerAttributes["AdditionalAttributes"]): string | undefined {
  for (const { Key: key, Value: value } of given ?? []) {
    if (key !== DESYNC) throw new ServiceError("LoadBalancerAttributeNotFound", `There is no load balancer attribute '${key}'`);
    if (value !== "monitor" && value !== "defensive" && value !== "strictest")
      throw invalidConfiguration(`'${value}' is not a value of ${DESYNC}`);
    return value;
  }
  return undefined;
}

function checkRange(what: string, value: number | undefined, from: number, to: number): void {
  if (value !== undefined && (value < from || value > to)) {
    throw new ServiceError("ValidationError", `${what} must be between ${from} and ${to}, not ${value}`);
  }
}

function describe(attributes: Attributes): Required<LoadBalancerAttributes> {
  const { accessLog } = attributes;
  return {
    CrossZoneLoadBalancing: { Enabled: attributes.crossZone },
    AccessLog: {
      Enabled: accessLog.enabled,
      S3BucketName: accessLog.bucket,
      S3BucketPrefix: accessLog.prefix,
      EmitInterval: accessLog.emitInterval,
    },
    ConnectionDraining: { Enabled: attributes.draining.enabled, Timeout: attributes.draining.timeout },
    ConnectionSettings: { IdleTimeout: attributes.idleTimeout },
    AdditionalAttributes: [{ Key: DESYNC, Value: attributes.desyncMode }],
  };
}

/** Only the groups that were asked for. */
function part(all: LoadBalancerAttributes, asked: LoadBalancerAttributes): LoadBalancerAttributes {
  return Object.fromEntries(Object.entries(all).filter(([group]) => asked[group as keyof LoadBalancerAttributes] !== undefined));
}
