import { isDesiredNode, isSchedulableNode, type NodeForPlacement } from '@tranche/fleet'
import type { LabelSelectorRequirement, NodeSelectorTerm, PodPlacement, Taint, Toleration } from '@tranche/kube-types'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { plainlyDesired, plainlySchedulable } from './plain-eligibility.ts'

/** Few keys and values, so that many requirements are about one label and many hold. */
const keys = fc.constantFrom('a', 'b', 'c', 'd', 'constructor')
const numbers = ['5', '-5', '+5', '005', '9223372036854775807', '-9223372036854775808', '9223372036854775808', '-9223372036854775809']
const values = fc.oneof(fc.constantFrom('x', 'y', '', '0', '1', '2', '10'), fc.constantFrom(...numbers))
const names = fc.constantFrom('node-1', 'node-2', 'node-3')

const requirement: fc.Arbitrary<LabelSelectorRequirement> = fc.record({
  key: keys,
  operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'In', 'NotIn', 'Like'),
  values: fc.oneof(fc.constant(undefined), fc.array(values, { maxLength: 3 })),
})
/** Mostly what API servers accept: a term with one invalid requirement matches nothing. */
const valid = requirement.map(({ key, operator, values: given = [] }) => {
  const [first = '1'] = given
  if (operator === 'Exists' || operator === 'DoesNotExist') return { key, operator }
  return { key, operator, values: operator === 'Gt' || operator === 'Lt' ? [first] : [first, ...given] }
})
const field: fc.Arbitrary<LabelSelectorRequirement> = fc.record({
  key: fc.constantFrom('metadata.name', 'metadata.name', 'metadata.name', 'metadata.uid'),
  operator: fc.constantFrom('In', 'NotIn', 'NotIn', 'Exists'),
  values: fc.oneof(
    names.map((name) => [name]),
    fc.array(names, { maxLength: 2 }),
  ),
})
const term: fc.Arbitrary<NodeSelectorTerm> = fc.record(
  {
    matchExpressions: fc.array(fc.oneof({ weight: 9, arbitrary: valid }, { weight: 1, arbitrary: requirement }), { maxLength: 4 }),
    matchFields: fc.array(field, { maxLength: 2 }),
  },
  { requiredKeys: [] },
)
/** More than a node is compared with one by one: most match no node, so that each of the others decides. */
const manyTerms = fc
  .tuple(fc.integer({ min: 14, max: 70 }), fc.array(term, { minLength: 1, maxLength: 4 }), fc.nat(70))
  .map(([count, some, at]): readonly NodeSelectorTerm[] => {
    const none: readonly NodeSelectorTerm[] = Array.from({ length: count }, (_, index) => ({
      matchExpressions: [{ key: `none${index}`, operator: 'Exists' }],
    }))
    return none.toSpliced(at % count, 0, ...some)
  })
const manyRequirements = fc
  .array(fc.constantFrom('NotIn', 'DoesNotExist'), { minLength: 20, maxLength: 30 })
  .chain((operators) => fc.tuple(fc.constant(operators), fc.array(valid, { maxLength: 2 })))
  .map(([operators, more]) => [
    {
      matchExpressions: [
        ...operators.map((operator, at) => ({ key: `k${at}`, operator, ...(operator === 'NotIn' && { values: ['x'] }) })),
        ...more,
      ],
    },
  ])
const effects = fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule')
const taintKeys = fc.constantFrom('a', 'b', 'node.kubernetes.io/unschedulable', 'node.kubernetes.io/network-unavailable')
const toleration: fc.Arbitrary<Toleration> = fc.record(
  {
    key: fc.oneof(taintKeys, fc.constant('')),
    operator: fc.constantFrom('Exists', 'Equal', 'Gt', ''),
    value: fc.constantFrom('x', 'y', ''),
    effect: fc.oneof(effects, fc.constant('')),
  },
  { requiredKeys: [] },
)
const affinity = fc
  .oneof(fc.array(term, { maxLength: 4 }), manyTerms, manyRequirements)
  .map((nodeSelectorTerms) => ({ nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } }))
const placement: fc.Arbitrary<PodPlacement> = fc.record(
  {
    nodeName: fc.oneof({ weight: 5, arbitrary: fc.constant('') }, { weight: 1, arbitrary: names }),
    nodeSelector: fc.dictionary(keys, values, { maxKeys: 1 }),
    hostNetwork: fc.boolean(),
    tolerations: fc.array(toleration, { maxLength: 5 }),
    affinity,
  },
  { requiredKeys: [] },
)
const taint: fc.Arbitrary<Taint> = fc.record(
  { key: taintKeys, value: fc.constantFrom('x', 'y', ''), effect: effects },
  { requiredKeys: ['key', 'effect'] },
)
const node: fc.Arbitrary<NodeForPlacement> = fc.record({
  metadata: fc.record({
    name: names,
    labels: fc.dictionary(fc.oneof(keys, fc.constantFrom('k0', 'k7', 'k19')), values, { maxKeys: 4 }),
  }),
  spec: fc.record({ taints: fc.array(taint, { maxLength: 2 }), unschedulable: fc.boolean() }, { requiredKeys: [] }),
})

it('a node is desired, and schedulable, exactly where every rule of Kubernetes says so, for any placement', () => {
  const counts = { desired: 0, other: 0 }
  fc.assert(
    fc.property(fc.oneof(placement, fc.record({ affinity })), fc.array(node, { minLength: 1, maxLength: 12 }), (given, nodes) => {
      for (const one of nodes) {
        const isDesired = plainlyDesired(given, one)
        counts[isDesired ? 'desired' : 'other']++
        expect(isDesiredNode(given, one)).toBe(isDesired)
        expect(isSchedulableNode(given, one)).toBe(plainlySchedulable(given, one))
      }
    }),
    { numRuns: 1_000 },
  )
  expect(Math.min(counts.desired, counts.other)).toBeGreaterThan(500)
})
