/** How much the first page loads, and how soon it is there. */
import { gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import type { PageLoad } from '../../../scripts/bench/dashboard-figures.ts'
import { openTab, type Tab, type TabUser } from './tab.ts'

/** Slowdown of the processor for the first paint. */
export const SLOWDOWN = 4
const QUIET_MS = 500

/** Loads the page of the fleet several times. */
export async function measureLoad(browser: Browser, user: TabUser, runs: number): Promise<PageLoad> {
  const loads = await repeated(runs, () => load(browser, user, 1))
  const slow = await repeated(runs, () => load(browser, user, SLOWDOWN))
  const plain = await repeated(runs, () => plainPaint(browser, user))
  return {
    scriptKilobytes: Math.max(...loads.map(({ scriptKilobytes }) => scriptKilobytes)),
    firstPaintMs: slow.map(({ paintMs }) => paintMs),
    paintCpuMs: loads.map(({ paintCpuMs }) => paintCpuMs),
    plainPaintMs: plain,
    interactiveMs: loads.map(({ interactiveMs }) => interactiveMs),
    slowInteractiveMs: slow.map(({ interactiveMs }) => interactiveMs),
    interactiveCpuMs: loads.map(({ cpuMs }) => cpuMs),
  }
}

async function repeated<T>(count: number, work: () => Promise<T>): Promise<readonly T[]> {
  const results: T[] = []
  for (let run = 0; run < count; run++) results.push(await work())
  return results
}

interface Load {
  readonly scriptKilobytes: number
  readonly paintMs: number
  readonly paintCpuMs: number
  readonly interactiveMs: number
  readonly cpuMs: number
}

async function load(browser: Browser, user: TabUser, slowdown: number): Promise<Load> {
  const tab = await openTab(browser, user)
  const scripts: Promise<number>[] = []
  tab.page.on('response', (response) => {
    if (response.request().resourceType() === 'script') scripts.push(response.body().then((body) => gzipSync(body, { level: 9 }).length))
  })
  await tab.page.addInitScript(observeLoad)
  await tab.devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  await tab.devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  await tab.page.goto(`${user.api}/dashboard/`, { waitUntil: 'commit' })
  const paintMs = await firstPaint(tab)
  const paintCpuMs = await mainThreadMs(tab)
  const interactiveMs = await untilInteractive(tab)
  const cpuMs = await mainThreadMs(tab)
  const bytes = (await Promise.all(scripts)).reduce((sum, length) => sum + length, 0)
  await tab.close()
  return { scriptKilobytes: bytes / 1_000, paintMs, paintCpuMs, interactiveMs, cpuMs }
}

/** @returns processor time of the main thread since the start of the navigation */
async function mainThreadMs({ devtools }: Tab): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1_000
}

async function plainPaint(browser: Browser, user: TabUser): Promise<number> {
  const tab = await openTab(browser, user)
  await tab.devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  await tab.page.goto(`${user.api}/healthz`)
  const paintMs = await firstPaint(tab)
  await tab.close()
  return paintMs
}

function firstPaint({ page }: Tab): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => {
          for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime)
        }).observe({ type: 'paint', buffered: true })
      }),
  )
}

/** What {@link observeLoad} notes in the page. */
interface Observed {
  rowsMs?: number
  lastTaskEndMs: number
}

/** Runs in the page before its scripts. */
function observeLoad(): void {
  const observed: Observed = { lastTaskEndMs: 0 }
  ;(globalThis as unknown as { observed: Observed }).observed = observed
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) observed.lastTaskEndMs = startTime + duration
  }).observe({ type: 'longtask', buffered: true })
  const look = (): void => {
    // The frame after the one that has the rows: they are painted then.
    if (document.querySelector('table.fleet tbody tr') !== null) requestAnimationFrame(() => (observed.rowsMs = performance.now()))
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

async function untilInteractive({ page }: Tab): Promise<number> {
  const result = await page.waitForFunction(
    (quietMs) => {
      const { rowsMs, lastTaskEndMs } = (globalThis as unknown as { observed: Observed }).observed
      if (rowsMs === undefined) return null
      const readyMs = Math.max(rowsMs, lastTaskEndMs)
      return performance.now() - readyMs > quietMs ? readyMs : null
    },
    QUIET_MS,
    { polling: 100 },
  )
  return (await result.jsonValue()) as number
}
