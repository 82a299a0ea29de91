/** From kubelet's request to a registry login. */
import type { SharedProfile } from "../aws/shared-profile.ts";
import type { Transport } from "../runtime/http.ts";
import type { World } from "../runtime/world.ts";
import { assumeRole } from "./assume-role.ts";
import { type AuthorizationToken, getAuthorizationToken, operationOf } from "./authorization.ts";
import type { Caller } from "./call.ts";
import { type CredentialSources, type FoundCredentials, nodeCredentials } from "./credentials.ts";
import { awsEndpoint, type Service } from "./endpoints.ts";
import { asFailure, oneLine, PluginFailure } from "./errors.ts";
import { publicRegion, type Registry, registryAt } from "./hosts.ts";
import { type ImageHost, ImageUnreadable, imageHost } from "./image.ts";
import type { Journal } from "./journal.ts";
import { metadataEndpoint, openMetadata } from "./metadata.ts";
import type { Platform } from "./platform.ts";
import type { CredentialRequest } from "./request.ts";
import { cacheSeconds, loginFromToken, type RegistryLogin } from "./response.ts";
import { checkRole, type Identity, identityFor, sessionName } from "./role.ts";
import type { Settings } from "./settings.ts";

/** What a run has at hand. */
export interface PluginContext {
  readonly world: World;
  readonly platform: Platform;
  readonly send: Transport;
  /** Straight to this machine's own endpoints. */
  readonly direct: Transport;
  readonly settings: Settings;
  readonly profile: SharedProfile;
  readonly journal: Journal;
  readonly deadline: AbortSignal;
}

/** How a request was decided: what kubelet is told, and the way there for whoever asks. */
export type Outcome = Refused | Obtained;

/** The host is not ECR: no credentials leave this program for it. */
export interface Refused {
  readonly kind: "refused";
  readonly image: ImageHost;
}

export interface Obtained {
  readonly kind: "obtained";
  readonly image: ImageHost;
  readonly registry: Registry;
  readonly identity: Identity;
  readonly endpoint: URL;
  readonly region: string;
  readonly credentialSource: string;
  readonly login: RegistryLogin;
  readonly expiresAt: number | undefined;
  readonly cacheSeconds: number;
  readonly requestId: string;
}

/** Decides a request, calling STS and ECR where needed. Throws `PluginFailure`. */
export async function obtainLogin(request: CredentialRequest, context: PluginContext): Promise<Outcome> {
  const { journal, settings, world } = context;
  const startedAt = world.clock.monotonic();
  const image = hostOf(request.image);
  const registry = registryAt(image.host, settings.extraHosts);
  if (registry === undefined) {
    journal.warn(
      `${oneLine(image.key, 300) || "the image"} is not an Amazon ECR registry: no credentials given. ECR_CREDENTIAL_PROVIDER_EXTRA_HOSTS can allow it.`,
    );
    return { kind: "refused", image };
  }
  const regions = regionsFor(registry, context);
  const identity = identityFor(request, settings);
  if (identity.kind === "node" && identity.wanted) journal.info("no arn provided, cannot assume role using ServiceAccountToken");
  journal.info(
    registry.kind === "public" ? "Getting creds for public registry" : `Getting creds for private image ${oneLine(request.image, 300)}`,
  );

  const region = registry.kind === "public" ? publicRegion : await regions.registry();
  const endpoint = endpointOf(registry.kind === "public" ? "ecr-public" : "ecr", region, registry, settings);
  const found = await credentialsFor(identity, registry, regions, context);
  journal.hide(found.credentials.secretAccessKey);
  journal.hide(found.credentials.sessionToken);
  const token = await getAuthorizationToken({ kind: registry.kind, url: endpoint, region }, found.credentials, callerOf(context));
  const login = readLogin(token, journal);
  const seconds = cacheSeconds(token.expiresAt, world.clock.now(), settings.cacheMarginSeconds);
  journal.info("answered", {
    host: image.key,
    region,
    credentials: found.source,
    cacheSeconds: seconds,
    attempts: token.attempts,
    milliseconds: Math.round(world.clock.monotonic() - startedAt),
    requestId: token.requestId,
  });
  return {
    kind: "obtained",
    image,
    registry,
    identity,
    endpoint,
    region,
    credentialSource: found.source,
    login,
    expiresAt: token.expiresAt,
    cacheSeconds: seconds,
    requestId: token.requestId,
  };
}

function hostOf(image: string): ImageHost {
  try {
    return imageHost(image);
  } catch (error) {
    if (error instanceof ImageUnreadable) throw new PluginFailure("BadImage", oneLine(error.message, 1000), { cause: error });
    throw error;
  }
}

function readLogin(token: AuthorizationToken, journal: Journal): RegistryLogin {
  journal.hide(token.token);
  const login = loginFromToken(token.token);
  journal.hide(login.password);
  return login;
}

async function credentialsFor(identity: Identity, registry: Registry, regions: Regions, context: PluginContext): Promise<FoundCredentials> {
  const { settings, profile, journal } = context;
  const operation = operationOf(registry.kind);
  const caller = callerOf(context);
  const stsUrl = async () => endpointOf("sts", await regions.sts(), registry, settings);
  if (identity.kind === "role") {
    try {
      checkRole(identity.arn, identity.from, registry);
      const role = { roleArn: identity.arn, sessionName: sessionName(identity.token), token: identity.token };
      return { source: `role ${identity.arn} from ${identity.from}`, credentials: await assumeRole(role, await stsUrl(), caller) };
    } catch (error) {
      const failure = onBehalfOf(operation, error);
      if (!settings.fallBackToNode || context.deadline.aborted) throw failure;
      journal.warn(`${failure.message}; using the node's credentials, as ECR_CREDENTIAL_PROVIDER_FALLBACK allows`);
    }
  }
  const sources: CredentialSources = {
    caller,
    direct: context.direct,
    metadata: regions.metadata,
    profile,
    sts: { url: stsUrl, region: regions.sts },
  };
  try {
    return await nodeCredentials(sources);
  } catch (error) {
    throw onBehalfOf(operation, error);
  }
}

function onBehalfOf(operation: string, error: unknown): PluginFailure {
  const failure = asFailure(error);
  return new PluginFailure(failure.code, `operation error ${operation}, get identity: get credentials: ${failure.message}`, {
    cause: failure,
    ...(failure.hint === undefined ? {} : { hint: failure.hint }),
  });
}

/** Regions are looked up only by whoever needs one that the host does not tell. */
interface Regions {
  readonly metadata: CredentialSources["metadata"];
  readonly registry: () => Promise<string>;
  readonly sts: () => Promise<string>;
}

function regionsFor(registry: Registry, context: PluginContext): Regions {
  const { settings, journal, world } = context;
  const endpoint = metadataEndpoint(world.environment);
  const metadata = endpoint === undefined ? undefined : openMetadata(endpoint, context.direct, callerOf(context));
  const fallBack = async (): Promise<string | undefined> => {
    journal.warn(
      "No region found in the image reference, the default region will be used. Please refer to AWS SDK documentation for configuration purpose.",
    );
    if (settings.region !== undefined) return settings.region;
    return await metadata?.get("/latest/meta-data/placement/region").catch(() => undefined);
  };
  return {
    metadata,
    async registry() {
      if (registry.kind === "private" && registry.region !== undefined) return registry.region;
      const region = await fallBack();
      if (region !== undefined) return region;
      // Somebody else's endpoint may not care; AWS's does.
      if (settings.endpoints.ecr !== undefined) return "";
      throw new PluginFailure(
        "NoRegion",
        "operation error ECR: GetAuthorizationToken, failed to resolve service endpoint, endpoint rule error, Invalid Configuration: Missing Region",
        { hint: "Set AWS_REGION, or name the region in ECR_CREDENTIAL_PROVIDER_EXTRA_HOSTS." },
      );
    },
    async sts() {
      if (registry.kind === "private" && registry.region !== undefined) return registry.region;
      return (await fallBack()) ?? publicRegion;
    },
  };
}

/** Where a service is called: where the operator says, else at the variant the operator says, else at the one the host is of. */
function endpointOf(service: Service, region: string, registry: Registry, settings: Settings): URL {
  const override = settings.endpoints[service];
  if (override !== undefined) {
    if (settings.fips) throw contradiction("FIPS");
    if (settings.dualStack) throw contradiction("Dualstack");
    return new URL(override);
  }
  const fips = settings.fips ?? (registry.kind === "private" && registry.fips);
  const dualStack = settings.dualStack ?? registry.dualStack;
  if (!/^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$/.test(region)) {
    throw new PluginFailure("NoRegion", `failed to resolve service endpoint: invalid input region ${oneLine(region, 100)}`);
  }
  return new URL(awsEndpoint(service, region, { fips, dualStack }));
}

function contradiction(variant: string): PluginFailure {
  return new PluginFailure("BadSettings", `Invalid Configuration: ${variant} and custom endpoint are not supported`);
}

function callerOf({ world, platform, send, settings, deadline }: PluginContext): Caller {
  return { world, platform, send, maxAttempts: settings.maxAttempts, deadline };
}
