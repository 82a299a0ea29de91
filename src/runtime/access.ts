/** Who may read what this process serves. The answers come from the API server; `kube/` asks it. */

export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface AccessReviews {
  /** The user a bearer token belongs to (TokenReview); undefined when the API server does not know it. */
  authenticate(token: string, signal: AbortSignal): Promise<User | undefined>;
  /** Whether the user may use this path (SubjectAccessReview on a non-resource URL, verb in lower case). */
  authorize(user: User, path: string, verb: string, signal: AbortSignal): Promise<boolean>;
}
