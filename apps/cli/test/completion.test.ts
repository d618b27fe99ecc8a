import { createProgram, findCandidates } from '@tranche/cli'
import { describe, expect, it } from 'vitest'

const program = createProgram({ out: { write: () => {} }, err: { write: () => {} }, env: {} }, () => {})

describe('completion', () => {
  const cases: Record<string, { line: string; words?: string[]; ask?: string | null }> = {
    'the beginning of a command': { line: 'hist', words: ['history'] },
    'several commands': { line: 'res', words: ['resume', 'restart'] },
    'options of a command': { line: 'abort node-agent --y', words: ['--yes'] },
    'values of an option': { line: 'list -o ', words: ['json', 'yaml', 'name', 'wide'] },
    'the name of a Rollout': { line: 'get ', words: [], ask: 'rollouts' },
    'the name of a Rollout behind options': { line: 'approve -n demo --wait ', words: [], ask: 'rollouts' },
    'a namespace': { line: 'get -n ', words: [], ask: 'namespaces' },
    'a context': { line: 'list --context ', words: [], ask: 'contexts' },
    'no second Rollout': { line: 'pause node-agent ', words: [], ask: null },
    'a shell': { line: 'completion z', words: ['zsh'] },
  }

  it.each(Object.entries(cases))('offers %s', (_what, { line, words, ask = null }) => {
    const { candidates, ask: asked } = findCandidates(program, line.split(' '))
    expect(candidates.map(({ word }) => word)).toEqual(words)
    expect(asked?.what ?? null).toBe(ask)
  })

  it('offers files where the name of one can stand', () => {
    expect(findCandidates(program, ['lint', '-f', '']).files).toBe(true)
    expect(findCandidates(program, ['get', '']).files).toBe(false)
  })

  it('offers every command that the help names, and none that it hides', () => {
    const words = findCandidates(program, ['']).candidates.map(({ word }) => word)
    expect(words).toEqual(expect.arrayContaining(['get', 'list', 'status', 'approve', 'doctor', 'dev', 'lint']))
    expect(words).not.toContain('__complete')
  })

  it('asks the namespace that stands on the line', () => {
    expect(findCandidates(program, ['get', '--namespace=demo', '']).ask).toEqual({ what: 'rollouts', values: { namespace: 'demo' } })
  })
})
