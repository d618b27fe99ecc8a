import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { SeedOptions, SeedResult } from './run-seed.ts'

/** Seeds to run, and their options. */
export interface PoolOptions extends SeedOptions {
  readonly from: number
  /** Number of seeds (≥ 0). */
  readonly seeds: number
  /** @default the number of cores */
  readonly workers?: number
  /** Time after which no further seed starts, in milliseconds. @default never */
  readonly withinMs?: number
  /** Called for every seed as it ends, in the order in which they end. */
  readonly onResult?: (result: SeedResult) => void
}

const worker = fileURLToPath(new URL('worker.ts', import.meta.url))

/** Seeds per process. Programs that were killed in the middle of a call leave objects behind, which stay until their process ends. */
const SEEDS_PER_PROCESS = 100

/**
 * Runs seeds in child processes, and ends those.
 *
 * @returns the results, by seed
 * @throws {Error} when a run itself breaks, naming the seed
 */
export async function runSeeds(options: PoolOptions): Promise<readonly SeedResult[]> {
  const { from, seeds, withinMs = Number.POSITIVE_INFINITY, workers = availableParallelism() } = options
  const startedMs = performance.now()
  const results: SeedResult[] = []
  let next = from
  const takeSeed = (): number | null => (next < from + seeds && performance.now() - startedMs < withinMs ? next++ : null)
  const children = new Set<ChildProcess>()
  const work = async (): Promise<void> => {
    let child = start(children)
    let asked = 0
    for (let seed = takeSeed(); seed !== null; seed = takeSeed()) {
      if (asked++ === SEEDS_PER_PROCESS) {
        end(child, children)
        child = start(children)
        asked = 1
      }
      const result = await ask(child, seed, options)
      results.push(result)
      options.onResult?.(result)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.max(1, Math.min(workers, seeds)) }, work))
  } finally {
    for (const child of children) end(child, children)
  }
  return results.toSorted((a, b) => a.seed - b.seed)
}

function start(children: Set<ChildProcess>): ChildProcess {
  const child = fork(worker, { execArgv: [] })
  children.add(child)
  return child
}

function end(child: ChildProcess, children: Set<ChildProcess>): void {
  child.kill('SIGKILL')
  children.delete(child)
}

/** Most seeds take seconds, and minutes if they are shrunk. One whose clock stops would never end. */
const LONGEST_SEED_MS = 15 * 60_000

function ask(child: ChildProcess, seed: number, { shrinkRuns = 0, withHash = false, upgrades = 0 }: SeedOptions): Promise<SeedResult> {
  return new Promise((done, fail) => {
    const onExit = (code: number | null): void => {
      clearTimeout(timer)
      fail(new Error(`seed ${seed}: its process ended with ${code}`))
    }
    child.once('exit', onExit)
    const timer = setTimeout(
      () => fail(new Error(`seed ${seed}: has not ended after ${LONGEST_SEED_MS / 60_000} minutes`)),
      LONGEST_SEED_MS,
    )
    child.once('message', (answer: SeedResult | { readonly error: string }) => {
      clearTimeout(timer)
      child.off('exit', onExit)
      if ('error' in answer) fail(new Error(`seed ${seed}: ${answer.error}`))
      else done(answer)
    })
    child.send({ seed, shrinkRuns, withHash, upgrades })
  })
}
