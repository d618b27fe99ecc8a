import type { RevisionReport } from '@tranche/api-schema'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { causeText } from '../src/pages/rollout/revisions/cause-text.ts'
import { compareContainers, compareImages } from '../src/pages/rollout/revisions/compare-images.ts'
import { defaultPair } from '../src/pages/rollout/revisions/default-pair.ts'
import { type DiffRow, diffRows, foldRows } from '../src/pages/rollout/revisions/diff-rows.ts'
import { yamlOf } from '../src/pages/rollout/revisions/template-yaml.ts'

function revision(number: number, changes: Partial<RevisionReport> = {}): RevisionReport {
  return { revision: `r${number}`, number, createdAt: '2026-11-26T00:00:00Z', role: 'none', held: false, nodes: 0, images: [], ...changes }
}

describe('a template as YAML', () => {
  it('reads as the same value, whatever its texts are', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('a', ' ', '\n', '-', ':', '#', '1', '"', '|', '\t', '\u2028', '\u202e', '\u{e0001}'), { maxLength: 12 })
        .map((parts) => parts.join('')),
      fc.constantFrom(
        'yes',
        'null',
        '~',
        '1e3',
        '0x10',
        '50m',
        '1Ki',
        '08%',
        '2026-11-26',
        '.inf',
        '- a',
        'a: b',
        'a #b',
        '<<',
        'line\nline\n',
        '  line\nline',
        '\n',
        'a\n\nb\n\n',
      ),
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(text, tie('value'), { maxKeys: 4 }),
    }))
    fc.assert(
      fc.property(value, (template) => {
        expect(parse(yamlOf(template), { maxAliasCount: -1 })).toEqual(JSON.parse(JSON.stringify(template)))
      }),
      { numRuns: 200 },
    )
  })

  it('has sorted keys, the name first, and quotes only where they are needed', () => {
    const template = {
      spec: {
        containers: [
          {
            name: 'agent',
            image: 'registry.example:5000/agent:v2',
            args: ['--level', '3'],
            env: [],
            resources: { limits: { cpu: '50m' } },
          },
        ],
        hostNetwork: true,
      },
      metadata: { annotations: { script: 'set -e\nrun\n' } },
    }
    expect(yamlOf(template).split('\n')).toEqual([
      'metadata:',
      '  annotations:',
      '    script: |',
      '      set -e',
      '      run',
      'spec:',
      '  containers:',
      '  - name: agent',
      '    args:',
      '    - "--level"',
      '    - "3"',
      '    env: []',
      '    image: registry.example:5000/agent:v2',
      '    resources:',
      '      limits:',
      '        cpu: 50m',
      '  hostNetwork: true',
    ])
  })

  it.each([
    ['the direction of text', 'a\u202eb', String.raw`"a\u202eb"`],
    ['text of no width', 'a\u200bb\n', String.raw`"a\u200bb\n"`],
    ['text beyond the first plane', 'a\u{e0001}b', String.raw`"a\U000e0001b"`],
  ])('escapes characters that are not visible: %s', (_case, text, yaml) => {
    expect(yamlOf(text)).toBe(yaml)
  })

  it('does not depend on the order of the keys', () => {
    expect(yamlOf({ b: 1, a: { d: 2, c: 3 } })).toBe(yamlOf({ a: { c: 3, d: 2 }, b: 1 }))
  })
})

describe('the lines in which templates differ', () => {
  const withoutUnchanged = (rows: readonly DiffRow[]): readonly string[] =>
    rows.filter(({ sign }) => sign !== ' ').map(({ sign, text }) => sign + text)

  it('have a sign', () => {
    expect(withoutUnchanged(diffRows('a: 1\nb: 2\nc: 3', 'a: 1\nb: 4\nc: 3\nd: 5')!)).toEqual(['-b: 2', '+b: 4', '+d: 5'])
  })

  it('give both texts back', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '', '  c'), { minLength: 1, maxLength: 20 }).map((lines) => lines.join('\n'))
    fc.assert(
      fc.property(text, text, (from, to) => {
        const rows = diffRows(from, to)!
        const without = (sign: string): string =>
          rows
            .filter((row) => row.sign !== sign)
            .map((row) => row.text)
            .join('\n')
        expect([without('+'), without('-')]).toEqual([from, to])
      }),
    )
  })

  it('keep three lines around a change, and count what is left out', () => {
    const lines = Array.from({ length: 20 }, (_, at) => `l${at}`)
    const rows = diffRows(lines.join('\n'), lines.with(10, 'new').join('\n'))!
    const blocks = foldRows(rows).map((block) => (block.kind === 'folded' ? block.lines : block.rows.map(({ sign, text }) => sign + text)))
    expect(blocks).toEqual([7, [' l7', ' l8', ' l9', '-l10', '+new', ' l11', ' l12', ' l13'], 6])
  })

  it.each([
    ['folds nothing for one line between two changes', [1, 9], []],
    ['folds two lines between two changes', [1, 10], [2]],
    ['folds everything without a change', [], [12]],
  ])('%s', (_case, changed, folded) => {
    const rows = Array.from({ length: 12 }, (_, at) => ({ sign: changed.includes(at) ? ('+' as const) : (' ' as const), text: String(at) }))
    const blocks = foldRows(rows)
    expect(blocks.flatMap((block) => (block.kind === 'folded' ? [block.lines] : []))).toEqual(folded)
    expect(blocks.reduce((lines, block) => lines + (block.kind === 'rows' ? block.rows.length : block.lines), 0)).toBe(12)
  })
})

describe('image changes', () => {
  const template = (containers: Record<string, string>, initContainers: Record<string, string> = {}): Record<string, unknown> => {
    const list = (images: Record<string, string>): unknown => Object.entries(images).map(([name, image]) => ({ name, image }))
    return { spec: { containers: list(containers), initContainers: list(initContainers) } }
  }

  it('are found by the name of the container, init containers first', () => {
    const from = template({ agent: 'a:1', sidecar: 's:1', old: 'o:1' }, { setup: 'i:1' })
    const to = template({ sidecar: 's:1', agent: 'a:2', proxy: 'p:1' }, { setup: 'i:2' })
    expect(compareContainers(from, to)).toEqual([
      { container: 'setup', from: 'i:1', to: 'i:2' },
      { container: 'agent', from: 'a:1', to: 'a:2' },
      { container: 'proxy', to: 'p:1' },
      { container: 'old', from: 'o:1' },
    ])
  })

  it.each([[{}], [{ spec: null }], [{ spec: { containers: 'none' } }]])('are none in a template without containers: %o', (empty) => {
    expect(compareContainers(empty, empty)).toEqual([])
  })

  it('are found by their place if only the images are known', () => {
    expect(compareImages({ images: ['a:1', 'b:1'] }, { images: ['a:1', 'b:2', 'c:1'] })).toEqual([
      { from: 'b:1', to: 'b:2' },
      { to: 'c:1' },
    ])
  })
})

describe('the revisions that are compared at first', () => {
  it.each([
    ['stable and canary', [revision(3, { role: 'canary' }), revision(2), revision(1, { role: 'stable' })], { from: 'r1', to: 'r3' }],
    [
      'canary and stable in a rollback to an older one',
      [revision(3, { role: 'stable' }), revision(2, { role: 'canary' })],
      { from: 'r3', to: 'r2' },
    ],
    ['the last two after a release', [revision(2, { role: 'stable' }), revision(1)], { from: 'r1', to: 'r2' }],
    ['none if there is one', [revision(1)], undefined],
    ['none if there are none', [], undefined],
  ])('are %s', (_case, revisions, pair) => {
    expect(defaultPair(revisions)).toEqual(pair)
  })
})

describe('why a revision exists', () => {
  it.each<[string, Partial<RevisionReport>, string]>([
    ['is the pinned config that it changes', { changedConfig: ['ConfigMap agent', 'Secret keys'] }, 'ConfigMap agent, Secret keys'],
    ['is that config before its change cause', { changedConfig: ['ConfigMap agent'], changeCause: 'JIRA-1' }, 'ConfigMap agent; JIRA-1'],
    ['is its change cause alone', { changeCause: 'JIRA-1' }, 'JIRA-1'],
    ['is a dash without either', {}, '–'],
  ])('%s', (_what, changes, text) => {
    expect(causeText(revision(2, changes))).toBe(text)
  })
})
