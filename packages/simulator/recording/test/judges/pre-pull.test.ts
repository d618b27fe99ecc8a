import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const MINUTE = 60_000

/** The fleet under a policy that every process has seen for a while. */
function under(prePull: Fields | undefined): () => Script {
  return () =>
    fleet()
      .order({ spec: { tranche: { ...(prePull !== undefined && { prePull }) } } })
      .seen()
      .wait(MINUTE)
}

/** A helper pod of the release on node a. */
function helper(waiting: string, fields: Fields = {}): Fields {
  return {
    helper: 'v2',
    owner: 'agent',
    ownerUid: 'release',
    hash: undefined,
    phase: 'Pending',
    ready: false,
    images: ['agent:2'],
    waiting,
    ...fields,
  }
}

const PULLED = 'CreateContainerConfigError'
/** The pod on node a is deleted by us, and its successor needs an image. */
const taken = (s: Script): Script => s.del('a1').replace('a1', { images: ['agent:2'], ready: false, phase: 'Pending' })

describe('the images of the new pod, where the policy asks for them to be pulled first', () => {
  judgeEach(
    'G1',
    [
      ['are there before the old pod is deleted', taken, ['G1 a']],
      ['are there if a helper pod has pulled them', (s) => taken(s.pod('a-helper', helper(PULLED))), []],
      ['are not there while the helper pod pulls', (s) => taken(s.pod('a-helper', helper('ContainerCreating'))), ['G1 a']],
      ['are not there if another node has them', (s) => taken(s.pod('b-helper', helper(PULLED))), ['G1 a']],
      ['are not there if other images are', (s) => taken(s.pod('a-helper', helper(PULLED, { images: ['agent:1'] }))), ['G1 a']],
      ['stay there after the helper pod is gone', (s) => taken(s.pod('a-helper', helper(PULLED)).gone('a-helper')), []],
      [
        'are there if any other pod of the node runs with them',
        (s) => taken(s.pod('a-other', { owner: 'x', ownerUid: 'x', images: ['agent:2'] })),
        [],
      ],
      [
        'do not matter once the template has changed',
        (s) =>
          s
            .del('a1')
            .daemonSet({ template: 't9' })
            .replace('a1', { images: ['agent:3'] }),
        [],
      ],
      [
        'do not matter to a process that has not seen that the template changed',
        (s) => taken(s.daemonSet({ template: 't9', generation: 2, observed: 1 })),
        [],
      ],
      [
        'matter once the process has seen that the template changed',
        (s) => taken(s.daemonSet({ template: 't9', generation: 2, observed: 2 }).seen().wait(MINUTE)),
        ['G1 a'],
      ],
      ['do not matter to what others delete', (s) => s.gone('a1').pod("a1'", { hash: 'v2', images: ['agent:2'] }), []],
    ],
    { begin: under({}) },
  )
  judgeEach('G1', [['may be missing if the policy says Continue', taken, []]], { begin: under({ onFailure: 'Continue' }) })
  judgeEach('G1', [['may be missing without such a policy', taken, []]], { begin: under(undefined) })
})

describe('the deletion of a helper pod', () => {
  judgeEach(
    'G4',
    [
      ['is none of a pod of the DaemonSet', (s) => s.pod('a-helper', helper(PULLED)).del('a-helper'), []],
      [
        'is none of a pod of a DaemonSet that was deleted meanwhile, and created again',
        (s) =>
          s
            .daemonSet({}, 'user', { verb: 'delete', type: 'DELETED' })
            .pod('a-helper', helper(PULLED))
            .daemonSet({ uid: 'ds-2', strategy: { type: 'OnDelete' } })
            .del('a-helper'),
        [],
      ],
    ],
    { begin: under({}) },
  )
  judgeEach(
    'G4',
    [
      [
        'excuses no deletion of another pod',
        (s) => s.pod('a-odd', helper(PULLED, { helper: undefined, owner: undefined, ownerUid: undefined })).del('a-odd'),
        ['G4 a'],
      ],
    ],
    { begin: under({}) },
  )
})
