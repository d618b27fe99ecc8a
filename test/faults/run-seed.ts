import { createHash } from 'node:crypto'
import type { Recording } from '@tranche/recording'
import { generateSchedule } from './generate.ts'
import { judge, type Violation } from './judge.ts'
import { play, type Played } from './play.ts'
import type { Schedule } from './schedule.ts'
import { shrink } from './shrink.ts'
import { storyText } from './story.ts'

/** Result of a seed. */
export interface SeedResult {
  readonly seed: number
  /** Hash of the recording, if requested; the same for every run of the seed. */
  readonly hash: string | null
  readonly violations: readonly Violation[]
  /** Empty if there was no violation. */
  readonly story: string
  /** Upgrades that began while a release was under way. */
  readonly upgraded: number
  /** Actions over REST that were carried out. */
  readonly answered: number
  /** CPU time of the run itself without shrinking, in milliseconds. */
  readonly cpuMs: number
}

/** Options of a run. */
export interface SeedOptions {
  /** Maximum number of runs for shrinking; 0: the story shows the schedule as it was drawn. @default 0 */
  readonly shrinkRuns?: number
  /** @default false */
  readonly withHash?: boolean
  /** Upgrades beside the incidents of the seed. @default 0 */
  readonly upgrades?: number
}

/** Plays the world of the seed, and judges it. */
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
