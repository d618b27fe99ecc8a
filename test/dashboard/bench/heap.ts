/** The heap of a tab that shows one release after another. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import type { HeapGrowth } from '../../../scripts/bench/dashboard-figures.ts'
import { AGENTS, agentObjects, setVersion, waitFor } from '../agent-objects.ts'
import type { DevStage } from '../dev-stage.ts'
import { openTab, type Tab } from './tab.ts'

const NAME = 'live'
const SAMPLE_MS = 5_000
/** Quick releases before the first sample: the history shows the last ten, and the list of events is full then. */
const QUICK_RELEASES = 12

/** A sample after a garbage collection. */
interface Sample {
  readonly minute: number
  readonly kilobytes: number
  readonly domNodes: number
}

/** Releases one version after another, and samples the heap of a tab on that Rollout. */
export async function measureHeap(browser: Browser, stage: DevStage, minutes: number): Promise<HeapGrowth> {
  const steps = [{ replicas: '10%', pause: { duration: 1 } }, { replicas: '50%', pause: { duration: 1 } }, { replicas: '100%' }]
  stage.apply(...agentObjects(NAME, { steps }))
  waitFor(stage, `rollout/${NAME}`, '{.status.phase}=Healthy')
  const tab = await openTab(browser, stage)
  await tab.open(`rollouts/${AGENTS}/${NAME}`)
  await tab.page.getByRole('heading', { name: /^Nodes/ }).waitFor()
  const over = new AbortController()
  setMaxUnavailable(stage, '100%')
  for (let release = 0; release < QUICK_RELEASES; release++) await releaseNext(stage, release, over.signal)
  setMaxUnavailable(stage, 2)
  const releasing = releaseAgain(stage, over.signal)
  const samples = await sampleHeap(tab, minutes)
  over.abort()
  await releasing.ended
  const mostStreams = tab.mostStreams()
  await tab.close()
  // The heap grows most in the first minutes; the cause is not known.
  const later = samples.filter(({ minute }) => minute >= minutes / 3)
  const heap = fit(later.map(({ minute, kilobytes }) => [minute, kilobytes]))
  const dom = fit(later.map(({ minute, domNodes }) => [minute, domNodes]))
  return {
    minutes,
    samples: samples.length,
    releases: releasing.count(),
    startKilobytes: heap.at(minutes / 3),
    endKilobytes: heap.at(minutes),
    kilobytesPerMinute: heap.slope,
    domNodesPerMinute: dom.slope,
    mostStreams,
  }
}

function setMaxUnavailable(stage: DevStage, maxUnavailable: number | string): void {
  const patch = { spec: { updateStrategy: { rollingUpdate: { maxUnavailable } } } }
  stage.kubectl('-n', AGENTS, 'patch', 'daemonset', NAME, '--type=merge', '-p', JSON.stringify(patch))
}

/** Releases the next version as soon as one has ended. */
function releaseAgain(stage: DevStage, signal: AbortSignal): { readonly ended: Promise<void>; readonly count: () => number } {
  let count = 0
  const work = async (): Promise<void> => {
    for (; !signal.aborted; count++) await releaseNext(stage, QUICK_RELEASES + count, signal)
  }
  return { ended: work(), count: () => count }
}

async function releaseNext(stage: DevStage, index: number, signal: AbortSignal): Promise<void> {
  const version = `v${index + 2}`
  setVersion(stage, NAME, version)
  const isDone = async (): Promise<boolean> => {
    const { outcome, images } = (await stage.get(`namespaces/${AGENTS}/rollouts/${NAME}`)) as {
      outcome?: string
      images?: readonly string[]
    }
    return outcome === 'Done' && images?.some((image) => image.endsWith(`:${version}`)) === true
  }
  while (!signal.aborted && !(await isDone())) await sleep(500)
}

async function sampleHeap({ devtools }: Tab, minutes: number): Promise<readonly Sample[]> {
  await devtools.send('HeapProfiler.enable')
  const samples: Sample[] = []
  const startMs = performance.now()
  for (let minute = 0; minute < minutes; minute = (performance.now() - startMs) / 60_000) {
    await devtools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await devtools.send('Runtime.getHeapUsage')
    const { nodes } = await devtools.send('Memory.getDOMCounters')
    samples.push({ minute, kilobytes: usedSize / 1_000, domNodes: nodes })
    await sleep(SAMPLE_MS)
  }
  return samples
}

/** Fits a line by least squares. */
function fit(points: readonly (readonly [x: number, y: number])[]): { readonly slope: number; readonly at: (x: number) => number } {
  const mean = (of: (point: readonly [number, number]) => number): number => points.reduce((sum, one) => sum + of(one), 0) / points.length
  const [x, y] = [mean((one) => one[0]), mean((one) => one[1])]
  const slope = mean((one) => (one[0] - x) * (one[1] - y)) / mean((one) => (one[0] - x) ** 2)
  return { slope, at: (value) => y + slope * (value - x) }
}
