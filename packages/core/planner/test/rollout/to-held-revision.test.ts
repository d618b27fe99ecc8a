import type { DaemonSet } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { heldTemplate, templateDigest, withHeld } from '../../src/rollout/held/held-revisions.ts'
import { toHeldRevision } from '../../src/rollout/held/to-held-revision.ts'
import type { RolloutView } from '../../src/rollout/view/rollout-view.ts'

const PINNED = 'tranche.dev/pinned-config'

function template(image: string, pins?: string, annotations: Readonly<Record<string, string>> = {}): object {
  const all = pins === undefined ? annotations : { ...annotations, [PINNED]: pins }
  return { metadata: { ...(Object.keys(all).length > 0 && { annotations: all }) }, spec: { containers: [{ name: 'agent', image }] } }
}

function held(present: object, stable: object | null): (applied: object) => boolean {
  const revisions =
    stable === null
      ? []
      : [{ metadata: { name: 'agent-s', labels: { 'controller-revision-hash': 's' } }, data: { spec: { template: stable } }, revision: 1 }]
  const view = { nowMs: 0, revisions, rollout: {} } as unknown as RolloutView
  const one = toHeldRevision(view, { spec: { template: present } } as unknown as DaemonSet, { revision: 'c', stable: 's' })
  expect(one.digest).toBe(templateDigest(present))
  return (applied) => heldTemplate([one], { spec: { template: applied } }) === one
}

it('no template is blocked twice: a retry lifts one hold', () => {
  const first = { digest: 'a', revision: 'r1', digestWithRestoredConfig: 'x' }
  const second = { digest: 'b', revision: 'r2', digestWithRestoredConfig: 'x' }
  const third = { digest: 'x', revision: 'r3' }
  expect(withHeld([first], second)).toEqual([first, { digest: 'b', revision: 'r2' }])
  expect(withHeld([third], second)).toEqual([third, { digest: 'b', revision: 'r2' }])
  expect(withHeld([second], third)).toEqual([{ digest: 'b', revision: 'r2' }, third])
  expect(withHeld([first], { ...second, digestWithRestoredConfig: 'y' })).toHaveLength(2)
  expect(withHeld([first], { ...second, digestWithRestoredConfig: 'y' })[1]).toHaveProperty('digestWithRestoredConfig', 'y')
})

describe('a version that was rolled back is blocked', () => {
  it.each<[sentence: string, present: object, stable: object | null, applied: object, isHeld: boolean]>([
    ['as it was', template('v2', 'a=2'), template('v1', 'a=1'), template('v2', 'a=2'), true],
    ['with the config that the rollback restored', template('v2', 'a=2'), template('v1', 'a=1'), template('v2', 'a=1'), true],
    ['with no config, which the rollback restored', template('v2', 'a=2'), template('v1'), template('v2'), true],
    [
      'with the config that the rollback restored, beside other annotations',
      template('v2', 'a=2', { team: 'x' }),
      template('v1'),
      template('v2', undefined, { team: 'x' }),
      true,
    ],
    ['not with later config', template('v2', 'a=2'), template('v1', 'a=1'), template('v2', 'a=3'), false],
    ['not if another image is applied', template('v2', 'a=2'), template('v1', 'a=1'), template('v3', 'a=1'), false],
    [
      'and the stable one is not, where only its config differs',
      template('v1', 'a=2'),
      template('v1', 'a=1'),
      template('v1', 'a=1'),
      false,
    ],
    ['also where the history has lost the stable one', template('v2', 'a=2'), null, template('v2', 'a=2'), true],
  ])('%s', (_sentence, present, stable, applied, isHeld) => {
    expect(held(present, stable)(applied)).toBe(isHeld)
  })
})
