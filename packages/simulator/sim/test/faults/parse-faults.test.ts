import { faultsInvalid, findingText, parseFaults } from '@tranche/sim'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('a document of faults', () => {
  it('may be YAML or JSON, with the same meaning', () => {
    const yaml = parseFaults('seed: 7\nfaults:\n  - {kind: NodeDown, nodes: [node-001], at: 10s, for: 1m30s}\n')
    const json = parseFaults('{"seed":7,"faults":[{"kind":"NodeDown","nodes":["node-001"],"at":"10s","for":"1m30s"}]}')
    expect(yaml).toEqual(json)
    expect(yaml).toMatchObject({ kind: 'faults', faults: { seed: 7 } })
  })

  const wrong: Record<string, { text: string; says: readonly string[] }> = {
    'an unknown kind': {
      text: 'faults: [{kind: NodeDwn}]',
      says: ['faults[0].kind does not take "NodeDwn": give one of NodeDown, NodeUp,'],
    },
    'no kind': { text: 'faults: [{nodes: [a]}]', says: ['faults[0].kind is missing: give one of NodeDown,'] },
    'no nodes': { text: 'faults: [{kind: NodeUp}]', says: ['faults[0].nodes is missing: give a list of node names, with at least one'] },
    'an empty list': { text: 'faults: [{kind: NodeUp, nodes: []}]', says: ['faults[0].nodes does not take []: give a list of node names'] },
    'a duration in words': {
      text: 'faults: [{kind: NodeUp, nodes: [a], at: 5 minutes}]',
      says: ['faults[0].at does not take "5 minutes": give a duration such as 500ms, 30s or 1m30s'],
    },
    'a duration as a number': {
      text: 'faults: [{kind: NodeUp, nodes: [a], at: 5}]',
      says: ['faults[0].at does not take 5: give a duration'],
    },
    'an excessive duration': { text: 'faults: [{kind: NodeUp, nodes: [a], at: 99999999h}]', says: ['up to 10000h'] },
    'an unknown key': {
      text: 'faults: [{kind: Cut, when: after, probabilty: 0.1}]',
      says: ['faults[0].probabilty does not take 0.1: leave it out; known are kind, name, at, after, for, probability, count,'],
    },
    'an unknown key of the document': {
      text: 'faults: [{kind: WatchCut}]\nsed: 1',
      says: ['sed does not take 1: leave it out; known are seed, faults'],
    },
    'a duration for a fault without one': {
      text: 'faults: [{kind: ClockStep, by: 1h, for: 1s}]',
      says: ['faults[0].for does not take "1s"'],
    },
    'a clock without a step': {
      text: 'faults: [{kind: ClockStep, by: 0s}]',
      says: ['faults[0].by does not take "0s": give a duration such as 30s or -1h, not 0'],
    },
    'a status that is not an error': {
      text: 'faults: [{kind: Error, status: 200}]',
      says: ['faults[0].status does not take 200: give one of 400, 401,'],
    },
    'a probability above 1': {
      text: 'faults: [{kind: WatchCut, probability: 1.5}]',
      says: ['faults[0].probability does not take 1.5: give a number above 0, up to 1'],
    },
    'a fault that never happens': {
      text: 'faults: [{kind: WatchCut, count: 0}]',
      says: ['faults[0].count does not take 0: give a whole number from 1'],
    },
    'an unknown verb': {
      text: 'faults: [{kind: Delay, by: 1s, verbs: [get, post]}]',
      says: ['faults[0].verbs[1] does not take "post": give one of get, list, watch'],
    },
    'two moments': {
      text: 'faults: [{kind: WatchCut, at: 1s, after: 2s}]',
      says: ['faults[0].after does not take "2s": leave out at or after'],
    },
    'a duplicate name': {
      text: 'faults: [{kind: WatchCut, name: a}, {kind: WatchCut, name: a}]',
      says: ['faults[1].name does not take "a": give each fault a name of its own'],
    },
    'a retryAfter without a status': {
      text: 'faults: [{kind: Error, status: 500, retryAfter: 1s}]',
      says: ['faults[0].retryAfter does not take "1s": leave it out: only'],
    },
    'a retryAfter with a status that cannot have it': {
      text: 'faults: [{kind: Error, status: 409, retryAfter: 1s}]',
      says: ['faults[0].retryAfter'],
    },
    'no faults': { text: 'faults: []', says: ['faults does not take []: give a list of 1 to 1000 faults'] },
    'a list instead of the document': { text: '- kind: WatchCut', says: ['the document does not take [{"kind":"WatchCut"}]: give a map'] },
    nothing: { text: '', says: ['the document does not take null: give a map'] },
    'no YAML': { text: 'faults: [', says: ['line 1, column 10 does not take this text: write YAML or JSON: '] },
    'a duplicate key': {
      text: 'faults: []\nfaults: []',
      says: ['line 2, column 1 does not take this text: write YAML or JSON: Map keys must be unique'],
    },
    'an alias of itself': { text: 'faults: &a [*a]', says: ['write it with fewer aliases: the alias *a is inside its own anchor'] },
    'an unknown alias': { text: 'faults: *a', says: ['write it without them'] },
    'several things': {
      text: 'faults: [{kind: NodeUp}, {kind: Cut}]',
      says: ['faults[0].nodes is missing', 'faults[1].when is missing: give before (the write takes no effect) or after'],
    },
  }

  it.each(Object.entries(wrong))('is refused for %s, with the path, the value and the fix', (_what, { text, says }) => {
    const parsed = parseFaults(text)
    const texts = parsed.kind === 'invalid' ? parsed.findings.map(findingText) : []
    expect(texts).toHaveLength(says.length)
    for (const [index, part] of says.entries()) expect(texts[index]).toContain(part)
  })

  it('is refused if it is too large', () => {
    expect(parseFaults(`# ${'x'.repeat(300_000)}\nfaults: [{kind: WatchCut}]`)).toMatchObject({ kind: 'invalid' })
  })

  it('never throws, for any text', () => {
    const piece = fc.constantFrom(
      'faults',
      ':',
      ' ',
      '\n',
      '-',
      '{',
      '}',
      '[',
      ']',
      'kind',
      'Cut',
      '&a',
      '*a',
      '"',
      '1',
      '!!js',
      '%',
      '\t',
      '<<',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => ['faults', 'invalid'].includes(parseFaults(pieces.join('')).kind)),
    )
  })
})

it('reports several findings, one per line, and the number of the others', () => {
  const findings = Array.from({ length: 12 }, (_, index) => ({ path: `faults[${index}].at`, value: '1', fix: 'give a duration' }))
  const lines = faultsInvalid('faults.yaml', findings).message.split('\n')
  expect(lines).toHaveLength(13)
  expect(lines[0]).toBe('faults.yaml:')
  expect(lines.at(-2)).toBe('  and 2 more')
  expect(lines.at(-1)).toBe('  no fault is applied')
})
