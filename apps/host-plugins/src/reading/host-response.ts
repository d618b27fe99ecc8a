import type { WireResponse } from '@tranche/wire'

/** @returns whether the path asks for a stream of changes */
export function isWatch(path: string): boolean {
  return new URLSearchParams(path.split('?', 2)[1]).get('watch') === 'true'
}

const reasons: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  410: 'Expired',
  422: 'Invalid',
}

/** Answer of an API server with an error, for hosts that pass on only its status and message. */
export function errorResponse(code: number, method: string, message: string): WireResponse {
  const reason = code === 409 ? (method === 'POST' ? 'AlreadyExists' : 'Conflict') : reasons[code]
  return jsonResponse({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }, code)
}

/** Answer with a value as its body. */
export function jsonResponse(value: unknown, status = 200): WireResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: once(JSON.stringify(value)) }
}

async function* once(text: string): AsyncGenerator<string> {
  yield text
}

/** Body of a response as text, chunk by chunk. Not every browser can iterate over a stream. */
export async function* chunksOf({ body }: Pick<Response, 'body'>): AsyncGenerator<string> {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      yield decoder.decode(value, { stream: !done })
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
