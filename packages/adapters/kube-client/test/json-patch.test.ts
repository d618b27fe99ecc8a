import {
  addOp,
  type JsonPatchOperation,
  jsonPointer,
  removeOp,
  replaceOp,
  testOp,
  testResourceVersion,
  testUid,
} from '@tranche/kube-client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('jsonPointer', () => {
  const cases: [string, readonly (string | number)[], string][] = [
    ['names the whole object with nothing', [], ''],
    [
      'escapes a slash in a key',
      ['metadata', 'annotations', 'rollouts.kruise.io/in-progressing'],
      '/metadata/annotations/rollouts.kruise.io~1in-progressing',
    ],
    ['escapes a tilde before a slash', ['a~/b'], '/a~0~1b'],
    ['takes indexes and the end of an array', ['permits', 0, '-'], '/permits/0/-'],
  ]
  it.each(cases)('%s', (_name, tokens, want) => expect(jsonPointer(...tokens)).toBe(want))

  it('can be read back, whatever the keys', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (tokens) => {
        const read = jsonPointer(...tokens)
          .split('/')
          .slice(1)
          .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
        expect(read).toEqual(tokens)
      }),
    )
  })
})

it('builds operations', () => {
  const operations: readonly JsonPatchOperation[] = [
    testUid('u'),
    testResourceVersion('7'),
    testOp('/a', 1),
    addOp('/b', {}),
    replaceOp('/c', null),
    removeOp('/d'),
  ]
  expect(operations).toEqual([
    { op: 'test', path: '/metadata/uid', value: 'u' },
    { op: 'test', path: '/metadata/resourceVersion', value: '7' },
    { op: 'test', path: '/a', value: 1 },
    { op: 'add', path: '/b', value: {} },
    { op: 'replace', path: '/c', value: null },
    { op: 'remove', path: '/d' },
  ])
})
