/** The AWS cloud config file (`--cloud-config`): every key in one table, read into values that cannot be wrong inside. */
import { type AwsSettings, type ServiceOverride, validateSettings } from "../../aws/settings.ts";
import { configuredClusterId } from "../../identity/cluster-id.ts";
import { type IniEntry, type IniValue, iniString, parseIni } from "../../runtime/ini.ts";
import { nearest } from "../../runtime/nearest.ts";
import { type Global, globalKeys, type IpFamily, overrideKeys } from "./cloud-config-keys.ts";

/** What the file says, defaults filled in. */
export interface CloudConfig {
  readonly aws: AwsSettings;
  readonly nodes: {
    /** In order of preference. */
    readonly ipFamilies: readonly IpFamily[];
    /** Instance types whose network topology must be known before the node counts as initialised. */
    readonly topologyInstanceTypes: RegExp;
  };
  readonly loadBalancers: {
    readonly disableSecurityGroupIngress: boolean;
    /** The security group all classic load balancers share; its rules are never edited. */
    readonly elbSecurityGroup: string | undefined;
    readonly publicNetworkAllowList: readonly string[];
    readonly healthProbeMode: "ServiceNodePort" | "Shared";
    readonly sharedHealthProbePort: number;
    readonly sharedHealthProbePath: string;
    readonly nlbSecurityGroupMode: "Managed" | undefined;
  };
}

/** The file is wrong in a way that will not pass by itself. */
export class CloudConfigInvalid extends Error {
  override readonly name = "CloudConfigInvalid";
}

/**
 * Reads the file's content; none at all is all defaults. Warnings name what is there but has no effect: unknown sections and keys with the nearest
 * known one, overrides for services nobody calls.
 */
export function readCloudConfig(content: Uint8Array): { readonly config: CloudConfig; readonly warnings: readonly string[] } {
  const draft = new Draft();
  let entries: IniEntry[];
  try {
    entries = parseIni(content);
  } catch (cause) {
    throw new CloudConfigInvalid(`unable to read AWS cloud provider config file: ${(cause as Error).message}`, { cause });
  }
  for (const entry of entries) draft.take(entry);
  const config = draft.config();
  return { config, warnings: [...draft.warnings, ...checkSettings(config.aws)] };
}

/** The file as far as it has been read. */
class Draft {
  readonly warnings: string[] = [];
  readonly #global = Object.fromEntries(Object.entries(globalKeys).map(([name, { initial }]) => [name, initial])) as unknown as Global;
  readonly #overrides = new Map<string, Partial<Record<keyof ServiceOverride, string>>>();

  take(entry: IniEntry): void {
    const section = entry.section.toLowerCase();
    if (section === "global" && entry.subsection === "") this.#takeGlobal(entry);
    else if (section === "serviceoverride") this.#takeOverride(entry);
    else if (entry.variable === undefined) this.#warnSection(entry);
  }

  config(): CloudConfig {
    const global = this.#global;
    return {
      aws: {
        zone: global.Zone,
        region: global.Region,
        vpc: global.VPC,
        subnetId: global.SubnetID,
        routeTableId: global.RouteTableID,
        roleArn: global.RoleARN,
        sourceArn: global.SourceARN,
        clusterTag: global.KubernetesClusterTag,
        clusterId: global.KubernetesClusterID,
        serviceOverrides: [...this.#overrides].map(([id, given]) => ({
          id,
          service: "",
          region: "",
          url: "",
          signingRegion: "",
          ...given,
        })),
      },
      nodes: {
        ipFamilies: global.NodeIPFamilies.length > 0 ? global.NodeIPFamilies : ["ipv4"],
        topologyInstanceTypes: global.SupportedTopologyInstanceTypePattern,
      },
      loadBalancers: {
        disableSecurityGroupIngress: global.DisableSecurityGroupIngress,
        elbSecurityGroup: global.ElbSecurityGroup,
        publicNetworkAllowList: (global.PublicNetworkAllowList ?? "")
          .split(",")
          .map((cidr) => cidr.trim())
          .filter(Boolean),
        healthProbeMode: global.ClusterServiceLoadBalancerHealthProbeMode,
        sharedHealthProbePort: global.ClusterServiceSharedLoadBalancerHealthProbePort,
        sharedHealthProbePath: global.ClusterServiceSharedLoadBalancerHealthProbePath,
        nlbSecurityGroupMode: global.NLBSecurityGroupMode,
      },
    };
  }

  #takeGlobal(entry: IniEntry): void {
    if (!entry.variable) return;
    const name = this.#known(entry, entry.variable.name, Object.keys(globalKeys)) as keyof Global | undefined;
    if (name !== undefined) this.#readGlobal(name, entry, entry.variable.value);
  }

  #readGlobal<Name extends keyof Global>(name: Name, entry: IniEntry, value: IniValue): void {
    this.#global[name] = readAt(entry, name, () => globalKeys[name].read(value, this.#global[name]));
    const odd = globalKeys[name].odd?.(value);
    if (odd !== undefined) this.warnings.push(`${entry.line}:${entry.column}: ${name} ignores ${odd}`);
  }

  #takeOverride(entry: IniEntry): void {
    const given = this.#overrides.get(entry.subsection) ?? {};
    this.#overrides.set(entry.subsection, given);
    if (!entry.variable) return;
    const name = this.#known(entry, entry.variable.name, Object.keys(overrideKeys));
    if (name === undefined) return;
    const value = readAt(entry, name, () => iniString(entry.variable?.value));
    const field = overrideKeys[name]?.field;
    if (field !== undefined) given[field] = value.trim();
  }

  /** The key as the table spells it; an unknown one is warned about. */
  #known(entry: IniEntry, written: string, names: readonly string[]): string | undefined {
    const name = names.find((candidate) => candidate.toLowerCase() === written.toLowerCase());
    if (name === undefined) {
      this.warnings.push(
        `${entry.line}:${entry.column}: unknown key ${JSON.stringify(written)} in section ${sectionName(entry)} is ignored${hint(written, names)}`,
      );
    }
    return name;
  }

  #warnSection(entry: IniEntry): void {
    const known = ["Global", "ServiceOverride"];
    const why = entry.section.toLowerCase() === "global" ? ": Global takes no subsection" : hint(entry.section, known);
    this.warnings.push(`${entry.line}:${entry.column}: unknown section ${sectionName(entry)} is ignored${why}`);
  }
}

function readAt<T>(entry: IniEntry, name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const subsection = entry.subsection === "" ? "" : ` subsection ${JSON.stringify(entry.subsection)},`;
    const where = `at section ${JSON.stringify(entry.section)},${subsection} variable ${JSON.stringify(name)}`;
    throw new CloudConfigInvalid(
      `unable to read AWS cloud provider config file: ${entry.line}:${entry.column}: ${(cause as Error).message} ${where}`,
      { cause },
    );
  }
}

function sectionName({ section, subsection }: IniEntry): string {
  return subsection === "" ? `[${section}]` : `[${section} ${JSON.stringify(subsection)}]`;
}

function hint(written: string, known: readonly string[]): string {
  const guess = nearest(written, known) ?? nearest(written.replaceAll("-", ""), known);
  return guess === undefined ? "" : `; did you mean ${guess}?`;
}

/** What can be wrong between keys; the warnings are about what has no effect. */
function checkSettings(aws: AwsSettings): readonly string[] {
  try {
    configuredClusterId(aws);
    const warnings = validateSettings(aws);
    return aws.sourceArn !== undefined && aws.roleArn === undefined ? [...warnings, "SourceARN has no effect without RoleARN"] : warnings;
  } catch (cause) {
    throw new CloudConfigInvalid((cause as Error).message, { cause });
  }
}
