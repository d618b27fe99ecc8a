import { countDeletions, findBreaches, type RecordedWrite } from '@tranche/recording'
import { describe, expect, it } from 'vitest'

const start = 'nodes a b c d | say v2 0 | limit 1 | a:1 v1 + | b:2 v1 + | c:3 v1 + | d:4 v1 +'

describe('findBreaches', () => {
  const cases: Record<string, { story: string; found: readonly string[] }> = {
    'finds nothing if nodes follow one another': { story: 'del a:1 | gone a:1 | a:5 v2 + | del b:2', found: [] },
    'counts a node in flight until it has an available pod (G2)': {
      story: 'del a:1 | gone a:1 | a:5 v2 - | del b:2',
      found: ['G2 b', 'G1 b'],
    },
    'counts a node in flight though its pod was not Ready before (G2)': {
      story: 'a:1 v1 - | b:2 v1 - | wait 5000 | del a:1 | del b:2',
      found: ['G2 b'],
    },
    'counts a node once, however often Tranche deletes there (G2)': { story: 'del a:1 | gone a:1 | a:5 v1 - | del a:5', found: [] },
    'forgets a node in flight that is removed (G2)': { story: 'del a:1 | remove a | say v2 0 | wait 5000 | del b:2', found: [] },
    'uses the largest limit since the oldest node in flight (G2)': {
      story: 'limit 2 | del a:1 | limit 1 | gone a:1 | del b:2',
      found: [],
    },
    'finds a limit that was never declared (G2)': { story: 'limit 3 | del a:1', found: ['G2 a'] },
    'waits for minReadySeconds (G2)': {
      story: 'ready-for 5 | wait 9000 | del a:1 | gone a:1 | a:5 v2 + | wait 4000 | del b:2',
      found: ['G2 b', 'G1 b'],
    },
    'treats a pod as available after minReadySeconds (G2)': {
      story: 'ready-for 5 | wait 9000 | del a:1 | gone a:1 | a:5 v2 + | wait 6000 | del b:2',
      found: [],
    },
    'counts nodes broken by other causes in addition to a Ready pod (G1)': { story: 'c:3 v1 - | wait 2000 | del a:1', found: ['G1 a'] },
    'allows a deletion of a pod that is not Ready in addition (G1)': {
      story: 'c:3 v1 - | a:1 v1 - | wait 2000 | del a:1',
      found: [],
    },
    'ignores damage that no watch can have reported yet (G1)': { story: 'c:3 v1 - | wait 100 | del a:1', found: [] },
    'finds one deletion too many for the batch (G3)': {
      story: 'say v2 3 | del a:1 | gone a:1 | a:5 v2 + | wait 2000 | del b:2',
      found: ['G3 b'],
    },
    'counts leaked nodes against the batch (G3)': {
      story: 'say v2 3 | c:3! | c:6 v2 + | wait 2000 | del a:1',
      found: ['G3 a'],
    },
    'finds a deletion without an order (G3)': { story: 'say nothing | del a:1', found: ['G3 a'] },
    'finds a pod of the revision being released (G4)': { story: 'a:1! | a:5 v2 + | wait 2000 | del a:5', found: ['G4 a'] },
    'finds a pod that is already terminating (G4)': { story: 'a:1 v1 x | wait 2000 | del a:1', found: ['G4 a'] },
    'finds a pod of another DaemonSet (G4)': { story: 'a:9 foreign + | del a:9', found: ['G4 a'] },
    'finds a deletion after the acknowledgement of a pause (G9)': {
      story: 'pause asked | pause said | del a:1',
      found: ['G9 a'],
    },
    'allows a deletion before the acknowledgement (G9)': { story: 'pause asked | del a:1', found: [] },
    'does not mistake an older acknowledgement for that of a new pause (G9)': {
      story: 'pause asked | pause said | pause lifted | pause asked | del a:1',
      found: [],
    },
    'finds a deletion after the Rollout is gone (G9)': { story: 'pause deleted | del a:1', found: ['G9 a'] },
    'ignores the deletions of other clients': { story: 'pause asked | pause said | a:1! | b:2!', found: [] },
  }

  it.each(Object.entries(cases))('%s', (_name, { story, found }) => {
    const breaches = findBreaches(recordingOf(`${start} | ${story}`), { daemonSet: 'agent', isOurs: (actor) => actor === 'executor' })
    expect(breaches.map(({ guarantee, node }) => `${guarantee} ${node}`)).toEqual(found)
  })

  it('names the time, the node and the amount', () => {
    const [breach] = findBreaches(recordingOf(`${start} | limit 3 | wait 90 | del a:1`), {
      daemonSet: 'agent',
      isOurs: (actor) => actor === 'executor',
    })
    expect(breach).toEqual({
      guarantee: 'G2',
      atMs: 91,
      node: 'a',
      text: 'the limit is 3, but the DaemonSet allowed at most 2 when it was set',
    })
  })

  it('ignores the writes of other clients if watches never deliver', () => {
    const query = { daemonSet: 'agent', isOurs: (actor: string) => actor === 'executor', watchLagMs: Number.POSITIVE_INFINITY }
    expect(findBreaches(recordingOf(`${start} | c:3 v1 - | wait 99000 | del a:1`), query)).toEqual([])
  })
})

it('counts the deletions of Tranche', () => {
  const writes = recordingOf(`${start} | del a:1 | gone a:1 | b:2! | del c:3`)
  expect(countDeletions(writes, { daemonSet: 'agent', isOurs: (actor) => actor === 'executor' })).toBe(2)
})

/**
 * A story as a recording, one millisecond a word:
 *
 * - `a:1 v1 +` is pod 1 on node a at revision v1, Ready (`-` not Ready, `x` terminating); `gone a:1` is its end;
 * - `a:1!` is a deletion by another client, and `del a:1` one by Tranche;
 * - `say v2 1` publishes revision and partition, and `limit 1` sets the limit of the record.
 */
function recordingOf(story: string): RecordedWrite[] {
  const writes: RecordedWrite[] = []
  const preconditions = { uid: 'as it was', resourceVersion: 'as it was' }
  const pods = new Map<string, Readonly<Record<string, unknown>>>()
  let t = -9
  let generation = 1
  let daemonSet: Readonly<Record<string, unknown>> = { name: 'agent', strategy: { rollingUpdate: { maxUnavailable: 2 } } }
  const write = (
    kind: string,
    type: RecordedWrite['type'],
    o: Readonly<Record<string, unknown>>,
    verb = 'update',
    actor = 'kubelet',
  ): void => void writes.push({ t, rv: writes.length + 1, kind, type, o, verb, actor, ...(actor === 'executor' && { preconditions }) })

  for (const sentence of story.split(' | ')) {
    t++
    const [word = '', first = '', second = ''] = sentence.split(' ')
    if (word === 'wait') t += Number(first)
    else if (word === 'nodes') for (const name of sentence.split(' ').slice(1)) write('Node', 'ADDED', { name })
    else if (word === 'remove') write('Node', 'DELETED', { name: first }, 'delete')
    else if (word === 'limit')
      write('BatchRelease', 'MODIFIED', { spec: { workloadRef: { name: 'agent' } }, status: { flight: { limit: Number(first) } } })
    else if (word === 'pause') writeRollout(first)
    else if (word === 'say' || word === 'ready-for') writeDaemonSet(word, first, second)
    else writePod(word, first, second)
  }
  return writes

  function writeDaemonSet(word: string, first: string, second: string): void {
    const annotations = {
      'rollouts.kruise.io/daemonset-canary-revision': first,
      'rollouts.kruise.io/daemonset-partition': second,
    }
    daemonSet =
      word === 'ready-for'
        ? { ...daemonSet, minReadySeconds: Number(first) }
        : { ...daemonSet, annotations: first === 'nothing' ? {} : annotations }
    write('DaemonSet', 'MODIFIED', daemonSet)
  }

  function writeRollout(what: string): void {
    if (what === 'asked' || what === 'lifted') generation++
    const said = what === 'said'
    write('Rollout', what === 'deleted' ? 'DELETED' : 'MODIFIED', {
      metadata: { name: 'agent', generation },
      spec: { workloadRef: { name: 'agent' }, strategy: { paused: what === 'asked' || said } },
      status: {
        observedGeneration: said ? generation : generation - 1,
        conditions: said || what === 'asked' ? [{ type: 'Progressing', reason: 'Paused' }] : [],
      },
    })
  }

  function writePod(word: string, first: string, second: string): void {
    const [node = '', uid = ''] = (word === 'del' || word === 'gone' ? first : word).replace('!', '').split(':')
    const known = pods.get(uid)
    const base = known ?? { name: `p${uid}`, uid, node, owner: first === 'foreign' ? 'other' : 'agent', hash: first, deleting: false }
    if (word === 'del') return write('Pod', 'MODIFIED', remember(uid, { ...base, ready: false, deleting: true }), 'delete', 'executor')
    if (word === 'gone' || word.endsWith('!')) return write('Pod', 'DELETED', { ...base, deleting: true }, 'delete')
    write('Pod', 'MODIFIED', remember(uid, { ...base, ready: second === '+', deleting: second === 'x' }))
  }

  function remember(uid: string, pod: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    pods.set(uid, pod)
    return pod
  }
}
