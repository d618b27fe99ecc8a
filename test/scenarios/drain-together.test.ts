import type { DrainRules, Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, Pod } from '@tranche/kube-types'
import { afterEach, expect, it } from 'vitest'
import { byLabel, consumerNames, drainConditionOf, expectNoMarks, labelled, makeConsumer, nodesOf, setDrainStage } from './drain-stage.ts'
import { runs, untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'
import { daemonSetManifest, goesBy, imageOf, policyKey, rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const second = { namespace: stageKey.namespace, name: 'csi-driver' }
const steps = [{ replicas: '100%' }]

it.each([1, 2, 3])('two releases drain the same nodes one after the other, and leave no cordon, seed %i', async (seed) => {
  stage = await setDrainStage(byLabel, { seed, nodes: 3, maxUnavailable: 3, drainConditions: seed > 1 })
  for (const node of [1, 2, 3]) await makeConsumer(stage, `web-${node}`, `node-00${node}`, {}, { labels: labelled })
  await addSecond(byLabel)
  await Promise.all([stage.setImage('v2'), setSecondImage('v2')])
  await stage.until('the second one is released', async () => isSecondReleased('v2'))
  await untilReleased(stage, 'v2')
  expect(await consumerNames(stage)).toEqual([])
  await expectNoMarks(stage)
  expect((await drive(stage.clock, nodesOf(stage))).map(drainConditionOf)).toEqual([undefined, undefined, undefined])
  expect(ownersOfMarks()).toEqual([second.name, stageKey.name])
})

/** Another DaemonSet on the same nodes, with a Rollout and the same policy. */
async function addSecond(drain: DrainRules): Promise<void> {
  const labels = { app: second.name }
  const { spec, ...agent } = daemonSetManifest({ maxUnavailable: 3 }) as DaemonSet
  const template = { ...spec.template, metadata: { ...spec.template.metadata, labels } }
  const daemonSet = { ...agent, metadata: second, spec: { ...spec, selector: { matchLabels: labels }, template } }
  await drive(stage.clock, stage.client.create(resourcePaths.daemonSets, daemonSet))
  const rollout = rolloutManifest({ steps, policy: { drain } }, second.name) as Rollout
  const workloadRef = { ...rollout.spec.workloadRef, name: second.name }
  const metadata = { ...second, annotations: goesBy(policyKey.name) }
  await drive(stage.clock, stage.client.create(resourcePaths.rollouts, { ...rollout, metadata, spec: { ...rollout.spec, workloadRef } }))
  await stage.until('it is Healthy', async () => (await stage.rollout(second.name)).status?.phase === 'Healthy')
}

async function setSecondImage(tag: string): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: imageOf(tag) }] } } } }
  await stage.client.patch(resourcePaths.daemonSets, second, { type: 'strategic', body })
}

async function isSecondReleased(tag: string): Promise<boolean> {
  const { items } = await stage.client.list<Pod>(resourcePaths.pods, { namespace: second.namespace, labelSelector: `app=${second.name}` })
  return items.length === 3 && items.every((pod) => runs(pod, tag)) && (await stage.rollout(second.name)).status?.phase === 'Healthy'
}

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
