/** How full route tables are. AWS tells the quota of a table only by refusing the route that is one too many. */

/** What accounts usually have: the old default, the new one, and the most that can be asked for. */
const usualQuotas = [50, 500, 1000] as const;

/** From here on it is time to ask for more. */
const almost = 0.9;

/**
 * The quota that a table of `present` routes is about to reach when it grows to `planned`; undefined while there is room.
 * A table that holds more than a quota evidently has a larger one.
 */
export function quotaInSight(present: number, planned: number): number | undefined {
  const quota = usualQuotas.find((usual) => usual >= present);
  return quota !== undefined && planned >= quota * almost ? quota : undefined;
}
