import { cordonStep, drainConditionPatch, type DrainedPermit, hasDrainCondition, noDrainConditionPatch } from '@tranche/drain'
import type { Condition, Node } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'

const NOW = '2026-11-27T06:00:00Z'
const BEFORE = '2026-11-27T05:00:00Z'
const release = { namespace: 'demo', name: 'node-agent', uid: 'br-1' }
const drained: DrainedPermit = { release, permit: { podUid: 'p1', podResourceVersion: '7' } }
const later: DrainedPermit = { release, permit: { podUid: 'p1', podResourceVersion: '9' } }
const ofOther: DrainedPermit = { release: { ...release, name: 'csi', uid: 'br-2' }, permit: drained.permit }
const message = 'BatchRelease demo/node-agent drains the node'
const own: Condition = { type: 'DrainInProgress', status: 'True', reason: 'TrancheDrain', message, lastTransitionTime: BEFORE }

describe('the condition of a drain', () => {
  it('names the BatchRelease, and rests on the node as it was read', () => {
    expect(drainConditionPatch(marked(), drained, NOW)).toEqual({
      metadata: { resourceVersion: '3' },
      status: { conditions: [{ ...own, lastHeartbeatTime: NOW, lastTransitionTime: NOW }] },
    })
  })

  it.each<[sentence: string, node: Node]>([
    ['a node without a mark gets none', node()],
    ['a node with the mark of another permit gets none', marked([], later)],
    ['a node with the mark of another release gets none', marked([], ofOther)],
    ['a node with an unreadable mark gets none', node([], { 'tranche.dev/cordon': 'x' })],
    ['a node that has it keeps it without a write', marked([own])],
    ['that of another program stays as it is', marked([{ ...own, reason: 'NodeMaintenance' }])],
    ['that of another program stays as it is, also without a reason', marked([{ type: 'DrainInProgress', status: 'True' }])],
    ['that of another program stays as it is, also if it is False', marked([{ ...own, reason: 'NodeMaintenance', status: 'False' }])],
  ])('%s', (_sentence, one) => {
    expect(drainConditionPatch(one, drained, NOW)).toBeNull()
  })

  it.each<[sentence: string, present: Condition, since: string]>([
    ['another release', { ...own, message: 'BatchRelease demo/csi drains the node' }, BEFORE],
    ['an end', { ...own, status: 'False' }, NOW],
  ])('is written again where the one of an executor says %s', (_sentence, present, since) => {
    const patch = drainConditionPatch(marked([present]), drained, NOW)
    expect(patch?.status.conditions).toEqual([{ ...own, lastHeartbeatTime: NOW, lastTransitionTime: since }])
  })

  it('is removed if an executor set it, also without a mark', () => {
    for (const one of [node([own]), marked([own]), node([{ ...own, status: 'Unknown' }])]) {
      expect(hasDrainCondition(one)).toBe(true)
      expect(noDrainConditionPatch(one)).toEqual({
        metadata: { resourceVersion: '3' },
        status: { conditions: [{ type: 'DrainInProgress', $patch: 'delete' }] },
      })
    }
  })

  it.each<[sentence: string, conditions: readonly Condition[]]>([
    ['there is none', []],
    ['another program set it', [{ ...own, reason: 'NodeMaintenance' }]],
    ['another condition has the reason', [{ ...own, type: 'Drained' }]],
  ])('is not removed where %s', (_sentence, conditions) => {
    expect(noDrainConditionPatch(node(conditions))).toBeNull()
  })
})

function marked(conditions: readonly Condition[] = [], by = drained): Node {
  const step = cordonStep(node(), by)
  if (step.kind !== 'mark') throw new Error('the node has a mark')
  return node(conditions, step.patch.metadata.annotations as Readonly<Record<string, string>>)
}

function node(conditions: readonly Condition[] = [], annotations: Readonly<Record<string, string>> = {}): Node {
  return { metadata: { name: 'a', uid: 'u', resourceVersion: '3', annotations }, spec: {}, status: { conditions } } as unknown as Node
}
