import { Agent, get } from 'node:http'

/** Options of a load. */
export interface PacedRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Requests per second, evenly spread. */
  readonly perSecond: number
  readonly seconds: number
}

/** Latencies, in milliseconds. */
export interface PacedLoad {
  /** From sending to the last byte of the answer. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** 99th percentile of the delay from the due time of a request until it was sent, caused by the sender. */
  readonly senderLateP99Ms: number
}

/** Maximum number of concurrent requests; a server that keeps up needs a few. */
const SOCKETS = 64
/** Timeout of an answer, in milliseconds. */
const ANSWER_MS = 30_000

/**
 * Sends each request at its due time, whether earlier ones have been answered or not. A slow server does not slow down the sender. A
 * request that is due while the sender is busy is sent as soon as possible.
 *
 * @throws if an answer is not 200
 */
export async function pacedLoad({ url, headers, perSecond, seconds }: PacedRequest): Promise<PacedLoad> {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS })
  const [tookMs, lateMs, failed]: [number[], number[], unknown[]] = [[], [], []]
  const startMs = performance.now()
  const count = perSecond * seconds
  let [sent, ended] = [0, 0]
  await new Promise<void>((resolve) => {
    const end = (): void => {
      if (++ended === count) resolve()
    }
    const send = (dueMs: number): void => {
      const sentMs = performance.now()
      lateMs.push(sentMs - dueMs)
      const request = get(url, { agent, headers, timeout: ANSWER_MS }, (answer) => {
        if (answer.statusCode !== 200) failed.push(answer.statusCode)
        answer.resume().once('end', () => {
          tookMs.push(performance.now() - sentMs)
          end()
        })
      })
      request.once('timeout', () => request.destroy(new Error(`no answer in ${ANSWER_MS} ms`)))
      request.once('error', (error) => {
        failed.push(error)
        end()
      })
    }
    const timer = setInterval(() => {
      for (; sent < count; sent++) {
        const dueMs = startMs + (sent * 1000) / perSecond
        if (dueMs > performance.now()) return
        send(dueMs)
      }
      clearInterval(timer)
    }, 1)
  })
  agent.destroy()
  if (failed.length > 0) throw new Error(`${failed.length} of ${count} requests failed, the first with ${String(failed[0])}`)
  return { p50Ms: partOf(tookMs, 0.5), p99Ms: partOf(tookMs, 0.99), maxMs: Math.max(...tookMs), senderLateP99Ms: partOf(lateMs, 0.99) }
}

function partOf(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(part * values.length)] ?? 0
}
