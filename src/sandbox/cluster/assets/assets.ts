/** The two programs a real cluster is made of. */
export interface Assets {
  readonly etcd: string;
  readonly kubeApiserver: string;
}
