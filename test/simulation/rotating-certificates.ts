/**
 * The certificates of a cluster, in files that are replaced one after the other, not always whole, while replicas go on:
 * none may ever use a certificate with another's key, or stay with an authority that TLS has refused.
 */
import { stringify } from "yaml";
import type { KubeConfig } from "../../src/kube/config/access.ts";
import { configFromFiles } from "../../src/kube/config/file.ts";
import type { Connect } from "../../src/kube/connections.ts";
import type { TlsOptions } from "../../src/runtime/http.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { createAuthority } from "../../src/sandbox/cluster/real/certificates.ts";
import type { Machine } from "./machine.ts";
import type { NetworkLink } from "./network-link.ts";
import type { Scene } from "./scene.ts";

/** Made once: keys are dear, and the same in every history but for their bytes, which nobody tells. */
const authorities = ["one", "two"].map((name) => createAuthority(realWorld(), name));
const pairs = ["a", "b", "c"].map((commonName) => authorities[0]!.client({ commonName }));
const files = { ca: "/pki/ca.crt", cert: "/pki/client.crt", key: "/pki/client.key", kubeconfig: "/pki/kubeconfig" };

export class Certificates {
  readonly #scene: Scene;
  #pair = 0;
  #authority = 0;
  #isRotating = false;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#write("cert", pairs[0]!.cert);
    this.#write("key", pairs[0]!.key);
    this.#write("ca", authorities[0]!.cert);
    this.#write(
      "kubeconfig",
      stringify({
        "current-context": "c",
        contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
        clusters: [{ name: "c", cluster: { server: "https://embedded", "certificate-authority": files.ca } }],
        users: [{ name: "u", user: { "client-certificate": files.cert, "client-key": files.key } }],
      }),
    );
  }

  /** How a process of this machine finds the API server. One that starts between two files that do not fit tries again. */
  configOf(machine: Machine): KubeConfig {
    let config: KubeConfig | undefined;
    return {
      server: new URL("https://embedded"),
      origin: "the simulation",
      async access(signal) {
        // Not through loadKubeConfig: it imports this module when it is first needed, which takes real time.
        config ??= (await configFromFiles(machine, { paths: [files.kubeconfig], missing: "refused" }, {}))!;
        return config.access(signal);
      },
      refused: (access) => config?.refused(access),
      tlsFailed: () => config?.tlsFailed(),
    };
  }

  /** The way of one replica to the server, which looks at its certificates as TLS would. */
  connect(name: string, line: NetworkLink): Connect {
    let failedAt = Number.POSITIVE_INFINITY;
    const shake = (tls: TlsOptions): void => {
      const { history, world } = this.#scene;
      if (!pairs.some(({ cert, key }) => cert === tls.cert && key === tls.key)) {
        history.broken("a certificate is used with its own key only", `${name} mixes two pairs`);
        throw tlsError("ERR_OSSL_X509_KEY_VALUES_MISMATCH");
      }
      if (tls.ca === authorities[this.#authority]!.cert) {
        failedAt = Number.POSITIVE_INFINITY;
        return;
      }
      if (failedAt < world.clock.monotonic())
        history.broken("files are read anew when TLS fails", `${name} still trusts an authority that is gone`);
      failedAt = Math.min(failedAt, world.clock.monotonic());
      throw tlsError("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    };
    return (tls) => ({
      async send(request) {
        shake(tls);
        return line.send(request);
      },
      close: async () => {},
    });
  }

  /** The client's certificate and key are replaced, in either order, and not at the same time. */
  rotatePair(): void {
    if (this.#isRotating) return;
    const { chance, world, history } = this.#scene;
    this.#isRotating = true;
    this.#pair = (this.#pair + 1) % pairs.length;
    const next = pairs[this.#pair]!;
    const [first, second] = chance.happens(0.5) ? (["cert", "key"] as const) : (["key", "cert"] as const);
    const [gapMs, halfMs] = [chance.between(0, 40_000), chance.between(0, 5_000)];
    history.tell("faults", `the ${first} of clients is replaced, the other after ${Math.round(gapMs)} ms`);
    this.#write(first, next[first].slice(0, chance.between(0, 200)));
    world.clock.after(halfMs, () => this.#write(first, next[first]));
    world.clock.after(halfMs + gapMs, () => {
      this.#write(second, next[second]);
      this.#isRotating = false;
    });
  }

  /** The server moves to another authority, and so do the files. */
  rotateAuthority(): void {
    this.#scene.history.tell("faults", "the API server moves to another authority");
    this.#authority = 1 - this.#authority;
    this.#write("ca", authorities[this.#authority]!.cert);
  }

  #write(which: keyof typeof files, text: string): void {
    void this.#scene.world.files.write(files[which], text, 0o600);
  }
}

function tlsError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
