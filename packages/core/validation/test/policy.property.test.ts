import { customResourceDefinitions, type ReleasePolicySpec, type StructuralSchema } from '@tranche/api-schema'
import { checkPolicy, problemsText, problemText, validatePolicy } from '@tranche/validation'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { policyWith } from './policies.ts'

type Path = readonly (string | number)[]

const tricky = fc.constantFrom<unknown>(
  '',
  '0%',
  '1e3s',
  '-5m',
  '99999999999999h',
  '{{',
  '{{nodes}}}}{{x}}',
  'http://',
  'https://a.example/{{nodes}}?x={{canaryRevision}}#y',
  'javascript:alert(1)',
  'sum(rate(x{a=~"{{nodes}}"}[5m]))',
  '(('.repeat(5_000),
  'result'.repeat(2_000),
  'result.all(x, result.all(y, result.all(z, x > y && y > z)))',
  '💥\u202e\u0000',
  '\ud800',
  -1,
  1.5,
  1e308,
  null,
  true,
  [],
  {},
  [{}],
  [[]],
  'x'.repeat(100_000),
  JSON.parse('{"__proto__":{"name":1},"constructor":3}'),
)
const anything = fc.oneof(tricky, fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary' }), fc.integer())
const full: ReleasePolicySpec = {
  nodes: { order: [{ by: 'Oldest' }], exclude: [{ matchLabels: { a: 'b' } }], spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
  analysis: [
    { name: 'a', prometheus: { address: 'http://p.example', query: 'up' }, successCondition: 'result[0] > 0' },
    { name: 'b', http: { url: 'http://b.example' }, failureCondition: 'status > 499' },
  ],
  notify: [{ name: 'a', webhook: { url: 'https://w.example' } }],
}

it('any value at any field of a policy is reported by field, without an exception', () => {
  const paths = pathsBelow(definition(), [])
  const change = fc.tuple(fc.constantFrom(...paths), anything)
  let refused = 0
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      const spec = changes.reduce<unknown>((value, [path, other]) => set(value, path, other), full) as ReleasePolicySpec
      const { problems, advice, object } = checkPolicy(policyWith(spec))
      for (const finding of [...problems, ...advice]) {
        expect([finding.path, finding.message, finding.fix]).not.toContain('')
        expect(problemText(finding).isWellFormed()).toBe(true)
        expect(problemText(finding).length).toBeLessThan(2_500)
      }
      expect(problemsText(problems).length).toBeLessThan(3_500)
      if (problems.length === 0) expect(object?.spec).toEqual(spec)
      else refused += 1
      if (object !== null) expect(validatePolicy(object)).toEqual(problems)
    }),
    { numRuns: 300 },
  )
  expect(refused).toBeGreaterThan(100)
})

function definition(): StructuralSchema {
  const { openAPIV3Schema } = customResourceDefinitions.find(({ spec }) => spec.names.kind === 'ReleasePolicy')!.spec.versions[0]!.schema
  return openAPIV3Schema.properties!['spec']!
}

/** Of every field, lists by their first two entries. */
function pathsBelow(schema: StructuralSchema, path: Path): readonly Path[] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => pathsBelow(member, [...path, name]))
  const items = schema.items === undefined ? [] : [0, 1].flatMap((index) => pathsBelow(schema.items!, [...path, index]))
  return [path, ...members, ...items]
}

function set(value: unknown, path: Path, other: unknown): unknown {
  const [head, ...rest] = path
  if (head === undefined) return other
  if (typeof value !== 'object' || value === null) return value
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string | number, unknown>
  const inner = Object.hasOwn(copy, head) ? copy[head] : undefined
  copy[head] = set(inner ?? (rest.length > 0 ? (typeof rest[0] === 'number' ? [] : {}) : undefined), rest, other)
  return copy
}
