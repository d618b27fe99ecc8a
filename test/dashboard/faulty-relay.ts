import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server between the browser and the REST API that can be broken. */
export interface FaultyRelay {
  /** Its base URL; pages of this origin belong to it. */
  readonly url: string
  /** Refuses connections, and cuts those that are open, as if the API were down. */
  refuse(): Promise<void>
  accept(): Promise<void>
  /** Streams stay open and deliver nothing; new ones get `head` of the response, or nothing at all. Other requests are answered. */
  stallStreams(how: 'head' | 'nothing'): void
  /** Ends the stall, and cuts the streams that it affected. */
  flow(): void
  /** Works again as at the start. */
  mend(): Promise<void>
  /** Cuts every open stream. */
  cutStreams(): void
  /** Resolves at the next request for a stream. */
  nextStream(): Promise<void>
  dispose(): Promise<void>
}

/** Starts a relay to an API on a free port of 127.0.0.1. */
export async function startRelay(api: string): Promise<FaultyRelay> {
  const streams = new Set<ServerResponse>()
  const asked: (() => void)[] = []
  let stall: 'head' | 'nothing' | null = null
  const server = createServer((incoming, outgoing) => {
    const isStream = incoming.url?.startsWith('/api/v1/stream') === true
    if (isStream) {
      streams.add(outgoing)
      outgoing.once('close', () => streams.delete(outgoing))
      for (const resolve of asked.splice(0)) resolve()
    }
    if (!isStream || stall !== 'nothing') relay(api, incoming, outgoing, () => isStream && stall !== null)
  })
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  const cutStreams = (): void => streams.forEach((stream) => stream.destroy())
  const accept = (): Promise<void> => (server.listening ? Promise.resolve() : listen(port))
  const flow = (): void => {
    stall = null
    cutStreams()
  }
  await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    refuse: close,
    accept,
    stallStreams: (how) => void (stall = how),
    flow,
    mend() {
      flow()
      return accept()
    },
    cutStreams,
    nextStream: () => new Promise((resolve) => asked.push(resolve)),
    dispose: () => (server.listening ? close() : Promise.resolve()),
  }
}

function relay(api: string, incoming: IncomingMessage, outgoing: ServerResponse, isStalled: () => boolean): void {
  const { method, url } = incoming
  // To the API, its pages are of its own origin.
  const headers = { ...incoming.headers, host: new URL(api).host, ...(incoming.headers.origin !== undefined && { origin: api }) }
  const upstream = request(`${api}${url}`, { method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    outgoing.flushHeaders()
    answer.on('data', (chunk: Buffer) => {
      if (!isStalled()) outgoing.write(chunk)
    })
    answer.once('end', () => outgoing.end())
  })
  upstream.on('error', () => outgoing.destroy())
  outgoing.once('close', () => upstream.destroy())
  incoming.pipe(upstream)
}
