/** As much of `fetch` as we use: the platform's own will do, in Node and in a browser. */
export type FetchLike = (url: string, init: FetchInit) => Promise<FetchResponse>

/** One request. */
export interface FetchInit {
  readonly method: 'GET' | 'POST'
  readonly headers: Record<string, string>
  readonly body?: string
  readonly signal: AbortSignal
  /** Tokens follow no redirect. */
  readonly redirect: 'manual'
}

/** One response. */
export interface FetchResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
  readonly body: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null
}
