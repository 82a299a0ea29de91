/** A time as Kubernetes writes it: to the second, in UTC. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
