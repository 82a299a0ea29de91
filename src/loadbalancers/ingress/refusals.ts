/** Ingresses of which AWS has refused something: until they ask for something else they are treated like ones that cannot be understood. */
import type { Refusals } from "../refusals.ts";
import type { MemberModel } from "./desire.ts";

export type MemberRefusals = Refusals<MemberModel>;

/** Whether the same was asked for. */
export const isSameWish = (a: MemberModel, b: MemberModel) => wishText(a) === wishText(b);

/** Everything that its author, or that of a Service behind it, could change; not what finalizers there are, which come and go. */
export const wishText = ({ options: { member }, wish, backends }: MemberModel) =>
  JSON.stringify([{ ...member, ingress: { ...member.ingress, finalizers: [] } }, wish.certificates, backends]);
