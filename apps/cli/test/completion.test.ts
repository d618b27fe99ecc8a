import { createProgram } from '@tranche/cli'
import { describe, expect, it } from 'vitest'
import { findCandidates } from '../src/completion/find-candidates.ts'
import { alone } from './run-alone.ts'

const program = createProgram({ out: { write: () => {} }, err: { write: () => {} }, env: {} }, () => {}, alone)

describe('completion', () => {
  const cases: Record<string, { line: string; words?: string[]; ask?: string | null }> = {
    'the beginning of a command': { line: 'hist', words: ['history'] },
    'several commands': { line: 'res', words: ['resume', 'restart'] },
    'options of a command': { line: 'abort node-agent --y', words: ['--yes'] },
    'values of an option': { line: 'list -o ', words: ['json', 'yaml', 'name', 'wide'] },
    'the name of a Rollout': { line: 'get ', words: [], ask: 'rollouts' },
    'the name of a Rollout after options': { line: 'approve -n demo --wait ', words: [], ask: 'rollouts' },
    'a namespace': { line: 'get -n ', words: [], ask: 'namespaces' },
    'a context': { line: 'list --context ', words: [], ask: 'contexts' },
    'no second Rollout': { line: 'pause node-agent ', words: [], ask: null },
    'the name of a Rollout after options before the command': { line: '-n demo get ', words: [], ask: 'rollouts' },
    'commands after options': { line: '-n demo --context c appr', words: ['approve'] },
    'options before any command': { line: '--names', words: ['--namespace'] },
    'a namespace before any command': { line: '-n ', words: [], ask: 'namespaces' },
    'a cluster of the kubeconfig': { line: 'list --cluster ', words: [], ask: 'clusters' },
    'a node, or a Rollout': { line: 'explain ', words: [], ask: 'subjects' },
    'revisions of a Rollout': { line: 'diff node-agent ', words: [], ask: 'revisions' },
    'another revision': { line: 'diff node-agent 1 ', words: [], ask: 'revisions' },
    'no third revision': { line: 'diff node-agent 1 2 ', words: [], ask: null },
    'a revision to return to': { line: 'undo node-agent --to-revision ', words: [], ask: 'revisions' },
    'the hash of a revision': { line: 'retry node-agent --revision ', words: [], ask: 'hashes' },
    'the value of an option after an equals sign': { line: 'list --output=j', words: ['json'] },
    'the value of an option as bash splits it': { line: 'list --output = j', words: ['json'] },
    'all values of an option as bash splits it': { line: 'list --output =', words: ['json', 'yaml', 'name', 'wide'] },
    'a shell': { line: 'completion z', words: ['zsh'] },
  }

  it.each(Object.entries(cases))('offers %s', (_what, { line, words, ask = null }) => {
    const { candidates, ask: asked } = findCandidates(program, line.split(' '))
    expect(candidates.map(({ word }) => word)).toEqual(words)
    expect(asked?.what ?? null).toBe(ask)
  })

  it('offers files for options that take a path', () => {
    expect(findCandidates(program, ['lint', '-f', '']).files).toBe(true)
    expect(findCandidates(program, ['get', '']).files).toBe(false)
  })

  it('replaces the whole word if the shell does', () => {
    expect(findCandidates(program, ['list', '--output=j'])).toMatchObject({ prefix: '--output=', typed: 'j' })
    expect(findCandidates(program, ['list', '--output', '=', 'j'])).toMatchObject({ prefix: '', typed: 'j' })
  })

  it('offers every command that the help names, and none that it hides', () => {
    const words = findCandidates(program, ['']).candidates.map(({ word }) => word)
    expect(words).toEqual(expect.arrayContaining(['get', 'list', 'status', 'approve', 'doctor', 'dev', 'lint']))
    expect(words).not.toContain('__complete')
  })

  it('uses the namespace on the line', () => {
    expect(findCandidates(program, ['get', '--namespace=demo', '']).ask).toEqual({ what: 'rollouts', values: { namespace: 'demo' } })
    expect(findCandidates(program, ['-n', 'demo', 'diff', 'agent', '--context', '=', 'c', '']).ask).toEqual({
      what: 'revisions',
      values: { namespace: 'demo', context: 'c' },
      rollout: 'agent',
    })
  })
})
