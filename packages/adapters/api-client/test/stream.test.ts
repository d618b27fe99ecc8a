import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createApiClient, type FetchLike } from '@tranche/api-client'
import type { StreamMessage } from '@tranche/api-schema'
import { systemClock, VirtualClock } from '@tranche/clock'
import { afterEach, expect, it } from 'vitest'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

type Handler = (request: IncomingMessage, response: ServerResponse, visit: number) => void

/** Runs a server on a socket, and reads `count` messages from it. */
async function read(handle: Handler, count: number): Promise<readonly StreamMessage[]> {
  let visits = 0
  server = createServer((request, response) => handle(request, response, (visits += 1)))
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = createApiClient({ fetch, baseUrl: `http://127.0.0.1:${port}`, token: () => 'secret', clock: systemClock })
  const messages: StreamMessage[] = []
  for await (const message of client.stream({ namespace: 'demo', signal: new AbortController().signal })) {
    messages.push(message)
    if (messages.length === count) break
  }
  return messages
}

const gone = (name: string): string => `data: ${JSON.stringify({ type: 'gone', namespace: 'demo', name })}\n\n`

it('a stream resumes after a loss with the events since, and sends its last id', async () => {
  const asked: (string | undefined)[] = []
  const messages = await read((request, response, visit) => {
    asked.push(request.headers['last-event-id'] as string | undefined)
    expect(request.headers).toMatchObject({ accept: 'text/event-stream', authorization: 'Bearer secret' })
    expect(request.url).toBe('/api/v1/stream?namespace=demo')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`retry: 5\n: still here\n\nid: ${visit * 10}\n${gone(`agent-${visit}`)}`)
    // A name that was cut in half by the loss is never given out.
    response.write('data: {"type":"gone"')
    if (visit === 1) response.end()
    else response.socket?.destroySoon()
  }, 3)
  expect(messages.map((message) => ('name' in message ? message.name : message.type))).toEqual(['agent-1', 'agent-2', 'agent-3'])
  expect(asked).toEqual([undefined, '10', '20'])
})

it('a stream reconnects with the last id, even from a heartbeat, and after several losses', async () => {
  const asked: (string | undefined)[] = []
  await read((request, response, visit) => {
    asked.push(request.headers['last-event-id'] as string | undefined)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (visit === 1) response.end(`retry: 5\nid: 1\n${gone('a')}: alive\nid: 2\n\n`)
    // The update was cut off before its id.
    else if (visit === 2) response.end(`retry: 5\n${gone('b')}`)
    else response.end(gone('b'))
  }, 3)
  expect(asked).toEqual([undefined, '2', '2'])
})

it('a stream starts over if it is lost between a reset and the end of the new state', async () => {
  const asked: (string | undefined)[] = []
  await read((request, response, visit) => {
    asked.push(request.headers['last-event-id'] as string | undefined)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (visit === 1) response.end(`retry: 5\nid: 1\n${gone('a')}`)
    else if (visit === 2) response.end(`retry: 5\ndata: {"type":"reset"}\n\n${gone('b')}`)
    else response.end(`id: 3\n${gone('c')}`)
  }, 4)
  expect(asked).toEqual([undefined, '1', undefined])
})

it('a stream starts over also if the reset came in one piece with the end of the state before it', async () => {
  const asked: (string | undefined)[] = []
  await read((request, response, visit) => {
    asked.push(request.headers['last-event-id'] as string | undefined)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (visit === 1) response.end(`retry: 5\nid: 1\n${gone('a')}data: {"type":"reset"}\n\n${gone('b')}`)
    else response.end(`id: 3\n${gone('c')}`)
  }, 4)
  expect(asked).toEqual([undefined, undefined])
})

it('a stream resumes from the position that another one has reached', async () => {
  const asked: (string | undefined)[] = []
  const position = { lastEventId: '' }
  const answering: FetchLike = async (_url, { headers }) => {
    asked.push(headers['last-event-id'])
    const body = new TextEncoder().encode(`id: ${asked.length}0\n${gone('a')}${gone('b')}: alive\nid: ${asked.length}5\n\n`)
    return { status: 200, headers: { get: () => null }, text: async () => '', body: once(body) }
  }
  const client = createApiClient({ fetch: answering, baseUrl: 'http://tranche.example', clock: new VirtualClock() })
  const readTwo = async (): Promise<void> => {
    const end = new AbortController()
    const stream = client.stream({ signal: end.signal, position, onCurrent: () => end.abort(new Error('enough')) })
    for await (const _ of stream);
  }
  await expect(readTwo()).rejects.toThrow('enough')
  await expect(readTwo()).rejects.toThrow('enough')
  expect(asked).toEqual([undefined, '15'])
  expect(position.lastEventId).toBe('25')
})

it('a stream that is aborted changes its position no more, and yields nothing more', async () => {
  const position = { lastEventId: '' }
  const body = new TextEncoder().encode(`id: 1\n${gone('a')}id: 2\n${gone('b')}id: 3\n${gone('c')}`)
  const answering: FetchLike = async () => ({ status: 200, headers: { get: () => null }, text: async () => '', body: once(body) })
  const end = new AbortController()
  const client = createApiClient({ fetch: answering, baseUrl: 'http://tranche.example', clock: new VirtualClock() })
  const names: string[] = []
  const readAll = async (): Promise<void> => {
    for await (const message of client.stream({ signal: end.signal, position })) {
      names.push('name' in message ? message.name : message.type)
      if (names.length === 2) end.abort(new Error('another stream takes over'))
    }
  }
  await expect(readAll()).rejects.toThrow('another stream takes over')
  expect([names, position.lastEventId]).toEqual([['a', 'b'], '1'])
})

async function* once(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body
  await new Promise(() => {})
}

it.each([0, 1, 2, 3, 4, 5])(
  'a stream changes its position no more by a chunk that arrives %s turns before it is aborted',
  async (turns) => {
    const position = { lastEventId: '7' }
    let arrive: (chunk: IteratorResult<Uint8Array>) => void = () => {}
    const next = (): Promise<IteratorResult<Uint8Array>> => new Promise((resolve) => (arrive = resolve))
    const body = { [Symbol.asyncIterator]: () => ({ next }) }
    const answering: FetchLike = async () => ({ status: 200, headers: { get: () => null }, text: async () => '', body })
    const end = new AbortController()
    const client = createApiClient({ fetch: answering, baseUrl: 'http://tranche.example', clock: new VirtualClock() })
    const readAll = async (): Promise<void> => {
      for await (const _ of client.stream({ signal: end.signal, position }));
    }
    const reading = readAll()
    await new Promise((resolve) => setImmediate(resolve))
    arrive({ value: new TextEncoder().encode(`data: {"type":"reset"}\n\n${gone('a')}${gone('b')}id: 8\n${gone('c')}`) })
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    const before = position.lastEventId
    end.abort(new Error('another stream takes over'))
    await expect(reading).rejects.toThrow('another stream takes over')
    expect(position.lastEventId).toBe(before)
  },
)

it('a stream holds no yielded chunk', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let first: WeakRef<Uint8Array> | undefined
  async function* body(): AsyncGenerator<Uint8Array> {
    for (let sent = 0; ; sent++) {
      const chunk = new TextEncoder().encode(gone(`agent-${sent}`))
      first ??= new WeakRef(chunk)
      yield chunk
    }
  }
  const open: FetchLike = async () => ({ status: 200, headers: { get: () => null }, text: async () => '', body: body() })
  const end = new AbortController()
  const stream = createApiClient({ fetch: open, baseUrl: 'http://tranche.example', clock: systemClock }).stream({ signal: end.signal })
  for (let taken = 0; taken < 5; taken++) await stream.next()
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  expect(first?.deref() === undefined).toBe(true)
  await stream.return()
})

it('a stream that falls silent is reopened after a growing wait', async () => {
  const clock = new VirtualClock()
  const openedAt: number[] = []
  const silent: FetchLike = async () => {
    openedAt.push(clock.monotonicMs())
    return { status: 200, headers: { get: () => null }, text: async () => '', body: silence() }
  }
  const end = new AbortController()
  const lost: unknown[] = []
  const stream = createApiClient({ fetch: silent, baseUrl: 'http://tranche.example', clock }).stream({
    signal: end.signal,
    onLost: (error) => void (lost.push(error) === 3 && end.abort(new Error('enough'))),
  })
  const ended = expect(stream.next()).rejects.toThrow('enough')
  await clock.run({ done: () => end.signal.aborted })
  await ended
  expect(lost).toMatchObject(Array(3).fill({ message: 'the stream sent nothing for 45000 ms' }))
  expect(openedAt).toEqual([0, 45_500, 91_500])
})

/** A body that sends nothing and does not end. */
function silence(): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }
}

it('a stream says when it is open, and after each group of messages', async () => {
  const calls: string[] = []
  const body = new TextEncoder().encode('data: {"type":"reset"}\n\nid: 1\ndata: {"type":"gone","namespace":"demo","name":"a"}\n\n')
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield body
    await new Promise(() => {})
  }
  const answering: FetchLike = async () => ({ status: 200, headers: { get: () => null }, text: async () => '', body: chunks() })
  const end = new AbortController()
  const stream = createApiClient({ fetch: answering, baseUrl: 'http://tranche.example', clock: new VirtualClock() }).stream({
    signal: end.signal,
    onOpen: () => void calls.push('open'),
    onComplete: () => {
      calls.push('complete')
      end.abort(new Error('enough'))
    },
  })
  const read = async (): Promise<void> => {
    for await (const { type } of stream) calls.push(type)
  }
  await expect(read()).rejects.toThrow('enough')
  expect(calls).toEqual(['open', 'reset', 'gone', 'complete'])
})

it('a stream says when the server confirms that it has sent everything, with heartbeats too', async () => {
  const calls: string[] = []
  const encoder = new TextEncoder()
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield encoder.encode('retry: 2000\n\n')
    calls.push('retry sent')
    yield encoder.encode('data: {"type":"reset"}\n\n')
    calls.push('reset sent')
    yield encoder.encode(': alive\nid: 1\n\n')
    calls.push('heartbeat sent')
    yield encoder.encode(': alive\nid: 1\n\n')
    end.abort(new Error('enough'))
  }
  const answering: FetchLike = async () => ({ status: 200, headers: { get: () => null }, text: async () => '', body: chunks() })
  const end = new AbortController()
  const stream = createApiClient({ fetch: answering, baseUrl: 'http://tranche.example', clock: new VirtualClock() }).stream({
    signal: end.signal,
    onCurrent: () => void calls.push('current'),
  })
  const read = async (): Promise<void> => {
    for await (const _ of stream);
  }
  await expect(read()).rejects.toThrow('enough')
  expect(calls).toEqual(['retry sent', 'reset sent', 'current', 'heartbeat sent', 'current'])
})

it('a stream skips messages of newer servers, and invalid ones', async () => {
  const messages = await read((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`data: {"type":"sunshine"}\n\ndata: no JSON\n\n${gone('agent')}`)
  }, 1)
  expect(messages).toEqual([{ type: 'gone', namespace: 'demo', name: 'agent' }])
})

it('a stream ends if the server rejects the token', async () => {
  const refused = read((_request, response) => {
    const problem = { type: '/errors/TOKEN_INVALID', title: 'no', status: 401, code: 'TOKEN_INVALID', detail: 'no token' }
    response.writeHead(401, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem))
  }, 1)
  await expect(refused).rejects.toMatchObject({ code: 'TOKEN_INVALID', status: 401 })
})
