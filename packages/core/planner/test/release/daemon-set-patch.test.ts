import { type DaemonSet, daemonSetAnnotations, WORKLOAD_TYPE_LABEL } from '@tranche/kube-types'
import { type DaemonSetChange, daemonSetPatch, takeOverStrategy } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aView } from '../../../../../test/fakes/build-view.ts'

const daemonSet = aView().daemonSet!
const bare = { ...daemonSet, metadata: { name: 'agent', uid: 'daemonset', resourceVersion: '40' } }
const { [daemonSetAnnotations.controlInfo]: _control, ...otherAnnotations } = daemonSet.metadata.annotations!
const withoutControl = { ...daemonSet, metadata: { ...daemonSet.metadata, annotations: otherAnnotations } }
const asRead = [
  { op: 'test', path: '/metadata/uid', value: 'daemonset' },
  { op: 'test', path: '/metadata/resourceVersion', value: '40' },
]

describe('daemonSetPatch', () => {
  it('tests the uid and the resourceVersion before any change', () => {
    expect(daemonSetPatch(daemonSet, { annotations: { a: '1' } })).toEqual([
      ...asRead,
      { op: 'add', path: '/metadata/annotations/a', value: '1' },
    ])
  })

  describe('with the values as precondition', () => {
    const { partition, controlInfo, paused } = daemonSetAnnotations
    const pathOf = (key: string): string => `/metadata/annotations/${key.replace('/', '~1')}`
    const presentValue = (key: string): string => daemonSet.metadata.annotations![key]!

    it('tests the generation, who is in charge, and what it replaces, but no resourceVersion', () => {
      expect(daemonSetPatch(daemonSet, { annotations: { [partition]: '0' } }, 'values')).toEqual([
        { op: 'test', path: '/metadata/uid', value: 'daemonset' },
        { op: 'test', path: '/metadata/generation', value: daemonSet.metadata.generation },
        { op: 'test', path: pathOf(controlInfo), value: presentValue(controlInfo) },
        { op: 'test', path: pathOf(partition), value: presentValue(partition) },
        { op: 'add', path: pathOf(partition), value: '0' },
      ])
    })

    it.each<[string, DaemonSet, DaemonSetChange]>([
      ['it adds a key, whose absence cannot be tested', daemonSet, { annotations: { [paused]: 'true' } }],
      ['it changes the strategy', daemonSet, { annotations: { [partition]: '0' }, strategy: 'RollingUpdate' }],
      ['it changes the label', daemonSet, { annotations: { [partition]: '0' }, workloadTypeLabel: 'set' }],
      ['no BatchRelease is in charge', withoutControl, { annotations: { [partition]: '0' } }],
    ])('tests the resourceVersion where %s', (_why, read, change) => {
      expect(daemonSetPatch(read, change, 'values')?.slice(0, 2)).toEqual(asRead)
    })
  })

  it('is null when nothing differs', () => {
    expect(
      daemonSetPatch(daemonSet, {
        annotations: { [daemonSetAnnotations.partition]: '3', missing: null },
        strategy: 'OnDelete',
        workloadTypeLabel: 'remove',
      }),
    ).toBeNull()
  })

  it('escapes slashes and tildes of a key', () => {
    const patch = daemonSetPatch(daemonSet, { annotations: { 'a/b~c': '1' } })
    expect(patch).toContainEqual({ op: 'add', path: '/metadata/annotations/a~1b~0c', value: '1' })
  })

  it('creates the maps of annotations and labels where they are missing', () => {
    const patch = daemonSetPatch(bare, { annotations: { a: '1' }, workloadTypeLabel: 'set' })
    expect(patch?.slice(2)).toEqual([
      { op: 'add', path: '/metadata/annotations', value: {} },
      { op: 'add', path: '/metadata/annotations/a', value: '1' },
      { op: 'add', path: '/metadata/labels', value: {} },
      { op: 'add', path: `/metadata/labels/${WORKLOAD_TYPE_LABEL.replace('/', '~1')}`, value: 'daemonset' },
    ])
  })

  it('removes only existing keys', () => {
    const patch = daemonSetPatch(daemonSet, { annotations: { [daemonSetAnnotations.partition]: null, missing: null } })
    expect(patch?.slice(2)).toEqual([{ op: 'remove', path: '/metadata/annotations/rollouts.kruise.io~1daemonset-partition' }])
  })

  it('tests the strategy type that it replaces', () => {
    expect(daemonSetPatch(daemonSet, { strategy: 'RollingUpdate' })?.slice(2)).toEqual([
      { op: 'test', path: '/spec/updateStrategy/type', value: 'OnDelete' },
      { op: 'replace', path: '/spec/updateStrategy/type', value: 'RollingUpdate' },
    ])
  })
})

describe('takeOverStrategy', () => {
  const { originalUpdateStrategy } = daemonSetAnnotations
  it('records the type and sets it to OnDelete', () => {
    const rolling = { ...bare, spec: { ...bare.spec, updateStrategy: { type: 'RollingUpdate' } } }
    expect(takeOverStrategy(rolling)).toEqual({ annotations: { [originalUpdateStrategy]: 'RollingUpdate' }, strategy: 'OnDelete' })
  })

  it('records an OnDelete that the user declares, and changes nothing', () => {
    expect(takeOverStrategy(bare)).toEqual({ annotations: { [originalUpdateStrategy]: 'OnDelete' } })
  })

  it('never overwrites the recorded type (G11)', () => {
    const drifted = { ...daemonSet, spec: { ...daemonSet.spec, updateStrategy: { type: 'RollingUpdate' } } }
    expect(takeOverStrategy(drifted)).toEqual({ annotations: {}, strategy: 'OnDelete' })
    expect(takeOverStrategy(daemonSet)).toEqual({ annotations: {} })
  })
})
