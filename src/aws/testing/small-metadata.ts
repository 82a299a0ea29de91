/** An instance metadata service of a few fixed paths. It insists on a token. */
import type { HttpRequest, HttpResponse, Transport } from "../../runtime/http.ts";

export interface SmallMetadata {
  readonly requests: HttpRequest[];
  readonly transport: Transport;
  /** Forgets the tokens it has given out. */
  forgetTokens(): void;
}

/** `paths` are those below `/latest/`. */
export function smallMetadata(paths: Readonly<Record<string, string>>): SmallMetadata {
  const requests: HttpRequest[] = [];
  let given = 0;
  let oldest = 1;
  return {
    requests,
    forgetTokens() {
      oldest = given + 1;
    },
    async transport(request) {
      requests.push(request);
      const path = request.url.pathname.replace("/latest/", "");
      if (path === "api/token") {
        if (request.method !== "PUT" || !request.headers["x-aws-ec2-metadata-token-ttl-seconds"]) return answer(400, "");
        return answer(200, `token-${++given}`);
      }
      const token = Number(request.headers["x-aws-ec2-metadata-token"]?.replace("token-", ""));
      if (!(token >= oldest)) return answer(401, "");
      const body = paths[path];
      return body === undefined ? answer(404, "") : answer(200, body);
    },
  };
}

function answer(status: number, body: string): HttpResponse {
  return {
    status,
    headers: {},
    body: (async function* () {
      yield Buffer.from(body);
    })(),
  };
}
