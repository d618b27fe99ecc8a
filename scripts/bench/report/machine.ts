import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

/** Facts about the machine and the sources of a measurement. They name no host, user or path. */
export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly memoryGib: number
  /** Load average of one minute before the measurement. */
  readonly loadBefore: number
  readonly node: string
  /** Commit of the checkout; with `+` when measured files differ from it. */
  readonly commit: string
  /** Digest of everything that a measurement depends on; with `+` when files differ. */
  readonly sources: string
}

/** Everything that a measurement depends on, but not the report itself. */
const measured = ['packages', 'apps', 'scripts', 'test/scenarios', 'test/dashboard', 'charts', 'examples', 'pnpm-lock.yaml']

/** @returns facts about this machine and this checkout, now */
export function readMachine(): Machine {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    node: process.version,
    ...readSources(),
  }
}

/** Without git, nothing is known to be the same. */
function readSources(): Pick<Machine, 'commit' | 'sources'> {
  const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
  try {
    const differs = git('status', '--porcelain', '--', ...measured) === '' ? '' : '+'
    const trees = git('rev-parse', ...measured.map((path) => `HEAD:${path}`))
    const sources = createHash('sha256').update(trees).digest('hex').slice(0, 12)
    return { commit: git('rev-parse', '--short=12', 'HEAD') + differs, sources: sources + differs }
  } catch {
    return { commit: 'unknown', sources: 'unknown+' }
  }
}
