/** One HTTP request as a value. Header names are lower case. */
export interface WireRequest {
  /** `GET`, `POST`, `PUT`, `PATCH`, `DELETE`. */
  readonly method: string
  /** Path with query, as in the request line: `/api/v1/pods?limit=500`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** UTF-8 text; undefined without a body. */
  readonly body?: string | undefined
}

/** One HTTP answer as a value. Header names are lower case. */
export interface WireResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /**
   * The body as UTF-8 chunks. A plain answer has one chunk. A watch yields chunks until it ends, and throws if the connection breaks.
   * Returning early (`break` in `for await`) ends the exchange on both sides.
   */
  readonly body: AsyncIterable<string>
}

/**
 * Sends one request. Rejects if there is no answer (connection refused or reset, deadline, abort); an HTTP error status is an answer.
 * Implemented over sockets by `kube-client`, in process by the simulator.
 */
export type Exchange = (request: WireRequest, signal: AbortSignal) => Promise<WireResponse>

/** @returns the whole body as one string */
export async function bodyText(response: WireResponse): Promise<string> {
  let text = ''
  for await (const chunk of response.body) text += chunk
  return text
}
