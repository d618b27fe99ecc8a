import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Edit, WorldsName } from './blunt-mutant.ts'
import type { BenchAnswer } from './worker.ts'

/** What lives in a process, and in which worlds. */
export interface Tried {
  readonly edits: readonly Edit[]
  readonly worlds: WorldsName
}

/** One process at a time answers for what is tried. */
export interface BenchProcess {
  /** @returns what the seed has come to; an error where the process ended, or took too long */
  run(seed: number): Promise<BenchAnswer>
  end(): void
}

const worker = fileURLToPath(new URL('worker.ts', import.meta.url))
/** A mutant may loop for ever: then nothing is caught. */
const SEED_MS = 180_000

/** Starts the process with its first seed, and again after it was ended. */
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
