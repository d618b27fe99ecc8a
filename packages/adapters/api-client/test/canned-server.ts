import type { FetchInit, FetchLike, FetchResponse } from '@tranche/api-client'

/** Answer of the server to one request; an error is a failed connection. */
export type Canned =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | Error
  | 'silence'

/** One request as it arrived. */
export interface Arrived extends Pick<FetchInit, 'method' | 'headers' | 'body' | 'redirect'> {
  readonly url: string
}

/** Server with canned responses, in order; repeats the last one. */
export function cannedServer(...answers: readonly Canned[]): { readonly fetch: FetchLike; readonly arrived: readonly Arrived[] } {
  const arrived: Arrived[] = []
  return {
    arrived,
    async fetch(url, { signal, ...init }): Promise<FetchResponse> {
      const answer = answers[Math.min(arrived.length, answers.length - 1)]!
      arrived.push({ url, ...init })
      if (answer === 'silence') return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      if (answer instanceof Error) throw answer
      const { status, body, headers = {} } = answer
      return {
        status,
        headers: { get: (name) => headers[name] ?? null },
        text: async () => (typeof body === 'string' ? body : JSON.stringify(body)),
        body: null,
      }
    },
  }
}
