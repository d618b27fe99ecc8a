/** Subset of `fetch` that the client uses; the platform's own works in Node and in browsers. */
export type FetchLike = (url: string, init: FetchInit) => Promise<FetchResponse>

/** Request of {@link FetchLike}. */
export interface FetchInit {
  readonly method: 'GET' | 'POST'
  readonly headers: Record<string, string>
  readonly body?: string
  readonly signal: AbortSignal
  /** Redirects are not followed, because they could leak the token. */
  readonly redirect: 'manual'
}

/** Response of {@link FetchLike}. */
export interface FetchResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
  readonly body: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null
}
