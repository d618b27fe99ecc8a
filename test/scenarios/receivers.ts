import type { EgressClient, EgressRequest, EgressResult } from '@tranche/egress'

/** A message as a receiver took it. */
export interface Heard {
  /** Path of the receiver's URL, without the slash: its name. */
  readonly receiver: string
  readonly atMs: number
  readonly id: string
  readonly event: string
  readonly message: string
}

/** Receivers outside of the cluster, in virtual time: each answers at once, or nobody does. */
export interface Receivers {
  readonly egress: EgressClient
  /** What each has taken, in order. */
  readonly heard: readonly Heard[]
  /** How often anybody was sent anything. */
  asked(): number
  /** Nothing that is sent to it arrives until it is up again. */
  down(receiver: string): void
  up(receiver: string): void
}

/** @returns receivers that are all up, at `https://hooks.example.com/NAME` */
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
