/** The REST API while many tabs are open: HTTP clients that send the requests of a tab, as a tab in the browser was seen to send them. */
import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
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
  /** Reads that follow each change of the Rollout, at most once a second. */
  readonly again: readonly string[]
}

/** Cost of many tabs. */
export interface TabsCost {
  readonly tabs: number
  /** Reads that one tab repeats when its Rollout changes. */
  readonly again: readonly string[]
  /** Processor time of the API per tab and second, in milliseconds: less the time without tabs. */
  readonly cpuMs: number
  /** Memory of the API per tab, in MiB: less the memory without tabs. */
  readonly mebibytes: number
  /** Processors that the API used altogether. */
  readonly processors: number
  /** Processors that the API used without tabs. */
  readonly idleProcessors: number
  /** Repeated reads per tab and second, and the duration that 95 % of them did not exceed. */
  readonly readsPerSecond: number
  readonly readP95Ms: number
  /** Bytes that a tab received per second, in kilobytes (10³ bytes). */
  readonly kilobytesPerSecond: number
}

const AGAIN_MS = 1_000
/** A read counts as repeated if a tab sends it this often. */
const REPEATED = 3

/** Records the requests of a tab in the browser. */
export async function recordTab(browser: Browser, cluster: LargeCluster, path: string, seconds: number): Promise<TabRequests> {
  const tab = await openTab(browser, cluster)
  await tab.open(path)
  await sleep(seconds * 1_000)
  const requests = tab.requests.filter((one) => !one.startsWith('/api/v1/stream'))
  const counts = Map.groupBy(requests, (one) => one)
  const stream = tab.requests.filter((one) => one.startsWith('/api/v1/stream')).at(-1) ?? '/api/v1/stream'
  await tab.close()
  return { stream, first: [...counts.keys()], again: [...counts].filter(([, times]) => times.length >= REPEATED).map(([one]) => one) }
}

/** Opens the tabs, and measures the API before and while they are open. */
export async function measureTabs(cluster: LargeCluster, requests: TabRequests, tabs: number, seconds: number): Promise<TabsCost> {
  const pid = cluster.process.pid!
  const before = { busy: await busyFor(pid, seconds), mebibytes: residentMebibytes(pid) }
  const counts: Counts = { reads: [], bytes: 0 }
  await using cleanup = new AsyncDisposableStack()
  for (let tab = 0; tab < tabs; tab++) {
    const token = cluster.viewers[tab % cluster.viewers.length]!
    cleanup.defer(await openClient({ url: cluster.api, token, requests, counts }))
  }
  await sleep(5_000)
  counts.reads = []
  counts.bytes = 0
  const busy = await busyFor(pid, seconds)
  return {
    tabs,
    again: requests.again,
    cpuMs: ((busy - before.busy) / tabs) * 1_000,
    mebibytes: (residentMebibytes(pid) - before.mebibytes) / tabs,
    processors: busy,
    idleProcessors: before.busy,
    readsPerSecond: counts.reads.length / tabs / seconds,
    readP95Ms: counts.reads.toSorted((a, b) => a - b)[Math.floor(counts.reads.length * 0.95)] ?? 0,
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
}

interface ClientOptions {
  readonly url: string
  readonly token: string
  readonly requests: TabRequests
  readonly counts: Counts
}

/** @returns function that closes it */
async function openClient({ url, token, requests, counts }: ClientOptions): Promise<() => void> {
  // As many connections to one host as a browser has.
  const agent = new Agent({ keepAlive: true, maxSockets: 5 })
  const ask = (path: string, options: { readonly agent: Agent | false }): Promise<IncomingMessage> =>
    within(
      `an answer to GET ${path}`,
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip, deflate, br' }
        get(`${url}${path}`, { ...options, headers }, (answer) =>
          answer.statusCode === 200 ? resolve(answer) : reject(new Error(`GET ${path} was answered with ${answer.statusCode}`)),
        ).on('error', reject)
      }),
      { withinSeconds: 60 },
    )
  const read = async (path: string): Promise<void> => {
    for await (const chunk of await ask(path, { agent })) counts.bytes += (chunk as Buffer).length
  }
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  let lastMs = Number.NEGATIVE_INFINITY
  let isReading = false
  const readAgain = async (): Promise<void> => {
    timer = undefined
    lastMs = performance.now()
    // A read in progress is replaced in the browser; here it ends, and the next change repeats it.
    if (isReading || isOver) return
    isReading = true
    await Promise.all(
      requests.again.map(async (path) => {
        const startMs = performance.now()
        await read(path)
        counts.reads.push(performance.now() - startMs)
      }),
    ).catch((error: unknown) => {
      if (!isOver) throw error
    })
    isReading = false
  }
  await Promise.all(requests.first.map(read))
  const stream = await ask(requests.stream, { agent: false })
  const shown = /nodes=[^&]*(?:%2F|\/)([^&]+)/.exec(requests.stream)?.[1]
  let rest = ''
  stream.on('error', () => {})
  stream.setEncoding('latin1').on('data', (text: string) => {
    counts.bytes += text.length
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    const isChanged = lines.some((line) => line.startsWith('data: {"type":"rollout"') && line.slice(0, 200).includes(`"name":"${shown}"`))
    if (isChanged && timer === undefined) timer = setTimeout(() => void readAgain(), Math.max(0, lastMs + AGAIN_MS - performance.now()))
  })
  return () => {
    isOver = true
    clearTimeout(timer)
    stream.destroy()
    agent.destroy()
  }
}
