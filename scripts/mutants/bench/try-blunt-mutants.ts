import type { ChildProcess } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { bluntMutants, type NumberedMutant } from './all.ts'
import type { WorldsName } from './blunt-mutant.ts'
import { createBenchProcess } from './run-bench.ts'
import { worlds } from './worlds.ts'

/** Blunt mutants to try, and the seeds. */
export interface BenchOptions {
  /** Guarantees (`G3`) and ids (`G3.2`); none: all. */
  readonly only: readonly string[]
  readonly seeds: number
  readonly from: number
  readonly onResult: (result: BenchResult) => void
}

/** Result of a mutant, or of worlds without a fault. */
export interface BenchResult {
  readonly id: string
  readonly guarantee: string
  readonly fault: string
  readonly worlds: WorldsName
  /** Seeds in which the bench named the guarantee; without a mutant, those in which it named any. */
  readonly caught: number
  readonly seeds: number
  /** Everything that was named, and runs that broke: the first sentence of each. */
  readonly said: readonly string[]
}

/** Whether the result is as required: a mutant is caught, and worlds without a fault have no violation. */
export function isAsItMust({ id, caught }: BenchResult): boolean {
  return id === SOUND ? caught === 0 : caught > 0
}

const SOUND = 'sound'

/** Tries the worlds without a mutant first, then each mutant, in as many processes as there are cores; ends them all. */
export async function tryBluntMutants({ only, seeds, from, onResult }: BenchOptions): Promise<readonly BenchResult[]> {
  const mutants = bluntMutants.filter(({ id, guarantee }) => only.length === 0 || only.includes(id) || only.includes(guarantee))
  const names = [...new Set(mutants.map(({ worlds: name = 'any' }) => name))]
  const queue: (NumberedMutant | WorldsName)[] = [...names, ...mutants]
  const results: BenchResult[] = []
  const running = new Set<ChildProcess>()
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const result = await tryOne(next, { seeds, from, running })
      results.push(result)
      onResult(result)
    }
  }
  try {
    await Promise.all(Array.from({ length: availableParallelism() }, work))
  } finally {
    for (const child of running) child.kill('SIGKILL')
  }
  return results
}

interface Trial {
  readonly seeds: number
  readonly from: number
  readonly running: Set<ChildProcess>
}

async function tryOne(what: NumberedMutant | WorldsName, { seeds, from, running }: Trial): Promise<BenchResult> {
  const isSound = typeof what === 'string'
  const name = isSound ? what : (what.worlds ?? 'any')
  const process = createBenchProcess({ edits: isSound ? [] : what.edits, worlds: name }, running)
  let caught = 0
  const said = new Map<string, string>()
  for (let seed = from; seed < from + seeds; seed++) {
    const { guarantees, texts, error } = await process.run(seed)
    const named = isSound ? guarantees : guarantees.filter((one) => (what.named ?? [what.guarantee]).includes(one))
    if (named.length > 0 || (isSound && error !== undefined)) caught++
    for (const text of [...texts, ...(error === undefined ? [] : [`error: ${error}`])]) {
      const [first = ''] = text.split(':', 1)
      if (!said.has(first)) said.set(first, `seed ${seed}, ${text}`)
    }
  }
  process.end()
  const about = isSound ? { id: SOUND, guarantee: '', fault: `nothing is broken: ${worlds[name].text}` } : what
  return { id: about.id, guarantee: about.guarantee, fault: about.fault, worlds: name, caught, seeds, said: [...said.values()] }
}
