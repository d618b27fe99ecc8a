import type { EgressClient, EgressRequest, EgressResult } from '@tranche/egress'

/** A message that a receiver accepted. */
export interface Heard {
  /** Name of the receiver: the path of its URL, without the slash. */
  readonly receiver: string
  readonly atMs: number
  readonly id: string
  readonly event: string
  readonly message: string
}

/** Receivers outside of the cluster, in virtual time. Each answers at once, or is unreachable. */
export interface Receivers {
  readonly egress: EgressClient
  /** All accepted messages, in order. */
  readonly heard: readonly Heard[]
  /** Number of requests to all receivers. */
  asked(): number
  /** Makes a receiver unreachable until `up`. */
  down(receiver: string): void
  up(receiver: string): void
}

/** @returns receivers that are all reachable, at `https://hooks.example.com/NAME` */
export function createReceivers(nowMs: () => number): Receivers {
  const heard: Heard[] = []
  const away = new Set<string>()
  let asked = 0
  async function send({ url, headers, body = '' }: EgressRequest): Promise<EgressResult> {
    asked++
    const receiver = new URL(url).pathname.slice(1)
    if (away.has(receiver)) return { kind: 'failed', reason: 'Unreachable', message: 'hooks.example.com cannot be reached: ECONNREFUSED' }
    const { event, message } = JSON.parse(body) as { readonly event: string; readonly message: string }
    heard.push({ receiver, atMs: nowMs(), id: headers?.['idempotency-key'] ?? '', event, message })
    return { kind: 'answered', status: 204, headers: {}, body: '' }
  }
  return {
    egress: { send, allows: () => true, close: async () => {} },
    heard,
    asked: () => asked,
    down: (receiver) => void away.add(receiver),
    up: (receiver) => void away.delete(receiver),
  }
}
