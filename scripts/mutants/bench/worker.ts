/**
 * A process with one blunt mutant. It applies the edits as modules load, so that the sources on disk stay as they are. Its argument is
 * the mutant as JSON (`{edits, worlds}`). It receives `{seed}` and sends a {@link BenchAnswer}.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Edit, WorldsName } from './blunt-mutant.ts'
import { worlds } from './worlds.ts'

/** Result of a seed. */
export interface BenchAnswer {
  /** Each violated guarantee once. */
  readonly guarantees: readonly string[]
  /** The first sentence of each violation. */
  readonly texts: readonly string[]
  /** Error of the run itself. */
  readonly error?: string
}

const { edits, worlds: name } = JSON.parse(process.argv[2] ?? '{}') as { readonly edits: readonly Edit[]; readonly worlds: WorldsName }
const edited = Map.groupBy(edits, ({ file }) => pathToFileURL(resolve(file)).href)
const loaded = new Set<string>()

registerHooks({
  load(url, context, next) {
    const own = edited.get(url)
    if (own === undefined) return next(url, context)
    loaded.add(url)
    const source = own.reduce((text, { find, replace }) => text.replace(find, () => replace), readFileSync(fileURLToPath(url), 'utf8'))
    return { format: 'module-typescript', source, shortCircuit: true }
  },
})

const { generateSchedule } = await import('../../../test/faults/generate.ts')
const { play } = await import('../../../test/faults/play.ts')
const { judge } = await import('../../../test/faults/judge.ts')

process.on('message', ({ seed }: { readonly seed: number }) => {
  void run(seed)
    .catch(
      (error: unknown): BenchAnswer => ({
        guarantees: [],
        texts: [],
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
    )
    .then((answer) => process.send?.(answer))
})
process.on('disconnect', () => process.exit(0))

async function run(seed: number): Promise<BenchAnswer> {
  const unused = [...edited.keys()].filter((url) => !loaded.has(url))
  if (unused.length > 0) throw new Error(`${unused.join(', ')} is part of no program that the bench runs`)
  const { among, upgrades = 0 } = worlds[name]
  const { recording, facts } = await play(among(generateSchedule(seed, upgrades)))
  const violations = judge(recording, facts)
  const first = [...Map.groupBy(violations, ({ guarantee }) => guarantee)]
  return { guarantees: first.map(([guarantee]) => guarantee), texts: first.map(([guarantee, [one]]) => `${guarantee}: ${one!.text}`) }
}
