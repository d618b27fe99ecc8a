import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { DashboardFigures, TabsCost } from './dashboard-figures.ts'
import type { Row } from './row.ts'

const unlimited = { atLeast: 0 }

/** Measures the dashboard in a browser. @param minutes of the measurement of the heap. @returns lines of the table */
export async function dashboardRows(minutes: number): Promise<readonly Row[]> {
  const args = ['test/dashboard/bench/measure-dashboard.ts', String(minutes)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 })
  const { load, map, tour, fleetTabs, rolloutTabs, heap } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as DashboardFigures
  return [
    ...loadRows(load),
    { name: 'map of 5,000 nodes, 200 updates a second', unit: 'frames/s', values: [map.perSecond], limit: { atLeast: 50 } },
    { name: '… against an empty page', unit: '×', values: [map.perSecond / map.emptyPerSecond], limit: { atLeast: 0.83 } },
    { name: '… longest task of a second, 95 %', unit: 'ms', values: [map.longestTaskP95Ms], limit: { atMost: 50 } },
    { name: '… its processor time, 95 %', unit: 'ms', values: [map.longestTaskCpuP95Ms], limit: unlimited },
    { name: '… processors of the main thread', unit: '', values: [map.busyShare], limit: unlimited },
    { name: '… machine idle', unit: '', values: [map.idleShare], limit: unlimited },
    { name: 'streams of a tab at once, on a tour of all pages', unit: '', values: [tour.mostStreams], limit: { atMost: 1 } },
    ...tabRows(`${fleetTabs.tabs} tabs on 1,000 rollouts`, fleetTabs),
    ...tabRows(`${rolloutTabs.tabs} tabs on 5,000 nodes, 200 updates a second`, rolloutTabs),
    { name: `heap after ${heap.minutes} minutes of releases`, unit: 'kB', values: [heap.endKilobytes], limit: unlimited },
    { name: '… fitted growth', unit: 'kB/min', values: [heap.kilobytesPerMinute], limit: { atMost: mostGrowth(heap) } },
    { name: '… nodes of the document, fitted growth', unit: '/min', values: [heap.domNodesPerMinute], limit: { atMost: 50 } },
    { name: '… streams at once', unit: '', values: [heap.mostStreams], limit: { atMost: 1 } },
  ]
}

/** Three minutes grew by 160 to 170 kB per minute, for an unknown reason: a short measurement finds only coarse leaks. */
function mostGrowth({ minutes }: DashboardFigures['heap']): number {
  return minutes >= 20 ? 50 : 300
}

function loadRows(load: DashboardFigures['load']): readonly Row[] {
  return [
    { name: 'scripts of the first page, gzip', unit: 'kB', values: [load.scriptKilobytes], limit: { atMost: 150 } },
    { name: 'first paint, processor 4 × slower', unit: 'ms', values: load.firstPaintMs, limit: { atMost: 1_000 } },
    { name: '… processor time of the main thread, × 4', unit: 'ms', values: load.paintCpuMs.map((ms) => 4 * ms), limit: { atMost: 1_000 } },
    { name: '… of a page without scripts', unit: 'ms', values: load.plainPaintMs, limit: unlimited },
    { name: '1,000 rollouts interactive', unit: 'ms', values: load.interactiveMs, limit: { atMost: 1_000 } },
    { name: '… processor time of the main thread', unit: 'ms', values: load.interactiveCpuMs, limit: { atMost: 1_000 } },
    { name: '… processor 4 × slower', unit: 'ms', values: load.slowInteractiveMs, limit: unlimited },
    { name: '… machine idle', unit: '', values: [load.idleShare], limit: unlimited },
  ]
}

function tabRows(name: string, cost: TabsCost): readonly Row[] {
  return [
    { name: `${name}: API, per tab`, unit: 'ms/s', values: [cost.cpuMs], limit: { atMost: 10 } },
    { name: '… processors of the API, altogether', unit: '', values: [cost.processors], limit: unlimited },
    { name: '… memory of the API, per tab', unit: 'MiB', values: [cost.mebibytes], limit: { atMost: 1 } },
    { name: '… reads, per tab', unit: '/s', values: [cost.readsPerSecond], limit: unlimited },
    { name: '… received, per tab', unit: 'kB/s', values: [cost.kilobytesPerSecond], limit: unlimited },
  ]
}
