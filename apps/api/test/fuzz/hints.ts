import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { type Hints, type Json, oddJson, oddText } from './values.ts'

const examples = ['rollout.yaml', 'daemonset.yaml', 'policy.yaml', 'policies/metrics.yaml', 'policies/pools.yaml'].map((file) =>
  readFileSync(`${import.meta.dirname}/../../../../examples/${file}`, 'utf8'),
)

/** YAML that is expensive to parse: time, memory or stack. */
const heavy: readonly string[] = [
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `{a: ${'{a: '.repeat(5_000)}1${'}'.repeat(5_001)}`,
  '- '.repeat(10_000),
  '? '.repeat(10_000),
  '--- a\n'.repeat(20_000),
  'a: 1\n'.repeat(5_000),
  Array.from({ length: 5_000 }, (_none, at) => `m${at}: ${at}`).join('\n'),
  `a: &a [x, x, x, x, x, x, x, x, x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name, at) => `${name}: &${name} [${`*${'abcdefg'[at]}, `.repeat(9)}]`).join('\n')}`,
  'a: &a\n  <<: *a\n',
  'a: &a [*a]\n',
  `kind: List\nitems: [${'{kind: Rollout}, '.repeat(3_000)}]`,
  `"${'\\u00e9'.repeat(20_000)}"`,
  'x'.repeat(900_000),
  `kind: ReleasePolicy\nmetadata: {name: ${'x'.repeat(20_000)}}`,
]

const manifests: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...examples),
  // One line of an example is another.
  fc.tuple(fc.constantFrom(...examples), fc.nat(), oddText).map(([text, at, odd]) => {
    const lines = text.split('\n')
    const line = at % lines.length
    return lines.map((one, index) => (index === line ? `${one.replace(/:.*$/, '')}: ${odd}` : one)).join('\n')
  }),
  fc
    .tuple(fc.constantFrom('Rollout', 'ReleasePolicy', 'DaemonSet', 'List', '__proto__'), oddJson, oddJson)
    .map(([kind, metadata, spec]) => JSON.stringify({ apiVersion: 'rollouts.kruise.io/v1beta1', kind, metadata, spec })),
  fc.constantFrom(
    '!!js/function x',
    '%YAML 9.9\n---\na',
    '\t- a',
    '&a',
    '*a',
    '!!binary x',
    '--- --- ---',
    '<<: {a: 1}',
    '.inf: .nan',
    '0o777: 0x1F',
  ),
)

function usually(word: string): readonly string[] {
  return Array.from({ length: 8 }, () => word)
}

/** @returns meaningful values by the names of parameters and members */
export function hintsOf(revisions: readonly string[]): Hints {
  const words = (...texts: readonly Json[]): fc.Arbitrary<Json> => fc.constantFrom(...texts)
  const cursors = fc.tuple(words('rollouts namespace asc', 'rollouts name desc', 'nodes'), fc.array(oddJson, { maxLength: 3 }))
  const eventIds = fc.array(fc.oneof(fc.nat().map(String), words('0', '', '18446744073709551616')), { minLength: 1, maxLength: 8 })
  const keys = fc.oneof(words('one', 'two', 'three'), fc.nat().map(String))
  return {
    ...bodies(keys, revisions),
    namespace: words(...usually('demo'), 'nowhere'),
    name: words(...usually('agent'), 'absent'),
    node: words('node-001', 'node-004', 'node-9'),
    hook: words(...usually('ci'), 'absent'),
    code: words('NOT_FOUND', 'MOVED_ON', 'toString'),
    revision: words(...revisions, '1', '2', 'v2', '999'),
    toRevision: words(...revisions, '1', '2', '0', '999'),
    cursor: cursors.map(([list, places]) => Buffer.from(JSON.stringify([list, ...places])).toString('base64url')),
    lastEventId: eventIds.map((parts) => parts.join('.')),
    'last-event-id': eventIds.map((parts) => parts.join('.')),
    'idempotency-key': keys,
    id: keys,
    wait: words(0, 0, 0, 1, 60),
    expectedStep: words(1, 1, 1, 2),
    step: words(1, 2, 3, 4),
    phase: words('Progressing', 'Healthy'),
    q: words('agent', 'AGENT', 'x'),
    return_to: words('/docs', '//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:alert(1)'),
    image: words('registry.example/agent:v3', 'agent=registry.example/agent:v3', 'absent=x', '='),
    if: fc.array(
      fc.oneof(
        words('node-001 fails', '50% crash', '2 crash', 'node-002 crashes', 'zone-a fails', 'node-001 is NotReady', '101% crash'),
        oddText,
      ),
      { maxLength: 3 },
    ),
    manifests: fc.oneof({ arbitrary: manifests, weight: 12 }, { arbitrary: fc.constantFrom(...heavy), weight: 1 }),
  }
}

/** Members that actions require. */
function bodies(keys: fc.Arbitrary<Json>, revisions: readonly string[]): Hints {
  const reason = fc.oneof(
    fc.string({ maxLength: 1_024 }),
    oddText.map((text) => text.slice(0, 1_024)),
  )
  const expectedStep = fc.constant(1)
  const actionBody = (members: Readonly<Record<string, fc.Arbitrary<Json>>>, required: readonly string[]): fc.Arbitrary<Json> =>
    fc.record<Record<string, Json>>({ reason, ...members }, { requiredKeys: [...required] })
  const step = fc.integer({ min: 1, max: 3 })
  const toRevision = fc.constantFrom(...revisions)
  const revision = fc.constantFrom(...revisions)
  return {
    'body of approve': actionBody({ expectedStep }, ['expectedStep']),
    'body of jump': actionBody({ expectedStep, step }, ['expectedStep', 'step']),
    'body of promote': actionBody({ expectedStep, full: fc.boolean() }, []),
    'body of undo': actionBody({ toRevision, revision }, []),
    'body of rollBackDaemonSet': actionBody({ toRevision, revision, dryRun: fc.boolean() }, []),
    'body of sendToHook': fc.oneof(
      actionBody({ id: keys, action: fc.constantFrom('pause', 'resume', 'abort', 'retry') }, ['id', 'action']),
      actionBody({ id: keys, action: fc.constant('approve'), expectedStep }, ['id', 'action', 'expectedStep']),
      actionBody({ id: keys, action: fc.constant('jump'), expectedStep, step }, ['id', 'action', 'expectedStep', 'step']),
    ),
    ...Object.fromEntries(['pause', 'resume', 'abort', 'retry', 'restart'].map((type) => [`body of ${type}`, actionBody({}, [])])),
  }
}
