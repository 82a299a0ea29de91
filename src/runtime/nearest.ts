/** The candidate a mistyped word most likely meant; undefined when none is close enough to be worth saying. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const lower = word.toLowerCase();
  // A third of the letters may be wrong: "clowd-provider" is a typo, "port" is not a typo of "tags".
  let allowed = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(lower, candidate.toLowerCase(), allowed);
    if (distance > allowed || (best !== undefined && distance === allowed)) continue;
    best = candidate;
    allowed = distance;
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other; anything above `limit` is `limit + 1`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(above[column]! + 1, current[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, before[column - 2]! + 1);
      }
      current.push(cost);
    }
    before = above;
    above = current;
  }
  return above[b.length]!;
}
