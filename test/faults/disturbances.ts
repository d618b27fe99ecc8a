import type { Clock } from '@tranche/clock'
import type { Disturbance } from '@tranche/recording'
import type { Slot } from './schedule.ts'

/** Times in which faults could hold up what controllers acknowledge. Faults of executors, nodes and pods could not. */
export interface Disturbances {
  /** Whatever controllers run, something holds them up for this time. */
  disturb(forMs: number): void
  /** The same, until the returned function is called. */
  begin(): () => void
  /** No program works in this slot for this time; Infinity: until {@link Disturbances.restore}. Ignores slots of other programs. */
  disable(slot: Slot, forMs: number): void
  /** Another program works in this slot from now on. */
  restore(slot: Slot): void
  /** @returns all so far, by the recording's clock */
  list(): readonly Disturbance[]
}

interface Open {
  readonly fromMs: number
  toMs: number
}

/** @param takeoverMs time until another controller leads, after one has ended or come back */
export function createDisturbances(clock: Clock, takeoverMs: number): Disturbances {
  const all: Open[] = []
  const bySlot = new Map<string, Open[]>([
    ['controller-a', []],
    ['controller-b', []],
  ])

  function begin(): () => void {
    const one = { fromMs: clock.nowMs(), toMs: Number.POSITIVE_INFINITY }
    all.push(one)
    return () => void (one.toMs = Math.min(one.toMs, clock.nowMs() + takeoverMs))
  }

  return {
    disturb: (forMs) => void all.push({ fromMs: clock.nowMs(), toMs: clock.nowMs() + forMs }),
    begin,
    disable(slot, forMs) {
      bySlot.get(slot)?.push({ fromMs: clock.nowMs(), toMs: clock.nowMs() + forMs })
    },
    restore(slot) {
      for (const one of bySlot.get(slot) ?? []) one.toMs = Math.min(one.toMs, clock.nowMs())
    },
    list() {
      const [a, b] = [...bySlot.values()] as [Open[], Open[]]
      const changes = [...a, ...b].flatMap(({ fromMs, toMs }) => [fromMs, toMs].filter(Number.isFinite))
      const takeovers = changes.map((fromMs) => ({ fromMs, toMs: fromMs + takeoverMs }))
      const bothDown = a.flatMap((one) => b.map((other) => common(one, other)).filter(({ fromMs, toMs }) => fromMs < toMs))
      return [...all, ...takeovers, ...bothDown].map(({ fromMs, toMs }) => ({ fromMs, toMs }))
    },
  }
}

function common(a: Open, b: Open): Disturbance {
  return { fromMs: Math.max(a.fromMs, b.fromMs), toMs: Math.min(a.toMs, b.toMs) }
}
