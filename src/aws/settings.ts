/** What an operator may say about AWS, as plain values. The cloud config file and the flags are parsed into this elsewhere. */
import { findService, type ServiceName, serviceFacts } from "./services.ts";

export interface AwsSettings {
  /** Legacy: an availability zone, from which the region is derived. Wins over `region`. */
  readonly zone?: string;
  readonly region?: string;
  readonly vpc?: string;
  /** By which the VPC is found, where it is not named: the one that has all of these. */
  readonly vpcTags?: Readonly<Record<string, string>>;
  readonly subnetId?: string;
  readonly routeTableId?: string;
  /** Every service is called as this role, assumed with the process's own credentials. */
  readonly roleArn?: string;
  /** Sent as `x-amz-source-arn` when the role is assumed. */
  readonly sourceArn?: string;
  /** Legacy cluster id; switches legacy tagging on. */
  readonly clusterTag?: string;
  readonly clusterId?: string;
  /** The process needs no instance of its own: VPC and cluster id say all that it has to know of its place. */
  readonly runsAnywhere?: boolean;
  /** Nothing that the process does depends on a VPC: none is asked for. */
  readonly anyVpc?: boolean;
  readonly serviceOverrides: readonly ServiceOverride[];
}

/** One `[ServiceOverride "<id>"]` section: where a service is reached, and how requests to it are signed. */
export interface ServiceOverride {
  /** The name of the section, for messages. */
  readonly id: string;
  readonly service: string;
  readonly region: string;
  readonly url: string;
  readonly signingRegion: string;
  readonly signingName?: string;
}

/** Nothing configured: everything comes from the environment and the metadata service. */
export const noSettings: AwsSettings = { serviceOverrides: [] };

/** A setting that cannot work. The message names the setting. */
export class SettingsInvalid extends Error {
  override readonly name = "SettingsInvalid";
}

/**
 * Throws `SettingsInvalid` for the first setting that the reference refuses too; returns warnings about those that have no
 * effect or cannot work.
 */
export function validateSettings(settings: AwsSettings): readonly string[] {
  validateOverrides(settings.serviceOverrides);
  if (settings.roleArn !== undefined) parseArn(settings.roleArn, "RoleARN");
  return settings.serviceOverrides.flatMap((override) => warningsFor(override, settings.serviceOverrides));
}

function validateOverrides(overrides: readonly ServiceOverride[]): void {
  const problem = (text: string) => new SettingsInvalid(`unable to validate custom endpoint overrides: ${text}`);
  const seen = new Set<string>();
  for (const { id, service, region, url, signingRegion } of overrides) {
    if (service.trim() === "") throw problem(`service name is missing [Service is ""] in override ${id}`);
    if (region.trim() === "") throw problem(`service region is missing [Region is ""] in override ${id}`);
    if (url.trim() === "") throw problem(`url is missing [URL is ""] in override ${id}`);
    if (signingRegion.trim() === "") throw problem(`signingRegion is missing [SigningRegion is ""] in override ${id}`);
    // Names as they are written, because that is what the reference tells apart.
    const key = JSON.stringify([service.trim(), region.trim()]);
    if (seen.has(key)) throw problem(`duplicate entry found for service override [${id}] (${service.trim()} in ${region.trim()})`);
    seen.add(key);
  }
}

function warningsFor(override: ServiceOverride, all: readonly ServiceOverride[]): readonly string[] {
  const { id, service, region, url } = override;
  const warning = (text: string) => [`service override ${id}: ${text}`];
  const called = findService(service);
  if (called === undefined && !isMetadataOverride(override)) {
    return warning(`Service "${service}" is not a service Fairlead calls; it has no effect`);
  }
  const used = called === undefined ? metadataOverride(all) : overrideFor(called, region.trim(), all);
  if (used !== override)
    return warning(`Service "${service}" is the service of override ${used?.id} too, by another name; it has no effect`);
  return URL.canParse(url.trim()) ? [] : warning(`could not parse override URL "${url}"; every call of the service will fail`);
}

/** The override of a service in a region. Its SDK ID goes before other names for it, which the reference does not know. */
export function overrideFor(service: ServiceName, region: string, overrides: readonly ServiceOverride[]): ServiceOverride | undefined {
  const fitting = overrides.filter((override) => findService(override.service) === service && override.region.trim() === region);
  return fitting.find((override) => override.service.trim() === serviceFacts(service).sdkId) ?? fitting[0];
}

/** The override of the instance metadata service, whatever its region. */
export function metadataOverride(overrides: readonly ServiceOverride[]): ServiceOverride | undefined {
  return overrides.find(({ service }) => service.trim() === "ec2imds") ?? overrides.find(isMetadataOverride);
}

function isMetadataOverride(override: ServiceOverride): boolean {
  return override.service.trim().toLowerCase() === "ec2imds";
}

/** The parts of an Amazon Resource Name. */
export interface Arn {
  readonly partition: string;
  readonly service: string;
  readonly region: string;
  readonly account: string;
  readonly resource: string;
}

/** Reads an ARN; `setting` names where it came from in the error. */
export function parseArn(text: string, setting: string): Arn {
  const [prefix, partition, service, region, account, ...resource] = text.split(":");
  if (prefix !== "arn") throw new SettingsInvalid(`${setting} "${text}" is not an ARN (arn: invalid prefix)`);
  if (!partition || !service || region === undefined || account === undefined || resource.length === 0) {
    throw new SettingsInvalid(`${setting} "${text}" is not an ARN (arn: not enough sections)`);
  }
  return { partition, service, region, account, resource: resource.join(":") };
}
