import type { BenchOptions } from './bench-set.ts'
import { readMachine } from './report/machine.ts'
import type { SetData } from './report/data.ts'
import { benchSets } from './sets.ts'

/** Measures one set. @throws if there is no set of this name */
export async function measureSet(name: string, options: BenchOptions): Promise<SetData> {
  const set = benchSets[name]
  if (set === undefined) throw new Error(`there is no set "${name}"; sets: ${Object.keys(benchSets).join(', ')}`)
  const machine = readMachine()
  const startMs = performance.now()
  const rows = await set.measure(options)
  return {
    set: name,
    command: `pnpm bench ${name}`,
    day: new Date().toISOString().slice(0, 10),
    seconds: Math.round((performance.now() - startMs) / 100) / 10,
    machine,
    rows,
  }
}
