/**
 * Measures the dashboard in Chromium against the real API of simulated clusters, and prints one JSON object, {@link DashboardFigures}:
 *
 *   node test/dashboard/bench/measure-dashboard.ts        the heap for 3 minutes; 12 minutes altogether
 *   node test/dashboard/bench/measure-dashboard.ts 30     the heap for 30 minutes
 */
import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import type { DashboardFigures, HeapGrowth } from '../../../scripts/bench/dashboard-figures.ts'
import { chromiumForTests } from '../../../scripts/chromium-for-tests.ts'
import { launchBrowser } from '../browser.ts'
import { startDev } from '../dev-stage.ts'
import { emptyFrames, measureFrames } from './frames.ts'
import { measureHeap } from './heap.ts'
import { startLargeCluster } from './large-cluster.ts'
import { BUSY, NAMESPACE } from './large-fleet.ts'
import { idleShareSince, machineTime } from './machine.ts'
import { measureTabs, recordTab } from './open-tabs.ts'
import { measureLoad } from './page-load.ts'
import { openTab } from './tab.ts'
import { tour } from './tour.ts'

const FLEET = { nodes: 50, rollouts: 1_000, updatesPerSecond: 10 }
const MAP = { nodes: 5_000, rollouts: 1, updatesPerSecond: 200 }
const HEAP_NODES = 300
const RUNS = 3
const TABS = 100
const SECONDS = 20
const EMPTY_SECONDS = 5
/** Time in which a page settles after it was opened, in milliseconds. */
const SETTLE_MS = 5_000

const root = resolve(import.meta.dirname, '../../..')
const rolloutPath = `rollouts/${NAMESPACE}/${BUSY}`

/** Runs everything, one cluster after another. @param minutes of the measurement of the heap */
async function measureDashboard(minutes: number): Promise<DashboardFigures> {
  execFileSync(process.execPath, [join(root, 'scripts/build-dashboard.ts'), '--if-needed'], { stdio: 'ignore' })
  const program = await chromiumForTests()
  if (program === null) throw new Error('there is no Chromium')
  const browser = await launchBrowser(program)
  try {
    return { ...(await onFleet(browser)), ...(await onMap(browser)), heap: await onRelease(browser, minutes) }
  } finally {
    await browser.close()
  }
}

async function onFleet(browser: Browser): Promise<Pick<DashboardFigures, 'load' | 'fleetTabs'>> {
  await using cleanup = new AsyncDisposableStack()
  const cluster = await startLargeCluster(FLEET, cleanup)
  const before = machineTime()
  const load = { ...(await measureLoad(browser, cluster, RUNS)), idleShare: idleShareSince(before) }
  const fleetTabs = await measureTabs(cluster, await recordTab(browser, cluster, '', SECONDS), TABS, SECONDS)
  return { load, fleetTabs }
}

async function onMap(browser: Browser): Promise<Pick<DashboardFigures, 'map' | 'tour' | 'rolloutTabs'>> {
  await using cleanup = new AsyncDisposableStack()
  const cluster = await startLargeCluster(MAP, cleanup)
  const emptyPerSecond = await emptyFrames(browser, EMPTY_SECONDS)
  const tab = await openTab(browser, cluster)
  await tab.open(rolloutPath)
  await tab.page.locator('.node-map canvas').waitFor()
  await sleep(SETTLE_MS)
  const map = { ...(await measureFrames(browser, tab.page, SECONDS)), emptyPerSecond }
  await tab.close()
  const visited = await tour(browser, cluster)
  const rolloutTabs = await measureTabs(cluster, await recordTab(browser, cluster, rolloutPath, SECONDS), TABS, SECONDS)
  return { map, tour: visited, rolloutTabs }
}

async function onRelease(browser: Browser, minutes: number): Promise<HeapGrowth> {
  const stage = await startDev('--nodes', String(HEAP_NODES), '--no-demo')
  try {
    return await measureHeap(browser, stage, minutes)
  } finally {
    stage.dispose()
  }
}

if (import.meta.main) console.log(JSON.stringify(await measureDashboard(Number(process.argv[2] ?? 3))))
