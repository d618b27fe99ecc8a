import { bodyText, type WireRequest, type WireResponse } from '@tranche/wire'

/** @returns response with line breaks when the client requests them or is a browser or command line tool; a watch unchanged */
export async function prettied(answer: WireResponse, { headers }: WireRequest, query: URLSearchParams): Promise<WireResponse> {
  const isWhole = Number(answer.headers['content-length'] ?? 0) > 0 && answer.headers['content-type']?.startsWith('application/json')
  if (!isWhole || !wantsPretty(query.get('pretty'), headers['user-agent'] ?? '')) return answer
  const text = `${JSON.stringify(JSON.parse(await bodyText(answer)), null, 2)}\n`
  return { ...answer, headers: { ...answer.headers, 'content-length': String(Buffer.byteLength(text)) }, body: oneChunk(text) }
}

function wantsPretty(asked: string | null, userAgent: string): boolean {
  return asked === null ? /^(?:curl|Wget)\//.test(userAgent) : asked === '' || asked === '1' || asked === 'true'
}

async function* oneChunk(text: string): AsyncGenerator<string, void> {
  yield text
}
