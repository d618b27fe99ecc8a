// Receives OTLP traces in JSON on port 4318 of this machine, or on the given port. Prints each span below its parent when it ends.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}

interface Message {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
}

const server = createServer((request, response) => void take(request, response))
const port = Number(process.argv[2] ?? 4318)
server.listen(port, '127.0.0.1', () => console.log(`waits for traces on port ${(server.address() as AddressInfo).port}`))

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  if (request.headers['content-type'] !== 'application/json') {
    response.writeHead(415).end('set OTEL_EXPORTER_OTLP_PROTOCOL=http/json\n')
    return
  }
  print((JSON.parse(body) as Message).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)))
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
}

function print(spans: readonly Span[]): void {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const below = (span: Span, depth: number): void => {
    console.log(`${span.traceId.slice(0, 8)} ${'  '.repeat(depth)}${line(span)}`)
    for (const one of spans) if (one.parentSpanId === span.spanId) below(one, depth + 1)
  }
  for (const span of spans) if (!ids.has(span.parentSpanId ?? '')) below(span, 0)
}

function line({ name, startTimeUnixNano, endTimeUnixNano, attributes }: Span): string {
  const ms = Number((BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 10_000n) / 100
  const reported = ['tranche.key', 'k8s.pod.name', 'k8s.node.name', 'tranche.result', 'http.response.status_code']
  const values = attributes.filter(({ key }) => reported.includes(key)).flatMap(({ value }) => Object.values(value))
  return [name, ...values, `${ms} ms`].join(' ')
}
