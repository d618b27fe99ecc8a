import type { Stage } from '../scenarios/stage.ts'

/** A scrape of all targets at one moment of a story. */
export interface Look {
  /** Minutes since the start of the story. */
  readonly atMinute: number
  readonly targets: readonly Target[]
}

/** One process, as a target of Prometheus. */
export interface Target {
  /** Service that selects the target, such as `tranche-controller-metrics`. */
  readonly job: string
  readonly instance: string
  /** Its metrics; null if it does not answer. */
  readonly text: string | null
}

/** How long and how often Prometheus scrapes, in minutes. */
export interface Watching {
  readonly minutes: number
  /** @default 1 */
  readonly everyMinutes?: number
}

/** Advances time on a stage, and scrapes each program. */
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
