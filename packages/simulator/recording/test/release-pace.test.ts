import { type RecordedWrite, releasePace } from '@tranche/recording'
import { describe, expect, it } from 'vitest'

describe('releasePace', () => {
  it('measures a node from the accepted deletion of its pod to the first Ready one after it', () => {
    expect(pace('10 a:1+x | 12 a:1! | 13 a:2- | 15 a:2+', 1)).toMatchObject({ nodes: 1, makespanMs: 5, idealMs: 5, reactionsMs: [] })
  })

  it('measures the reaction from the moment the budget allows another node', () => {
    expect(pace('10 a:1x | 15 a:2+ | 18 b:3x | 23 b:4+', 1)).toMatchObject({ nodes: 2, makespanMs: 13, idealMs: 10, reactionsMs: [3] })
  })

  it('gives the next node to the first free slot', () => {
    const seen = pace('10 a:1x | 10 b:2x | 14 b:3+ | 15 c:4x | 20 a:5+ | 20 c:6+', 2)
    expect(seen).toMatchObject({ makespanMs: 10, idealMs: 10, reactionsMs: [1] })
  })

  it('begins a batch when the previous one is available, and counts no reaction for its first nodes', () => {
    const seen = pace('partition 1 | 10 a:1x | 15 a:2+ | partition 0 | 25 b:3x | 30 b:4+', 1)
    expect(seen).toMatchObject({ makespanMs: 20, idealMs: 10, reactionsMs: [] })
  })

  it('bounds the makespan from below for any order of the nodes, with batches and without', () => {
    const seen = pace('partition 1 | 10 a:1x | 10 b:2x | 12 b:3+ | 20 a:4+ | partition 0 | 20 c:5x | 24 c:6+', 2)
    expect(seen).toMatchObject({ makespanMs: 14, boundMs: 14, boundWithoutBatchesMs: 10 })
  })

  it('measures the first deletion from the last change of the spec before it', () => {
    expect(pace('generation 1 | 6 o:9+other | generation 7 | 10 a:1x | 15 a:2+ | generation 12', 1)).toMatchObject({ firstDeletionMs: 3 })
    expect(pace('10 a:1x | 15 a:2+', 1).firstDeletionMs).toBe(null)
  })

  it('ignores earlier deletions, and the pods of other workloads', () => {
    expect(pace('1 z:9x | 3 z:8+ | 10 a:1x | 11 o:7xother | 15 a:2+', 1)).toMatchObject({ nodes: 1, makespanMs: 5 })
  })

  it('reports a node that never came back, and that nothing was deleted', () => {
    expect(() => pace('10 a:1x | 12 a:2-', 1)).toThrow('node a has no Ready pod again')
    expect(() => pace('1 a:1x | 2 a:2+', 1)).toThrow('no pod of DaemonSet agent was deleted')
  })
})

function pace(text: string, limit: number): ReturnType<typeof releasePace> {
  return releasePace(parse(text), { daemonSet: 'agent', sinceMs: 5, limit })
}

/**
 * `20 a:1+` is at 20 ms pod 1 on node a, Ready; `-` not Ready, `x` terminating, `!` gone, then the owner. `partition 3` is announced;
 * `generation 7` is written at 7 ms.
 */
function parse(text: string): readonly RecordedWrite[] {
  return text.split(' | ').map((word, rv): RecordedWrite => {
    const [at = '', what = ''] = word.split(' ')
    if (at === 'partition') {
      const annotations = { 'rollouts.kruise.io/daemonset-partition': what }
      return { t: 0, rv, type: 'MODIFIED', kind: 'DaemonSet', o: { name: 'agent', annotations } }
    }
    if (at === 'generation')
      return { t: Number(what), rv, type: 'MODIFIED', kind: 'DaemonSet', o: { name: 'agent', generation: Number(what) } }
    const [, node = '', uid = '', state = '', owner] = /^(\w):(\d)([+\-x!]+)(\w*)$/.exec(what)!
    const o = { name: `p${uid}`, uid, node, owner: owner || 'agent', ready: state.includes('+'), deleting: state.includes('x') }
    return { t: Number(at), rv, type: state === '!' ? 'DELETED' : 'MODIFIED', kind: 'Pod', o }
  })
}
