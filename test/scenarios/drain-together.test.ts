import { afterEach, expect, it } from 'vitest'
import { byLabel, consumerNames, drainConditionOf, expectNoMarks, labelled, makeConsumer, nodesOf, setDrainStage } from './drain-stage.ts'
import { addAgent } from './group-stage.ts'
import { untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

/** Name of another DaemonSet on the same nodes, with the same policy. */
const SECOND = 'csi-driver'
const steps = [{ replicas: '100%' }]

it.each([1, 2, 3])('two releases drain the same nodes one after the other, and leave no cordon, seed %i', async (seed) => {
  stage = await setDrainStage(byLabel, { seed, nodes: 3, maxUnavailable: 3, drainConditions: seed > 1 })
  for (const node of [1, 2, 3]) await makeConsumer(stage, `web-${node}`, `node-00${node}`, {}, { labels: labelled })
  const second = await addAgent(stage, SECOND, { nodes: 3, maxUnavailable: 3, steps, policy: { drain: byLabel } })
  await Promise.all([stage.setImage('v2'), second.setImage('v2')])
  await second.untilReleased('v2')
  await untilReleased(stage, 'v2')
  expect(await consumerNames(stage)).toEqual([])
  await expectNoMarks(stage)
  expect((await drive(stage.clock, nodesOf(stage))).map(drainConditionOf)).toEqual([undefined, undefined, undefined])
  expect(ownersOfMarks()).toEqual([SECOND, stageKey.name])
})

/** Whose marks the nodes had; no mark may replace that of another release. */
function ownersOfMarks(): readonly string[] {
  const marks = new Map<string, string | undefined>()
  const owners = new Set<string>()
  for (const { kind, o, node = '' } of stage.recording()) {
    if (kind !== 'Node') continue
    const mark = o['cordonMark'] === undefined ? undefined : (JSON.parse(String(o['cordonMark'])) as { readonly name: string }).name
    const before = marks.get(node)
    if (mark !== undefined && before !== undefined) expect(mark, node).toBe(before)
    if (mark !== undefined) owners.add(mark)
    marks.set(node, mark)
  }
  return [...owners].toSorted()
}
