import { describe, expect, it } from 'vitest'
import { builtInMergeKeys } from '../../src/resources/built-in-merge-keys.ts'
import { strategicMerge } from '../../src/patching/strategic-merge.ts'

const inTemplate = (spec: object) => ({ spec: { template: { spec } } })
const containers = [
  { name: 'a', image: 'a:1', ports: [{ containerPort: 80 }] },
  { name: 'b', image: 'b:1' },
]

describe('a strategic merge patch of a DaemonSet', () => {
  const cases: Record<string, { target: object; patch: object; want: object }> = {
    'changes the item with the same merge key': {
      target: inTemplate({ containers }),
      patch: inTemplate({ containers: [{ name: 'b', image: 'b:2' }] }),
      want: inTemplate({ containers: [containers[0], { name: 'b', image: 'b:2' }] }),
    },
    'adds an item with a new merge key at the end': {
      target: inTemplate({ containers }),
      patch: inTemplate({ containers: [{ name: 'c', image: 'c:1' }] }),
      want: inTemplate({ containers: [...containers, { name: 'c', image: 'c:1' }] }),
    },
    'merges ports of a container by containerPort': {
      target: inTemplate({ containers }),
      patch: inTemplate({ containers: [{ name: 'a', ports: [{ containerPort: 80, name: 'http' }] }] }),
      want: inTemplate({ containers: [{ ...containers[0], ports: [{ containerPort: 80, name: 'http' }] }, containers[1]] }),
    },
    'deletes an item with a directive': {
      target: inTemplate({ containers }),
      patch: inTemplate({ containers: [{ name: 'a', $patch: 'delete' }] }),
      want: inTemplate({ containers: [containers[1]] }),
    },
    'replaces a list with a directive': {
      target: inTemplate({ containers }),
      patch: inTemplate({ containers: [{ $patch: 'replace' }, { name: 'c' }] }),
      want: inTemplate({ containers: [{ name: 'c' }] }),
    },
    'orders items by $setElementOrder': {
      target: inTemplate({ containers }),
      patch: inTemplate({ '$setElementOrder/containers': [{ name: 'b' }, { name: 'c' }, { name: 'a' }], containers: [{ name: 'c' }] }),
      want: inTemplate({ containers: [containers[1], { name: 'c' }, containers[0]] }),
    },
    'keeps an item that the order omits behind its neighbour': {
      target: { metadata: { ownerReferences: [{ uid: '1' }, { uid: '2' }, { uid: '3' }] } },
      patch: { metadata: { '$setElementOrder/ownerReferences': [{ uid: '3' }, { uid: '1' }] } },
      want: { metadata: { ownerReferences: [{ uid: '3' }, { uid: '1' }, { uid: '2' }] } },
    },
    'replaces a volume source that $retainKeys omits': {
      target: inTemplate({ volumes: [{ name: 'v', emptyDir: {} }] }),
      patch: inTemplate({ volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x' } }] }),
      want: inTemplate({ volumes: [{ name: 'v', hostPath: { path: '/x' } }] }),
    },
    'replaces a list without a merge key as a whole': {
      target: inTemplate({ tolerations: [{ key: 'a' }, { key: 'b' }] }),
      patch: inTemplate({ tolerations: [{ key: 'c' }] }),
      want: inTemplate({ tolerations: [{ key: 'c' }] }),
    },
    'merges finalizers as a set, and removes those in the directive': {
      target: { metadata: { finalizers: ['a', 'b'] } },
      patch: { metadata: { finalizers: ['c'], '$deleteFromPrimitiveList/finalizers': ['a'] } },
      want: { metadata: { finalizers: ['b', 'c'] } },
    },
    'removes an owner by its uid': {
      target: { metadata: { ownerReferences: [{ uid: '1' }, { uid: '2' }] } },
      patch: { metadata: { ownerReferences: [{ uid: '1', $patch: 'delete' }] } },
      want: { metadata: { ownerReferences: [{ uid: '2' }] } },
    },
    'deletes a field with null': {
      target: { spec: { minReadySeconds: 5, a: 1 } },
      patch: { spec: { minReadySeconds: null } },
      want: { spec: { a: 1 } },
    },
    'stores no directive in added items': {
      target: {},
      patch: { spec: { $patch: 'replace', nodeSelector: { $patch: 'replace', a: 'b' } } },
      want: { spec: { nodeSelector: { a: 'b' } } },
    },
  }
  for (const [name, { target, patch, want }] of Object.entries(cases))
    it(name, () => expect(strategicMerge(target as never, patch as never, builtInMergeKeys('apps', 'v1', 'DaemonSet'))).toEqual(want))

  it('refuses an item without its merge key, and a directive that does not exist', () => {
    const mergeKeys = builtInMergeKeys('apps', 'v1', 'DaemonSet')
    expect(() => strategicMerge({}, inTemplate({ containers: [{ image: 'x' }] }), mergeKeys)).toThrow(
      'does not contain declared merge key: name',
    )
    expect(() => strategicMerge({}, { spec: { $patch: 'mix' } }, mergeKeys)).toThrow('unknown patch type: mix')
  })
})
