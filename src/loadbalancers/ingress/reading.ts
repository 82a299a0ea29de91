/** What the members of a group say; of those who cannot be understood, what they said before. Pure. */
import type { MemberModel } from "./desire.ts";
import type { Group, Member } from "./groups.ts";
import { givenCidrs, type PortSources, type PortWish, portWish } from "./listeners.ts";
import { MemberFault, type MemberOptions, readMember } from "./member.ts";
import type { MemberFaults } from "./merge.ts";
import { keyOf } from "./view.ts";

export interface Reading {
  readonly options: MemberOptions;
  readonly wish: PortWish;
  /** Whether it is what the Ingress says now, and not what it said before. */
  readonly isCurrent: boolean;
}

/** Whose word is not taken, by their keys. */
export interface Distrusted {
  /** Of these what they said before is taken, under what their class says now. */
  readonly faulty: ReadonlySet<string>;
  /** Of these also what their class said before. */
  readonly misled: ReadonlySet<string>;
}

export function readMembers(
  group: Group,
  { faulty, misled }: Distrusted,
  remembered: ReadonlyMap<string, MemberModel>,
  sources: PortSources,
  faults: MemberFaults,
): readonly Reading[] {
  return group.members.flatMap((member): Reading[] => {
    const key = keyOf(member.ingress);
    const read = faulty.has(key)
      ? undefined
      : attempt(key, faults, () => {
          const options = readMember(member, sources.settings.gates);
          return { options, wish: portWish(options, sources), isCurrent: true };
        });
    const last = remembered.get(key);
    if (read || last === undefined) return read ? [read] : [];
    const under = misled.has(key) ? undefined : attempt(key, faults, () => underClass(last, member));
    return [{ ...(under ?? { options: last.options, wish: last.wish }), isCurrent: false }];
  });
}

/** What an author said before, with what the class says now: that is somebody else's, and all members hear it at once. */
function underClass(
  { options: last, wish: { cidrs: _, ...wish } }: MemberModel,
  { params, isClassUnknown }: Member,
): Omit<Reading, "isCurrent"> {
  const member = isClassUnknown ? last.member : { ingress: last.member.ingress, ...(params && { params }) };
  const options = { ...last, member };
  return { options, wish: { ...wish, ...givenCidrs(options) } };
}

export function attempt<T>(key: string, faults: MemberFaults, build: () => T): T | undefined {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof MemberFault)) throw error;
    faults.add(key, error.message);
    return undefined;
  }
}
