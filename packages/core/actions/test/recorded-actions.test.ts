import v8 from 'node:v8'
import vm from 'node:vm'
import { type KubeObject, OBSERVED_CHANGES_ANNOTATION, RECORDED_ACTIONS_ANNOTATION } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { observedChangesOf, recordedActionsOf } from '../src/index.ts'

describe('recorded actions', () => {
  it('are parsed once for the annotations of an object, however often they are read', () => {
    const object = annotated(listOf(3))
    const records = recordedActionsOf(object)
    expect(records.map(({ id }) => id)).toEqual(['id-0', 'id-1', 'id-2'])
    expect(recordedActionsOf({ ...object, metadata: { ...object.metadata } })).toBe(records)
  })

  it('are the last sixteen valid ones, however many a user writes', () => {
    const list = [...listOf(2_200), { id: 'invalid' }]
    expect(recordedActionsOf(annotated(list)).map(({ id }) => id)).toEqual(listOf(2_200, 2_184).map(({ id }) => id))
  })

  it('are forgotten with their object, so that no number of changes of an annotation fills the memory', async () => {
    const refs = Array.from({ length: 20 }, (_, at) => new WeakRef(recordedActionsOf(annotated(listOf(at + 1)))))
    await new Promise((resolve) => setImmediate(resolve))
    collectGarbage()
    expect(refs.filter((ref) => ref.deref() !== undefined)).toEqual([])
  })
})

it('observed changes are the last sixteen valid ones, however many a user writes', () => {
  const list = Array.from({ length: 100 }, (_, at) => ({ id: `id-${at}`, type: 'pause', at: '2026-01-01T00:00:00Z', manager: 'kubectl' }))
  const object = annotated(list, OBSERVED_CHANGES_ANNOTATION)
  expect(observedChangesOf(object).map(({ id }) => id)).toEqual(list.slice(84).map(({ id }) => id))
})

function annotated(list: readonly object[], annotation = RECORDED_ACTIONS_ANNOTATION): KubeObject {
  return { metadata: { namespace: 'demo', name: 'agent', uid: 'u', annotations: { [annotation]: JSON.stringify(list) } } } as never
}

function listOf(count: number, from = 0): readonly { readonly id: string }[] {
  const item = (at: number) => ({ id: `id-${at}`, type: 'pause', by: 'ann', at: '2026-01-01T00:00:00Z', via: 'cli' })
  return Array.from({ length: count }, (_, at) => item(at)).slice(from)
}

function collectGarbage(): void {
  v8.setFlagsFromString('--expose-gc')
  ;(vm.runInNewContext('gc') as () => void)()
}
