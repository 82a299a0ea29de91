export interface Waitable {
  runUntil(predicate: () => boolean, limitMs: number): Promise<void>;
}

/** Lets virtual time pass until the work is done. */
export async function eventual<T>(world: Waitable, work: Promise<T>, limitMs = 600_000): Promise<T> {
  let settled = false;
  const finished = work.finally(() => {
    settled = true;
  });
  // Whoever awaits it sees the rejection; until then it is not unhandled.
  finished.catch(() => {});
  await world.runUntil(() => settled, limitMs);
  return finished;
}
