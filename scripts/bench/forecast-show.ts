/**
 * Forecasts a release on N simulated nodes, then runs it, and compares both. Prints one JSON object, {@link ForecastShow}. Exits with 1 if the
 * order differs, or if the end is more than 5 % outside of the forecast.
 *
 *   node scripts/bench/forecast-show.ts 300
 */
import { createSharedClusterCache } from '../../packages/clients/cluster/src/index.ts'
import { forecast } from '../../packages/harness/forecast/src/index.ts'
import { readSnapshot } from '../../packages/clients/release-client/src/index.ts'
import { startController } from '../../apps/controller/src/index.ts'
import { startExecutor } from '../../apps/executor/src/index.ts'
import { drive, setStage } from '../../test/scenarios/stage.ts'
import { stageKey } from '../../test/scenarios/stage-objects.ts'

/** Forecast and actual result. */
export interface ForecastShow {
  readonly nodes: number
  readonly sameOrder: boolean
  readonly foretoldSeconds: { readonly low: number; readonly high: number } | null
  readonly playedSeconds: number
}

const steps = [{ replicas: '10%', pause: { duration: 30 } }, { replicas: '50%', pause: { duration: 60 } }, { replicas: '100%' }]
const annotations = { 'sim.tranche.dev/start-ms': '4000', 'sim.tranche.dev/jitter-ms': '4000' }
const NOT_YET_MS = 10_000

const show = await play(Number(process.argv[2]))
console.log(JSON.stringify(show))
const { foretoldSeconds: range, playedSeconds } = show
const isNear = range !== null && range.low <= 1.05 * playedSeconds && range.high >= 0.95 * playedSeconds
process.exit(show.sameOrder && isNear ? 0 : 1)

async function play(nodes: number): Promise<ForecastShow> {
  const stage = await setStage({ nodes, steps, annotations, maxUnavailable: '10%' })
  const release = async (tag: string): Promise<{ readonly order: readonly (string | undefined)[]; readonly seconds: number }> => {
    const [from, sinceMs] = [stage.recording().length, stage.clock.nowMs()]
    await stage.setImage(tag)
    await stage.pass(NOT_YET_MS)
    await stage.until(`${tag} is released`, async () => (await stage.rollout()).status?.phase === 'Healthy', 3_600_000)
    const writes = stage.recording().slice(from)
    const taking = writes.filter(({ kind, verb, actor }) => kind === 'Pod' && verb === 'delete' && actor === 'executor-1')
    const ended = writes.find(
      ({ kind, o, t }) => kind === 'Rollout' && t > sinceMs + NOT_YET_MS / 2 && JSON.stringify(o).includes('"phase":"Healthy"'),
    )
    return { order: taking.map(({ node }) => node), seconds: ((ended?.t ?? stage.clock.nowMs()) - sinceMs) / 1000 }
  }
  // Pods that started one after the other show how long one takes.
  await release('v2')
  const snapshot = await drive(stage.clock, readSnapshot(stage.client, stageKey, { nowMs: stage.clock.nowMs() }))
  const reported = await forecast(
    snapshot,
    { image: 'registry.example/node-agent:v3' },
    { createSharedClusterCache, startController, startExecutor },
  )
  const { order, seconds } = await release('v3')
  const foretold = reported.nodes.filter((node) => node.order > 0).map(({ name }) => name)
  return {
    nodes,
    sameOrder: JSON.stringify(foretold) === JSON.stringify(order),
    foretoldSeconds: reported.etaSeconds,
    playedSeconds: seconds,
  }
}
