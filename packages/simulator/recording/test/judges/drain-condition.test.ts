import { describe } from 'vitest'
import { fleet, judgeEach } from '../script.ts'

const MINUTES = 5 * 60_000
const ours = { actor: 'executor-1', verb: 'patch' }
const other = { actor: 'node-doctor', verb: 'patch' }
const mark = { cordonMark: '{}' }
const own = { drain: { status: 'True', reason: 'TrancheDrain' } }
const foreign = { drain: { status: 'True', reason: 'NodeMaintenance' } }
const none = { drain: undefined }
const over = { drain: { status: 'False', reason: 'NodeMaintenance' } }

describe('the condition DrainInProgress', () => {
  judgeEach(
    'G11',
    [
      [
        'may be set on a node with a mark, and removed',
        (s) => s.node('a', { ...mark, ...own }, ours).node('a', { ...mark, ...none }, ours),
        [],
      ],
      ['may not be set on a node without a mark', (s) => s.node('a', own, ours), ['G11 a']],
      ['may be removed from a node without a mark', (s) => s.node('a', own, other).node('a', none, ours), []],
      ['of another program is not replaced', (s) => s.node('a', foreign, other).node('a', { ...mark, ...own }, ours), ['G11 a']],
      [
        'of another program is not replaced if it is False',
        (s) => s.node('a', over, other).node('a', { ...mark, ...own }, ours),
        ['G11 a'],
      ],
      ['of another program is not removed', (s) => s.node('a', foreign, other).node('a', none, ours), ['G11 a']],
      [
        'without a reason belongs to another program',
        (s) => s.node('a', { drain: { status: 'True' } }, other).node('a', none, ours),
        ['G11 a'],
      ],
      ['of another program stays beside a mark', (s) => s.node('a', foreign, other).node('a', { ...mark, ...foreign }, ours), []],
      ['may be taken over by another program', (s) => s.node('a', { ...mark, ...own }, ours).node('a', { ...mark, ...foreign }, other), []],
      [
        'that another program took over is not removed',
        (s) =>
          s
            .node('a', { ...mark, ...own }, ours)
            .node('a', { ...mark, ...foreign }, other)
            .node('a', none, ours),
        ['G11 a'],
      ],
      ['may be changed by others', (s) => s.node('a', foreign, other).node('a', over, other).node('a', none, other), []],
      [
        'goes with its node',
        (s) =>
          s
            .node('a', foreign, other)
            .node('a', {}, { type: 'DELETED' })
            .node('a', { ...mark, ...own }, ours),
        [],
      ],
    ],
    { begin: fleet },
  )
  judgeEach(
    'G7',
    [
      ['ends with its mark', (s) => s.node('a', own, other).wait(MINUTES).node('z'), ['G7 a']],
      ['that has just lost its mark may remain', (s) => s.wait(MINUTES).node('a', own, other).node('z'), []],
      [
        'counts as left from the loss of its mark',
        (s) =>
          s
            .node('a', { ...mark, ...own }, other)
            .wait(MINUTES)
            .node('a', own, other)
            .node('z'),
        [],
      ],
      ['is left, however often a kubelet writes', (s) => s.node('a', own, other).wait(MINUTES).node('a', own, other), ['G7 a']],
      ['of another program may last', (s) => s.node('a', foreign, other).wait(MINUTES).node('z'), []],
      ['is gone', (s) => s.node('a', own, other).node('a', none, ours).wait(MINUTES).node('z'), []],
    ],
    { begin: fleet, query: () => ({ quiescentFromMs: 1_000_000 }) },
  )
})
