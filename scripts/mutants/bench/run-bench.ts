import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Edit, WorldsName } from './blunt-mutant.ts'
import type { BenchAnswer } from './worker.ts'

/** A mutant and its worlds, for one process. */
export interface Tried {
  readonly edits: readonly Edit[]
  readonly worlds: WorldsName
}

/** Runs seeds in a process, one at a time. */
export interface BenchProcess {
  /** @returns the result of the seed; an error if the process ended, or took too long */
  run(seed: number): Promise<BenchAnswer>
  end(): void
}

const worker = fileURLToPath(new URL('worker.ts', import.meta.url))
/** Time limit of a seed, in milliseconds. A mutant may loop forever; it is then not caught. */
const SEED_MS = 180_000

/** Starts the process with its first seed, and again after it has ended. */
export function createBenchProcess(tried: Tried, running: Set<ChildProcess>): BenchProcess {
  let child: ChildProcess | undefined

  function start(): ChildProcess {
    const started = fork(worker, [JSON.stringify(tried)], { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    running.add(started)
    return started
  }

  function end(): void {
    if (child === undefined) return
    running.delete(child)
    child.removeAllListeners()
    child.kill('SIGKILL')
    child = undefined
  }

  return {
    run(seed) {
      child ??= start()
      const own = child
      return new Promise<BenchAnswer>((done) => {
        let said = ''
        const finish = (answer: BenchAnswer): void => {
          clearTimeout(timer)
          own.removeAllListeners('exit')
          own.removeAllListeners('message')
          own.stderr?.removeAllListeners('data')
          done(answer)
        }
        const failed = (error: string): void => {
          end()
          finish({ guarantees: [], texts: [], error })
        }
        const timer = setTimeout(() => failed(`seed ${seed} took more than ${SEED_MS / 1_000} s`), SEED_MS)
        own.stderr?.on('data', (text: Buffer) => void (said += text.toString()))
        own.once('exit', (code) => failed(`its process ended with ${code}: ${said.slice(-2_000)}`))
        own.once('message', finish)
        own.send({ seed })
      })
    },
    end,
  }
}
