/** The JSON of a weighted forward: which target groups share the traffic of a listener. */
import { Fault, type Given } from "../annotation-rows.ts";
import { boolean, type Decoder, integer, list, Mismatch, object, string } from "../json-values.ts";
import { json } from "../parsers.ts";

/** One of the groups beside the Service's own. */
export type Share = { readonly weight?: number } & (
  | { readonly targetGroupArn: string }
  | { readonly service: string; readonly port: number | string; readonly decrypts: boolean }
);

export interface TypedAction {
  readonly baseWeight?: number;
  readonly shares: readonly Share[];
  readonly stickiness?: { readonly enabled: boolean };
}

const portRef: Decoder<number | string> = (value, path) => {
  if (typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value))) return value;
  throw new Mismatch(`${path} takes the number or the name of a port`);
};

const tuple = object({ targetGroupARN: string, serviceName: string, servicePort: portRef, weight: integer, decrypt: boolean });

const document = object({
  type: string,
  forwardConfig: object({
    baseServiceWeight: integer,
    targetGroups: list(tuple),
    targetGroupStickinessConfig: object({ enabled: boolean }),
  }),
});

const maxWeight = 999;

export function typedAction(given: string, about: Given): TypedAction | Fault {
  const read = json(document)(given, about);
  if (read instanceof Fault) return read;
  const { type = "", forwardConfig } = read;
  if (type !== "forward") return new Fault(`unknown action type: ${type}`);
  if (forwardConfig === undefined) return new Fault("missing ForwardConfig: forwardConfig says where traffic goes");
  const { baseServiceWeight, targetGroups = [], targetGroupStickinessConfig } = forwardConfig;
  const invalid = (why: string) => new Fault(`invalid ForwardConfig: ${why}`);
  if (baseServiceWeight !== undefined && !isWeight(baseServiceWeight))
    return invalid(`baseServiceWeight must be between 0 and ${maxWeight}`);
  const shares: Share[] = [];
  for (const each of targetGroups) {
    const share = shareOf(each);
    if (typeof share === "string") return invalid(`invalid TargetGroupTuple: ${share}`);
    shares.push(share);
  }
  if (shares.length > 1 && shares.some(({ weight }) => weight === undefined))
    return invalid("weight must be set when routing to multiple target groups");
  return {
    ...(baseServiceWeight !== undefined && { baseWeight: baseServiceWeight }),
    shares,
    ...(targetGroupStickinessConfig && { stickiness: { enabled: targetGroupStickinessConfig.enabled ?? false } }),
  };
}

/** What is wrong with an entry is told as a text. */
function shareOf({ targetGroupARN, serviceName, servicePort, weight, decrypt = false }: ReturnType<typeof tuple>): Share | string {
  if ((targetGroupARN === undefined) === (serviceName === undefined)) {
    return "precisely one of targetGroupARN and serviceName can be specified";
  }
  if (serviceName !== undefined && servicePort === undefined) return "missing servicePort";
  if (weight !== undefined && !isWeight(weight)) return `target group weight must be between 0 and ${maxWeight}`;
  const share = weight === undefined ? {} : { weight };
  if (targetGroupARN !== undefined) return { ...share, targetGroupArn: targetGroupARN };
  return { ...share, service: serviceName!, port: servicePort!, decrypts: decrypt };
}

const isWeight = (weight: number) => weight >= 0 && weight <= maxWeight;
