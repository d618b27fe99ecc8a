import { problemSchema } from '@tranche/api-schema'
import fc from 'fast-check'

const lines = [
  'GET /healthz HTTP/1.1',
  'POST /api/v1/validate HTTP/1.1',
  'GET /api/v1/rollouts HTTP/1.0',
  'PRI * HTTP/2.0',
  'CONNECT example.com:443 HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'GET http://evil.example/api/v1/me HTTP/1.1',
  'GET',
  'BREW /pot HTCPCP/1.0',
]
const headers = [
  'Host: localhost',
  'Host: localhost, evil',
  'Content-Length: 5',
  'Content-Length: 6',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding : chunked',
  'Expect: 100-continue',
  'Expect: the worst',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Connection: close',
  'Content-Type: application/json',
  ' folded: line',
  'no colon',
  `X-Long: ${'x'.repeat(20_000)}`,
  'X-Nul: a\u0000b',
]
const bodies = ['', '{"a":', '5\r\nhello\r\n0\r\n\r\n', 'zz\r\nhello\r\n', 'ffffffffffffffff\r\nx', 'GET /healthz HTTP/1.1\r\n\r\n']

/** Bytes that are invalid or nearly invalid HTTP. */
export const junk: fc.Arbitrary<Buffer> = fc.oneof(
  fc
    .record({
      line: fc.constantFrom(...lines),
      some: fc.subarray(headers, { maxLength: 5 }),
      body: fc.constantFrom(...bodies),
      eol: fc.constantFrom('\r\n', '\r\n', '\n', '\r'),
    })
    .map(({ line, some, body, eol }) => Buffer.from(`${[line, ...some].join(eol)}${eol}${eol}${body}`, 'latin1')),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
)

/** @returns findings about the bytes that the server sent before it closed the connection; none is allowed */
export function judgeJunk(text: string): readonly string[] {
  if (text === '') return []
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
  if (!(status >= 100 && status < 500)) return [`it was answered with ${text.slice(0, 200)}`]
  if (status < 400) return []
  if (!/^content-type: application\/problem\+json/im.test(head)) return [`${status} is no problem document: ${head}`]
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
  const read = problemSchema.safeParse(JSON.parse(body.slice(0, length)))
  return read.success && read.data.status === status ? [] : [`${status} is reported as ${body.slice(0, 300)}`]
}
