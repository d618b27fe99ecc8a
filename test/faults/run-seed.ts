import { createHash } from 'node:crypto'
import type { Recording } from '@tranche/recording'
import { generateSchedule } from './generate.ts'
import { judge, type Violation } from './judge.ts'
import { play, type Played } from './play.ts'
import type { Schedule } from './schedule.ts'
import { shrink } from './shrink.ts'
import { storyText } from './story.ts'

/** What a seed has come to. */
export interface SeedResult {
  readonly seed: number
  /** Of the recording, where it was asked for: the same seed always gives the same. */
  readonly hash: string | null
  readonly violations: readonly Violation[]
  /** Empty without a violation. */
  readonly story: string
  /** Upgrades that began while a release was under way. */
  readonly upgraded: number
  /** Actions over REST that were carried out. */
  readonly answered: number
  /** What the run itself cost, without shrinking, in milliseconds of CPU. */
  readonly cpuMs: number
}

/** How a seed is run. */
export interface SeedOptions {
  /** Most runs that shrinking may take; 0: the schedule is told as it was drawn. @default 0 */
  readonly shrinkRuns?: number
  /** @default false */
  readonly withHash?: boolean
  /** Upgrades that happen beside what the seed stands for. @default 0 */
  readonly upgrades?: number
}

/** Plays what the seed stands for, and judges it. */
export async function runSeed(seed: number, { shrinkRuns = 0, withHash = false, upgrades = 0 }: SeedOptions = {}): Promise<SeedResult> {
  const before = process.cpuUsage()
  const schedule = generateSchedule(seed, upgrades)
  const { played, violations } = await tryOut(schedule)
  const { user, system } = process.cpuUsage(before)
  const story = violations.length === 0 ? '' : await storyOf(schedule, { played, violations }, shrinkRuns)
  const answered = played.facts.asked.filter(({ outcome }) => outcome.kind === 'answered' && outcome.answer.state === 'acknowledged').length
  const hash = withHash ? hashOf(played.recording) : null
  return { seed, hash, violations, story, upgraded: played.upgraded, answered, cpuMs: (user + system) / 1_000 }
}

function hashOf({ writes, deliveries }: Recording): string {
  const hash = createHash('sha256')
  for (const entry of [...writes, ...deliveries]) hash.update(`${JSON.stringify(entry)}\n`)
  return hash.digest('hex')
}

interface Outcome {
  readonly played: Played
  readonly violations: readonly Violation[]
}

async function tryOut(schedule: Schedule): Promise<Outcome> {
  const played = await play(schedule)
  return { played, violations: judge(played.recording, played.facts) }
}

async function storyOf(schedule: Schedule, outcome: Outcome, shrinkRuns: number): Promise<string> {
  if (shrinkRuns === 0) return storyText(outcome.played, outcome.violations)
  const isWanted = ({ violations }: Outcome): boolean => violations.some(({ guarantee }) => guarantee === outcome.violations[0]?.guarantee)
  const shrunk = await shrink(schedule, shrinkRuns, async (smaller) => isWanted(await tryOut(smaller)))
  const { played, violations } = await tryOut(shrunk)
  return storyText(played, violations)
}
