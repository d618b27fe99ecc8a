/** The REST API while many tabs are open: HTTP clients that send the requests of a tab, as a tab in the browser was seen to send them. */
import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import type { TabsCost } from '../../../scripts/bench/dashboard-figures.ts'
import { within } from '../../../scripts/bench/until.ts'
import type { LargeCluster } from './large-cluster.ts'
import { busySeconds, residentMebibytes } from './machine.ts'
import { openTab } from './tab.ts'

/** Requests of one tab. */
export interface TabRequests {
  /** Path of the stream, with its query. */
  readonly stream: string
  /** Reads when the page opens. */
  readonly first: readonly string[]
  /** Reads that the tab repeats, and their average interval in milliseconds. */
  readonly again: readonly { readonly path: string; readonly everyMs: number }[]
}

/** Time in which a page reads everything once, in milliseconds. */
const FIRST_MS = 4_000

/** Records the requests of a tab in the browser. */
export async function recordTab(browser: Browser, cluster: LargeCluster, path: string, seconds: number): Promise<TabRequests> {
  const tab = await openTab(browser, cluster)
  await tab.open(path)
  await sleep(FIRST_MS)
  const isRead = (one: string): boolean => !one.startsWith('/api/v1/stream')
  const stream = tab.requests.findLast((one) => !isRead(one)) ?? '/api/v1/stream'
  const first = [...new Set(tab.requests.filter(isRead))]
  const before = tab.requests.length
  await sleep(seconds * 1_000)
  const repeated = Map.groupBy(tab.requests.slice(before).filter(isRead), (one) => one)
  await tab.close()
  return { stream, first, again: [...repeated].map(([one, times]) => ({ path: one, everyMs: (seconds * 1_000) / times.length })) }
}

/** Opens the tabs, and measures the API before and while they are open. */
export async function measureTabs(cluster: LargeCluster, requests: TabRequests, tabs: number, seconds: number): Promise<TabsCost> {
  const pid = cluster.process.pid!
  const before = { busy: await busyFor(pid, seconds), mebibytes: residentMebibytes(pid) }
  const counts: Counts = { reads: [], bytes: 0, refusals: 0, failures: [] }
  await using cleanup = new AsyncDisposableStack()
  for (let tab = 0; tab < tabs; tab++) {
    const token = cluster.viewers[tab % cluster.viewers.length]!
    cleanup.defer(await openClient({ url: cluster.api, token, requests, counts, at: tab / tabs }))
  }
  await sleep(5_000)
  counts.reads = []
  counts.bytes = 0
  counts.refusals = 0
  const busy = await busyFor(pid, seconds)
  if (counts.failures.length > 0) throw new Error(`${counts.failures.length} reads failed: ${counts.failures[0]}`)
  return {
    tabs,
    again: requests.again,
    cpuMs: ((busy - before.busy) / tabs) * 1_000,
    mebibytes: (residentMebibytes(pid) - before.mebibytes) / tabs,
    processors: busy,
    idleProcessors: before.busy,
    readsPerSecond: counts.reads.length / tabs / seconds,
    readP95Ms: counts.reads.toSorted((a, b) => a - b)[Math.floor(counts.reads.length * 0.95)] ?? 0,
    refusedShare: counts.refusals / Math.max(1, counts.reads.length),
    kilobytesPerSecond: counts.bytes / tabs / seconds / 1_000,
  }
}

/** @returns processors that a process uses */
async function busyFor(pid: number, seconds: number): Promise<number> {
  const [startMs, start] = [performance.now(), busySeconds(pid)]
  await sleep(seconds * 1_000)
  return (busySeconds(pid) - start) / ((performance.now() - startMs) / 1_000)
}

/** What all clients have received. */
interface Counts {
  /** Durations of repeated reads, in milliseconds. */
  reads: number[]
  bytes: number
  /** Reads that were answered with 503, because the API was busy. */
  refusals: number
  /** Why tabs have stopped. */
  failures: string[]
}

interface ClientOptions {
  readonly url: string
  readonly token: string
  readonly requests: TabRequests
  readonly counts: Counts
  /** Part of the interval after which the first repeated read is sent: people open their tabs at different times. */
  readonly at: number
}

/** @returns function that closes it */
async function openClient({ url, token, requests, counts, at }: ClientOptions): Promise<() => void> {
  // As many connections to one host as a browser has.
  const agent = new Agent({ keepAlive: true, maxSockets: 5 })
  const ask = (path: string, options: { readonly agent: Agent | false }): Promise<IncomingMessage> =>
    within(
      `an answer to GET ${path}`,
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip, deflate, br' }
        get(`${url}${path}`, { ...options, headers }, (answer) => {
          if (answer.statusCode === 200 || answer.statusCode === 503) resolve(answer)
          else reject(new Error(`GET ${path} was answered with ${answer.statusCode}`))
        }).on('error', reject)
      }),
      { withinSeconds: 60 },
    )
  const read = async (path: string): Promise<void> => {
    const answer = await ask(path, { agent })
    if (answer.statusCode !== 200) counts.refusals += 1
    for await (const chunk of answer) counts.bytes += (chunk as Buffer).length
  }
  const over = new AbortController()
  const readAgain = async ({ path, everyMs }: TabRequests['again'][number]): Promise<void> => {
    await sleep(at * everyMs, undefined, { signal: over.signal })
    while (!over.signal.aborted) {
      const startMs = performance.now()
      await read(path)
      counts.reads.push(performance.now() - startMs)
      await sleep(Math.max(0, startMs + everyMs - performance.now()), undefined, { signal: over.signal })
    }
  }
  await Promise.all(requests.first.map(read))
  const stream = await ask(requests.stream, { agent: false })
  stream.on('error', () => {})
  stream.on('data', (chunk: Buffer) => (counts.bytes += chunk.length))
  for (const one of requests.again)
    readAgain(one).catch((error: unknown) => {
      if (!over.signal.aborted) counts.failures.push(String(error))
    })
  return () => {
    over.abort()
    stream.destroy()
    agent.destroy()
  }
}
