/**
 * Semaphore for calls in work. Each sharer has a few of its own, which nobody else can take, and the rest is shared: calls of
 * one that hang (an admission webhook that does not answer) may fill the shared places, and the others still go on.
 */
export class Semaphore {
  readonly #own: number;
  #free: number;
  /** Those with calls that wait for a shared place; the next free one goes to the first, which then stands last. */
  readonly #queue = new Set<SemaphoreShare>();

  constructor(options: { readonly shared: number; readonly own: number }) {
    this.#free = options.shared;
    this.#own = options.own;
  }

  /** A part of the process that makes calls. */
  share(): SemaphoreShare {
    return new SemaphoreShare(this.#own, {
      take: () => {
        if (this.#free === 0) return false;
        this.#free--;
        return true;
      },
      queue: (share) => this.#queue.add(share),
      leaveQueue: (share) => this.#queue.delete(share),
      free: () => {
        this.#free++;
        this.#serveNext();
      },
    });
  }

  #serveNext(): void {
    const [next] = this.#queue;
    if (next === undefined || this.#free === 0) return;
    this.#free--;
    this.#queue.delete(next);
    if (next.serve()) this.#queue.add(next);
  }
}

interface SharedPlaces {
  take(): boolean;
  free(): void;
  queue(share: SemaphoreShare): void;
  leaveQueue(share: SemaphoreShare): void;
}

/** The places of one part. Its own calls are served in the order they came. */
export class SemaphoreShare {
  readonly #own: number;
  readonly #shared: SharedPlaces;
  readonly #waiting = new Set<() => void>();
  #inWork = 0;

  constructor(own: number, shared: SharedPlaces) {
    this.#own = own;
    this.#shared = shared;
  }

  /** Takes a place if there is one and nobody of this part waits. */
  tryEnter(): boolean {
    if (this.#waiting.size > 0 || (this.#inWork >= this.#own && !this.#shared.take())) return false;
    this.#inWork++;
    return true;
  }

  /** Resolves when there is a place, which `leave` gives back; rejects when the signal aborts before. */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.tryEnter()) return;
    await new Promise<void>((resolve, reject) => {
      const goOn = () => {
        signal.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(goOn);
        if (this.#waiting.size === 0) this.#shared.leaveQueue(this);
        reject(signal.reason);
      };
      this.#waiting.add(goOn);
      this.#shared.queue(this);
      signal.addEventListener("abort", giveUp, { once: true });
    });
  }

  leave(): void {
    this.#inWork--;
    if (this.#inWork >= this.#own) this.#shared.free();
    else if (this.#waiting.size > 0 && !this.serve()) this.#shared.leaveQueue(this);
  }

  /** A place is there for the call that has waited longest. Says whether others still wait. */
  serve(): boolean {
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      this.#inWork++;
      next();
    }
    return this.#waiting.size > 0;
  }
}
