/** Frames and tasks of a page while it shows something. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import type { Frames } from '../../../scripts/bench/dashboard-figures.ts'
import { idleShareSince, machineTime } from './machine.ts'

/** An event of a trace. Times are microseconds. */
interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly ts: number
  readonly dur?: number
  /** Processor time. */
  readonly tdur?: number
  readonly pid: number
  readonly tid: number
  readonly args: { readonly name?: string }
}

/** Counts frames and traces the tasks of the main thread. */
export async function measureFrames(browser: Browser, page: Page, seconds: number): Promise<Frames> {
  const before = machineTime()
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'] })
  const perSecond = await page.evaluate(countFrames, seconds * 1_000)
  const idleShare = idleShareSince(before)
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString('utf8')) as { readonly traceEvents: readonly TraceEvent[] }
  return { perSecond, idleShare, ...tasksOf(traceEvents, seconds) }
}

/** Runs in the page. */
function countFrames(durationMs: number): Promise<number> {
  return new Promise((resolve) => {
    const startMs = performance.now()
    let frames = 0
    const next = (): void => {
      const passedMs = performance.now() - startMs
      if (passedMs >= durationMs) return resolve((frames / passedMs) * 1_000)
      frames += 1
      requestAnimationFrame(next)
    }
    requestAnimationFrame(next)
  })
}

function tasksOf(events: readonly TraceEvent[], seconds: number): Omit<Frames, 'perSecond' | 'idleShare'> {
  const isTask = ({ name, ph }: TraceEvent): boolean => ph === 'X' && name === 'RunTask'
  const mains = new Set(
    events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const byThread = Map.groupBy(
    events.filter((event) => isTask(event) && mains.has(`${event.pid} ${event.tid}`)),
    ({ pid, tid }) => `${pid} ${tid}`,
  )
  // Other renderers are idle.
  const tasks = [...byThread.values()].sort((a, b) => busyMs(b) - busyMs(a))[0] ?? []
  const startUs = Math.min(...tasks.map(({ ts }) => ts))
  const longest = Map.groupBy(tasks, ({ ts }) => Math.floor((ts - startUs) / 1e6))
  return {
    longestTaskP95Ms: percentile(
      [...longest.values()].map((group) => Math.max(...group.map(durationMs))),
      0.95,
    ),
    longestTaskCpuP95Ms: percentile(
      [...longest.values()].map((group) => Math.max(...group.map(cpuMs))),
      0.95,
    ),
    busyShare: busyMs(tasks) / (seconds * 1_000),
  }
}

function durationMs({ dur = 0 }: TraceEvent): number {
  return dur / 1_000
}

function cpuMs({ tdur = 0 }: TraceEvent): number {
  return tdur / 1_000
}

function busyMs(tasks: readonly TraceEvent[]): number {
  return tasks.reduce((sum, task) => sum + cpuMs(task), 0)
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0
}

/** Frames per second of an empty page: the base of comparisons on a busy machine. */
export async function emptyFrames(browser: Browser, seconds: number): Promise<number> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await sleep(500)
  const perSecond = await page.evaluate(countFrames, seconds * 1_000)
  await context.close()
  return perSecond
}
