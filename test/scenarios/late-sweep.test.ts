import type { RecordedPod } from '@tranche/recording'
import { afterEach, describe, expect, it } from 'vitest'
import { byLabel, consumerNames, labelled, makeBudget, makeConsumer, readNode, setDrainStage, untilCordoned } from './drain-stage.ts'
import { nodesOn, untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const NODE = 'node-001'
const executors = ['executor-1', 'executor-2']

describe('an executor whose watch of DaemonSets is behind', () => {
  it('ends no drain of another executor (G8)', async () => {
    stage = await setDrainStage(byLabel, { executors })
    await makeConsumer(stage, 'web-1', NODE, {}, { labels: labelled })
    await makeBudget(stage)
    stallDaemonSets()
    await stage.setImage('v2')
    await untilCordoned(stage, NODE)
    await expectCordonedFor(100)
    expect(await consumerNames(stage)).toEqual(['web-1'])
  })

  it('makes no node schedulable whose agent is away (G8)', async () => {
    const annotations = { 'sim.tranche.dev/jitter-ms': '0', 'sim.tranche.dev/start-ms': '120000' }
    stage = await setDrainStage(byLabel, { executors, annotations })
    stallDaemonSets()
    await stage.setImage('v2')
    await untilCordoned(stage, NODE)
    await stage.until('the old pod is gone', async () => !(await nodesOn(stage, 'v1')).includes(NODE), 60_000)
    await expectCordonedFor(90)
  })

  it('deletes no helper pod that still pulls (G8)', async () => {
    const annotations = { 'sim.tranche.dev/jitter-ms': '0', 'sim.tranche.dev/start-ms': '2000' }
    stage = await setDrainStage(undefined, { executors, annotations, policy: { prePull: {} } })
    stallDaemonSets()
    await stage.setImage('v2-pull110s')
    await untilReleased(stage, 'v2-pull110s', 20 * 60_000)
    const added = stage.recording().filter(({ type, kind }) => type === 'ADDED' && kind === 'Pod')
    expect(added.filter(({ o }) => (o as unknown as RecordedPod).name.includes('-pull-'))).toHaveLength(4)
  })
})

async function expectCordonedFor(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await stage.pass(1_000)
    expect((await drive(stage.clock, readNode(stage, NODE))).spec?.unschedulable, `second ${second}`).toBe(true)
  }
}

/** From its next event on, the watch of the second executor delivers nothing, and breaks at the end. */
function stallDaemonSets(): void {
  let isStalled = false
  stage.disturb({
    onEvent({ actor, resource }) {
      if (isStalled || actor !== 'executor-2' || resource.resource !== 'daemonsets') return undefined
      isStalled = true
      return { kind: 'stall', ms: 140_000 }
    },
  })
}
