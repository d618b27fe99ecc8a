import { readRecording, readWithDeliveries, type RecordedWrite, unavailableSeen } from '@tranche/recording'
import { describe, expect, it } from 'vitest'

describe('readRecording', () => {
  const line = JSON.stringify({ t: 1, type: 'ADDED', kind: 'Pod', rv: 7, o: { name: 'a' } })

  it('reads one write per line, and skips empty lines', () => {
    expect(readRecording([line, '', line, '']).map((write) => write.rv)).toEqual([7, 7])
  })

  it('skips a truncated last line', () => {
    expect(readRecording([line, line.slice(0, 20), ''])).toHaveLength(1)
  })

  it('names a broken line in the middle', () => {
    expect(() => readRecording([line, '{"t":1}', line])).toThrow('line 2 of the recording')
  })
})

describe('readWithDeliveries', () => {
  const write = { t: 1, type: 'ADDED', kind: 'Pod', rv: 7, o: { name: 'a' } }
  const delivery = { t: 2, to: 'executor-1', of: 'pods', rv: 7 }

  it('distinguishes writes and deliveries', () => {
    const lines = [delivery, write, delivery].map((entry) => JSON.stringify(entry))
    expect(readWithDeliveries(lines)).toEqual({ writes: [write], deliveries: [delivery, delivery] })
    expect(readRecording(lines)).toEqual([write])
  })
})

describe('unavailableSeen', () => {
  const cases: Record<string, { writes: string; max: number; nodes?: string[] }> = {
    'is empty if every node stays up': { writes: '0 a:1+ | 0 b:2+', max: 0 },
    'counts a terminating pod as down from the accepted deletion on': { writes: '0 a:1+ | 0 b:2+ | 20 a:1+x', max: 1, nodes: ['a'] },
    'counts a node whose pod is not Ready': { writes: '0 a:1+ | 20 a:1-', max: 1, nodes: ['a'] },
    'counts a node whose pod is gone': { writes: '0 a:1+ | 20 a:1!', max: 1, nodes: ['a'] },
    'counts a node once, whatever number of pods it has': { writes: '0 a:1+ | 20 a:1+x | 21 a:2- | 22 a:3-', max: 1 },
    'counts a node as up while another of its pods is Ready': { writes: '0 a:1+ | 20 a:2+ | 21 a:1+x', max: 0 },
    'returns the maximum, not the last value': {
      writes: '0 a:1+ | 0 b:2+ | 20 a:1- | 21 b:2- | 22 a:1+ | 23 b:2+',
      max: 2,
      nodes: ['a', 'b'],
    },
    'ignores nodes that were down only before the given time': { writes: '0 a:1+ | 1 a:1- | 2 a:1+ | 20 b:9+', max: 0 },
    'counts nodes that are still down at that time': { writes: '0 a:1+ | 1 a:1-', max: 1 },
    'counts a node without a Ready pod that had one by then': { writes: '0 a:1-', max: 1 },
    'counts a node that joins later from its first Ready pod on': { writes: '20 a:1- | 21 a:1+ | 22 a:1-', max: 1, nodes: ['a'] },
    'skips a node that joins later and never had a Ready pod': { writes: '20 a:1-', max: 0 },
    'skips a node that was removed': { writes: '0 a:1+ | 20 !a | 21 b:2+', max: 0 },
    'ignores later changes of the pods of a removed node': { writes: '0 a:1+ | 20 !a | 21 a:1- | 22 a:1-x', max: 0 },
    'skips pods of other DaemonSets': { writes: '0 a:1+other | 20 a:1-other', max: 0 },
  }

  it.each(Object.entries(cases))('%s', (_name, { writes, max, nodes }) => {
    const seen = unavailableSeen(parse(writes), { namespace: 'demo', daemonSet: 'agent', sinceMs: 10 })
    expect(seen.max).toBe(max)
    if (nodes) expect(seen.nodes).toEqual(nodes)
  })

  it('skips pods of other namespaces when the recording has namespaces', () => {
    const writes = parse('0 a:1+ | 20 a:1-').map((write) => ({ ...write, namespace: 'elsewhere' }))
    expect(unavailableSeen(writes, { namespace: 'demo', daemonSet: 'agent', sinceMs: 10 }).max).toBe(0)
  })

  it('states when the maximum was reached', () => {
    expect(unavailableSeen(parse('0 a:1+ | 20 a:1- | 30 a:1+'), { namespace: 'demo', daemonSet: 'agent', sinceMs: 10 }).atMs).toBe(20)
  })
})

/** `20 a:1+` is at 20 ms pod 1 on node a, Ready; `-` not Ready, `x` terminating, `!` gone, then the owner; `!a` removes node a. */
function parse(text: string): RecordedWrite[] {
  return text.split(' | ').map((word, index) => {
    const [at = '', what = ''] = word.split(' ')
    const common = { t: Number(at), rv: index + 1 }
    if (what.startsWith('!')) return { ...common, type: 'DELETED', kind: 'Node', o: { name: what.slice(1) } }
    const [, node = '', uid = '', state = '', owner] = /^(\w):(\d)([+\-x!]+)(\w*)$/.exec(what)!
    const o = { name: `p${uid}`, uid, node, owner: owner || 'agent', ready: state.includes('+'), deleting: state.includes('x') }
    return { ...common, type: state === '!' ? 'DELETED' : 'MODIFIED', kind: 'Pod', o }
  })
}
