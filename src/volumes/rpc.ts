/** One call of CSI: what it is called, and until when its caller waits. */
export interface Rpc {
  readonly name: string;
  readonly signal: AbortSignal;
}
