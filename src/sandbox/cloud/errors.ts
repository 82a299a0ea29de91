/** An error as AWS gives it to its caller: a code programs match on, a message people read, an HTTP status. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: string;
  readonly status: number;
  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** The caller's connection broke before an answer arrived. Over a socket it is reset; in process the call rejects. */
export class ConnectionCut extends Error {
  override readonly name = "ConnectionCut";
  readonly code = "ECONNRESET";
  constructor() {
    super("socket hang up");
  }
}
