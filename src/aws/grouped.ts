/** Groups items by each of the values they have. */
export function groupByEach<Item>(
  items: readonly Item[],
  valuesOf: (item: Item) => readonly (string | undefined)[],
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    for (const value of new Set(valuesOf(item))) {
      if (value === undefined) continue;
      const group = groups.get(value);
      if (group === undefined) groups.set(value, [item]);
      else group.push(item);
    }
  }
  return groups;
}
