/** Works on all items, so many at a time. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>, atOnce = 24): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < items.length) await work(items[next++]!);
    }),
  );
}
