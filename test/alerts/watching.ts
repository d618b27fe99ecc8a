import type { Stage } from '../scenarios/stage.ts'

/** What Prometheus would have read at one moment of a story. */
export interface Look {
  /** From the beginning of the story, in minutes. */
  readonly atMinute: number
  readonly targets: readonly Target[]
}

/** One process, as Prometheus sees it. */
export interface Target {
  /** `tranche-controller-metrics`: the Service by which it is found. */
  readonly job: string
  readonly instance: string
  /** What it tells; null: it does not answer. */
  readonly text: string | null
}

/** How often Prometheus looks, in minutes. */
export interface Watching {
  readonly minutes: number
  /** @default 1 */
  readonly everyMinutes?: number
}

/** Lets time pass on a stage, and keeps what each program tells meanwhile. */
export async function watch(
  stage: Stage,
  identities: readonly string[],
  { minutes, everyMinutes = 1 }: Watching,
): Promise<readonly Look[]> {
  const looks: Look[] = []
  for (let atMinute = 0; atMinute <= minutes; atMinute += everyMinutes) {
    const targets: Target[] = []
    for (const identity of identities) {
      const job = identity.startsWith('controller') ? 'tranche-controller-metrics' : 'tranche-executor-metrics'
      targets.push({ job, instance: identity, text: await stage.scrape(identity) })
    }
    looks.push({ atMinute, targets })
    await stage.pass(everyMinutes * 60_000)
  }
  return looks
}
