import { controllerOf, keyOf, keyText, parseKey, type KubeObject, type OwnerReference } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'

describe('keys', () => {
  it.each([
    { title: 'of a namespaced object', key: { namespace: 'kube-system', name: 'agent' }, text: 'kube-system/agent' },
    { title: 'of a cluster-scoped object', key: { namespace: '', name: 'node-1' }, text: '/node-1' },
  ])('$title round-trip through text', ({ key, text }) => {
    expect(keyText(key)).toBe(text)
    expect(parseKey(text)).toEqual(key)
  })

  it('are namespace and name of an object, with an empty namespace if there is none', () => {
    expect(keyOf(objectWith({ namespace: 'default' }))).toEqual({ namespace: 'default', name: 'agent-x' })
    expect(keyOf(objectWith({}))).toEqual({ namespace: '', name: 'agent-x' })
  })
})

describe('controllerOf', () => {
  const owner: OwnerReference = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u-1' }
  it.each([
    { title: 'finds the owner that controls', owners: [owner, { ...owner, uid: 'u-2', controller: true }], want: 'u-2' },
    { title: 'finds none among owners that do not control', owners: [owner, { ...owner, controller: false }], want: undefined },
    { title: 'finds none where there are no owners', owners: [], want: undefined },
  ])('$title', ({ owners, want }) => {
    expect(controllerOf(objectWith({ ownerReferences: owners }))?.uid).toBe(want)
  })

  it('finds none if ownerReferences is missing', () => {
    expect(controllerOf(objectWith({}))).toBeUndefined()
  })
})

function objectWith(metadata: Partial<KubeObject['metadata']>): KubeObject {
  return { metadata: { name: 'agent-x', uid: 'u-9', resourceVersion: '1', ...metadata } }
}
