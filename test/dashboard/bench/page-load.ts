/** How much the first page loads, and how soon it is there. */
import { gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { openTab, type Tab, type TabUser } from './tab.ts'

/** Figures of loads with an empty cache. Times are milliseconds from the start of the navigation. */
export interface PageLoad {
  /** Scripts of the first page, compressed with gzip, in kilobytes (10³ bytes). */
  readonly scriptKilobytes: number
  /** First contentful paint. */
  readonly firstPaintMs: readonly number[]
  /** First contentful paint of a page of the same server without a script. */
  readonly plainPaintMs: readonly number[]
  /** Until the first rows of the fleet are painted and no long task has followed for half a second. */
  readonly interactiveMs: readonly number[]
  /** The same, with a slower processor. */
  readonly slowInteractiveMs: readonly number[]
}

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
    plainPaintMs: plain,
    interactiveMs: loads.map(({ interactiveMs }) => interactiveMs),
    slowInteractiveMs: slow.map(({ interactiveMs }) => interactiveMs),
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
  readonly interactiveMs: number
}

async function load(browser: Browser, user: TabUser, slowdown: number): Promise<Load> {
  const tab = await openTab(browser, user)
  const scripts: Promise<number>[] = []
  tab.page.on('response', (response) => {
    if (response.request().resourceType() === 'script') scripts.push(response.body().then((body) => gzipSync(body, { level: 9 }).length))
  })
  await tab.page.addInitScript(observeLoad)
  await tab.devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  await tab.open('')
  const interactiveMs = await untilInteractive(tab)
  const paintMs = await firstPaint(tab)
  const bytes = (await Promise.all(scripts)).reduce((sum, length) => sum + length, 0)
  await tab.close()
  return { scriptKilobytes: bytes / 1_000, paintMs, interactiveMs }
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
