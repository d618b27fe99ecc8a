/**
 * Counts in virtual time how many of thirty nodes a failing version hits, for each way to fail and each budget. Prints one line of JSON for
 * each, {@link NodesHit}.
 *
 *   node scripts/bench/nodes-hit.ts
 */
import { imageOf } from '../../test/scenarios/stage-objects.ts'
import { drive, setStage } from '../../test/scenarios/stage.ts'

/** Result of one release. */
export interface NodesHit {
  /** Image tag, which selects the way to fail. */
  readonly name: string
  /** maxUnavailable in nodes. */
  readonly budget: number
  /** Number of nodes not on the old version when everything has stopped. */
  readonly hit: number
  /** Limit: the budget, or for late failures, budget × (time to fail ÷ slot + 1). */
  readonly most: number
}

const NODES = 30
/** A pod takes half a second to stop and one second to start. Late failures come after that. */
const SLOT_MS = 1_500
const early = ['bad-pull', 'bad-config', 'bad-create', 'bad-start', 'bad-crash', 'bad-oom', 'bad-ready']
const late = { 'bad-flap': 5_000, 'bad-late': 3_000 }

for (const budget of [1, 3, 10]) {
  for (const name of early) await show(name, budget, budget)
  for (const [name, failsAfterMs] of Object.entries(late))
    await show(name, budget, Math.floor(budget * ((SLOT_MS + failsAfterMs) / SLOT_MS + 1)))
}

async function show(name: string, budget: number, most: number): Promise<void> {
  console.log(JSON.stringify({ name, budget, hit: await hitBy(name, budget), most: Math.min(NODES, most) } satisfies NodesHit))
}

async function hitBy(tag: string, maxUnavailable: number): Promise<number> {
  const annotations = { 'sim.tranche.dev/jitter-ms': '0', 'sim.tranche.dev/late-ms': '3000' }
  const policy = { failure: { progressDeadlineSeconds: 30 } }
  const stage = await setStage({ nodes: NODES, maxUnavailable, steps: [{ replicas: '100%' }], annotations, policy })
  await stage.setImage(tag)
  const isStopped = async (): Promise<boolean> => (await stage.rollout()).status?.failure?.stops === true
  await stage.until('everything stops', isStopped)
  await stage.pass(30_000)
  const old = (await drive(stage.clock, stage.pods())).filter(({ spec, metadata }) => {
    return JSON.stringify(spec).includes(imageOf('v1')) && metadata.deletionTimestamp === undefined
  })
  await stage.end()
  return NODES - old.length
}
