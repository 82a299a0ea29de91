import type { StreamedLists } from "../../src/sandbox/cluster/embedded/watches.ts";

/** What the API server of a seed's world does with lists asked for as watches: half of the worlds have one that cannot. */
export function streamedListsOf(seed: number): StreamedLists {
  return (["served", "failing", "served", "refused"] as const)[seed % 4]!;
}
