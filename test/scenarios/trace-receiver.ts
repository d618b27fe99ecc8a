import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A span as it was received. */
export interface ReceivedSpan {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly attributes: Readonly<Record<string, unknown>>
  readonly startNs: bigint
}

/** A receiver of OTLP over HTTP, in JSON, on its own port. */
export interface TraceReceiver {
  readonly url: string
  spans(): readonly ReceivedSpan[]
  close(): Promise<void>
}

/** Starts a receiver on 127.0.0.1. */
export async function startTraceReceiver(): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.url === '/v1/traces') spans.push(...spansOf(JSON.parse(body) as ExportRequest))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => spans,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[]
  }[]
}

interface WireSpan extends Pick<ReceivedSpan, 'name' | 'traceId' | 'spanId'> {
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly attributes: readonly Attribute[]
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

function spansOf({ resourceSpans }: ExportRequest): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId, attributes, startTimeUnixNano }) => ({
        service: String(valuesOf(resource.attributes)['service.name']),
        ...{ name, traceId, spanId, parentSpanId },
        attributes: valuesOf(attributes),
        startNs: BigInt(startTimeUnixNano),
      })),
    ),
  )
}

function valuesOf(attributes: readonly Attribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
