import { describe } from 'vitest'
import { fleet, judgeEach, type Script } from '../script.ts'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

/** The fleet under a policy with `downtime.perDay` that every process has seen for a while. */
function under(tranche: object): () => Script {
  return () => ordered(fleet(), tranche).wait(MINUTE)
}

function ordered(script: Script, tranche: object): Script {
  return script.order({ spec: { tranche } }).seen('executor-1', ['pods', 'nodes', 'daemonsets', 'batchreleases'])
}

/** We delete the pod of node a, and the next one is available after that time; it is old as well. */
function replaced(script: Script, ms: number, uid = 'a1'): Script {
  return again(script.del(uid).wait(ms).replace(uid, { hash: 'v1' }), uid)
}

/** As {@link replaced}, but the pod was Ready after a second, and its kubelet said so that much later. */
function reportedLate(script: Script, ms: number): Script {
  const readyAt = new Date(script.nowMs + 1_000).toISOString()
  return again(script.del('a1').wait(ms).replace('a1', { hash: 'v1', readyAt }), 'a1')
}

/** The new pod of node a has been Ready for a while and has a permit. */
function again(script: Script, uid: string): Script {
  return script
    .record({}, `${uid}'`)
    .seen('executor-1', ['pods', 'nodes', 'daemonsets', 'batchreleases'])
    .wait(2 * MINUTE)
}

const tenMinutes = { downtime: { perDay: '10m' } }

/** The DaemonSet is deleted, and another one of its name adopts the pods. */
function recreated(script: Script): Script {
  const { o } = script.recording().writes.findLast(({ kind }) => kind === 'DaemonSet')!
  return script.daemonSet({}, 'user', { type: 'DELETED', verb: 'delete' }).daemonSet(o).seen('executor-1', ['pods', 'daemonsets'])
}

describe('a pod, where the policy limits the downtime in a day', () => {
  judgeEach(
    'G4',
    [
      ['goes for the first time', (s) => s.del('a1'), []],
      ['goes while less than allowed was used', (s) => replaced(s, 9 * MINUTE).del("a1'"), []],
      ['stays once what is allowed was used', (s) => replaced(s, 11 * MINUTE).del("a1'"), ['G4 a']],
      ['goes where the downtime was that of another node', (s) => replaced(s, 11 * MINUTE).del('b1'), []],
      [
        'goes once the downtime is a day ago',
        (s) =>
          replaced(s, 11 * MINUTE)
            .wait(DAY)
            .del("a1'"),
        [],
      ],
      [
        'goes where the downtime was that of a deleted DaemonSet of the same name',
        (s) => recreated(replaced(s, 11 * MINUTE)).del("a1'"),
        [],
      ],
      ['goes while it is not Ready', (s) => unready(replaced(s, 11 * MINUTE)).del("a1'"), []],
      [
        'goes while it is not available by a minReadySeconds that was raised',
        (s) =>
          replaced(s, 11 * MINUTE)
            .daemonSet({ minReadySeconds: 600, generation: 2, observed: 2 })
            .del("a1'"),
        [],
      ],
      ['goes where the kubelet reported late that the agent was back', (s) => reportedLate(s, 11 * MINUTE).del("a1'"), []],
      ['may be deleted by others', (s) => replaced(s, 11 * MINUTE).gone("a1'"), []],
      ['stays after two downtimes together', (s) => replaced(replaced(s, 6 * MINUTE), 6 * MINUTE, "a1'").del("a1''"), ['G4 a']],
      [
        'goes in a rollback',
        (s) =>
          ordered(replaced(s, 11 * MINUTE), { ...tenMinutes, canaryRevision: 'v2', stableRevision: 'v2' })
            .wait(MINUTE)
            .del("a1'"),
        [],
      ],
      [
        'stays where the release deleted a pod while the agent was away because of a rollback',
        (s) => replaced(afterRollback(s), 11 * MINUTE, "a1'").del("a1''"),
        ['G4 a'],
      ],
      [
        'goes once the policy allows more',
        (s) =>
          ordered(replaced(s, 11 * MINUTE), { downtime: { perDay: '1h' } })
            .wait(MINUTE)
            .del("a1'"),
        [],
      ],
      [
        'goes where the node was created again',
        (s) =>
          replaced(s, 11 * MINUTE)
            .removeNode('a')
            .node('a')
            .wait(MINUTE)
            .del("a1'"),
        [],
      ],
      ['stays where the process was frozen before the deletion', (s) => frozen(replaced(s, 11 * MINUTE), 3 * MINUTE), ['G4 a']],
    ],
    { begin: under(tenMinutes) },
  )
  judgeEach('G4', [['goes where the policy has no limit', (s) => replaced(s, 11 * MINUTE).del("a1'"), []]], { begin: under({}) })
  judgeEach('G4', [['goes where the clock of the server was set meanwhile', (s) => replaced(s, 11 * MINUTE).del("a1'"), []]], {
    begin: under(tenMinutes),
    query: (s) => ({ clockSteps: [{ atMs: s.nowMs - 5 * MINUTE, ms: 3_600_000 }] }),
  })
})

/** A rollback has deleted the pod of node a, whose next pod is not Ready when another version comes. */
function afterRollback(script: Script): Script {
  const away = ordered(script, { ...tenMinutes, canaryRevision: 'v2', stableRevision: 'v2' })
    .wait(MINUTE)
    .del('a1')
    .wait(MINUTE)
  return again(ordered(away.replace('a1', { hash: 'v1', ready: false }), { ...tenMinutes, canaryRevision: 'v3' }), 'a1')
}

/** The new pod of node a is not Ready any more. */
function unready(script: Script): Script {
  return again(script.pod("a1'", { ready: false }), 'a1')
}

/** Decided now, and sent later. */
function frozen(script: Script, ms: number): Script {
  const sent = script.nowMs
  return script.wait(ms).del("a1'", { sent })
}
