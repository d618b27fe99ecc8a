import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

/** Facts about the machine and the sources of a measurement. They name no host, user or path. */
export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly memoryGib: number
  /** Load average of one minute before the measurement. */
  readonly loadBefore: number
  readonly node: string
  /** Commit of the sources; with `+` when files differ from it. */
  readonly commit: string
}

/** @returns facts about this machine and this checkout, now */
export function readMachine(): Machine {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    node: process.version,
    commit: readCommit(),
  }
}

/** The report itself does not count as a difference: a run that is resumed has written a part of it. */
function readCommit(): string {
  const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
  try {
    const changed = git('status', '--porcelain', '--', '.', ':!docs/benchmarks.md', ':!docs/benchmarks')
    return `${git('rev-parse', '--short=12', 'HEAD')}${changed === '' ? '' : '+'}`
  } catch {
    return 'unknown'
  }
}
