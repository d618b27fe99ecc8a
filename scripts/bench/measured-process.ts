/** Processes as a container starts them, and their resource usage. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { until, within } from './until.ts'

/** Components that each run in their own container. */
export type Component = 'controller' | 'executor' | 'api' | 'all-in-one'

/** Options of a process. */
export interface ProcessOptions {
  readonly component: Component
  /** Folder of the bundle, as in the image. */
  readonly image: string
  readonly args: readonly string[]
  /** Time limit to be ready, in seconds. @default 120 */
  readonly readyWithinSeconds?: number | undefined
  /** The complete environment, except for the temporary folder. */
  readonly env: Readonly<Record<string, string>>
}

/** Memory usage of a process, in megabytes (10⁶ bytes). */
export interface Memory {
  /** Current resident set size. */
  readonly rss: number
  /** Current proportional set size: shared pages are divided among their users. */
  readonly pss: number
  /** Peak resident set size. */
  readonly peakRss: number
  /** JavaScript heap in use after a garbage collection. */
  readonly heap: number
}

/** A running process. */
export interface MeasuredProcess {
  readonly child: ChildProcess
  /** From the start of the process until `/readyz` answers 200, in milliseconds. */
  readonly readyMs: number
  /** Processor time of the process so far, in seconds. */
  busySeconds(): number
  /** Reads memory usage, then collects garbage and reads the heap. Later measurements of the same process are not valid. */
  measure(): Promise<Memory>
  /** Asks the process to end, and waits until it has. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

/** Arguments that put other listeners on free ports. The readiness probe has its own port. */
const alsoListening: Readonly<Record<Component, readonly string[]>> = {
  controller: ['--metrics-port', '0'],
  executor: ['--metrics-port', '0'],
  api: [],
  'all-in-one': ['--metrics-port', '0', '--api-port', '0'],
}

/** Interval of readiness checks, in milliseconds. */
const POLL_MS = 10

/** Starts a process whose folder for temporary files is empty, as in a new container, and waits until it is ready. */
export async function startMeasured({ component, image, args, env, readyWithinSeconds = 120 }: ProcessOptions): Promise<MeasuredProcess> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'tranche-bench-'))
  const answering = [component === 'api' ? '--api-port' : '--health-port', String(port)]
  const listening = [...answering, ...alsoListening[component]]
  const startMs = performance.now()
  const child = spawn(process.execPath, [join(image, 'bin/tranche.mjs'), component, ...listening, ...args], {
    env: { ...env, NODE_OPTIONS: `${env['NODE_OPTIONS'] ?? ''} --inspect-port=0`.trim(), TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const text = collectText(child)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const isReady = async (): Promise<true | string> => {
    if (child.exitCode !== null) throw new Error(`tranche ${component} has ended: ${text()}`)
    return fetch(`http://127.0.0.1:${port}/readyz`, { headers: { connection: 'close' } }).then(
      (answer) => answer.ok || `/readyz is answered with ${answer.status}`,
      (error: unknown) => String(error),
    )
  }
  await until(`tranche ${component} to be ready`, isReady, { withinSeconds: readyWithinSeconds, everyMs: POLL_MS })
  return {
    child,
    readyMs: performance.now() - startMs,
    busySeconds: () => busySeconds(child),
    measure: async () => ({ ...resident(child), heap: await retainedHeap(child, text) }),
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await within(`tranche ${component} to end`, ended, { withinSeconds: 60 })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** @returns the output of a program on standard error */
function collectText(child: ChildProcess): () => string {
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  return () => text
}

/** @see proc_pid_status(5) */
function resident({ pid }: ChildProcess): Omit<Memory, 'heap'> {
  const read = (file: string, field: string): number =>
    (Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1]) * 1024) / 1e6
  return { rss: read('status', 'VmRSS'), pss: read('smaps_rollup', 'Pss'), peakRss: read('status', 'VmHWM') }
}

const CLOCK_TICKS_PER_SECOND = 100

/** @see proc_pid_stat(5) */
export function busySeconds({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND
}

/** Makes the current resident memory of a process its peak. @see proc(5), clear_refs */
export function resetPeak({ pid }: ChildProcess): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** @returns peak resident memory since the start, or since {@link resetPeak}, in megabytes (10⁶ bytes) */
export function peakMegabytes(child: ChildProcess): number {
  return resident(child).peakRss
}

/** Uses the inspector, which SIGUSR1 starts. Until then the process has no measuring code. */
async function retainedHeap(child: ChildProcess, text: () => string): Promise<number> {
  child.kill('SIGUSR1')
  const url = (): string | undefined => /Debugger listening on (ws:\S+)/.exec(text())?.[1]
  await until('the inspector to listen', () => url() !== undefined || text(), { withinSeconds: 30, everyMs: POLL_MS })
  const socket = new WebSocket(url()!)
  const opened = new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', () => reject(new Error(`the inspector at ${url()} accepts no connection`)), { once: true })
  })
  await within('the inspector to take a connection', opened, { withinSeconds: 30 })
  const call = (id: number, method: string): Promise<unknown> =>
    new Promise((resolve) => {
      const onMessage = ({ data }: MessageEvent): void => {
        const answer = JSON.parse(String(data)) as { readonly id?: number; readonly result?: unknown }
        if (answer.id !== id) return
        socket.removeEventListener('message', onMessage)
        resolve(answer.result)
      }
      socket.addEventListener('message', onMessage)
      socket.send(JSON.stringify({ id, method }))
    })
  await within('garbage to be collected', call(1, 'HeapProfiler.collectGarbage'), { withinSeconds: 120 })
  const usage = within('the inspector to say how much the heap holds', call(2, 'Runtime.getHeapUsage'), { withinSeconds: 30 })
  const { usedSize } = (await usage) as { readonly usedSize: number }
  socket.close()
  return usedSize / 1e6
}
