import type { Pod } from '@tranche/kube-types'
import { judgeNode, type NodeVerdict } from '@tranche/sim-controllers'
import { describe, expect, it } from 'vitest'
import { daemonSet, type DaemonSetOptions, node, nowMs, pod } from './builders.ts'

interface Case {
  readonly name: string
  /** Pods on node `a`, each in the words of `pod`. */
  readonly pods: readonly string[]
  readonly daemonSet?: DaemonSetOptions
  readonly node?: 'missing' | 'NoSchedule' | 'NoExecute'
  /** Actions in short form: `create`, `remove 2`, `ended 1`, `release 1`; then the rolling state. */
  readonly want: string
}

const cases: readonly Case[] = [
  { name: 'an empty node gets a pod', pods: [], want: 'create; unavailable' },
  { name: 'one pod is right', pods: [''], want: 'settled' },
  { name: 'of several pods the first stays', pods: ['', '', ''], want: 'remove 2; unavailable' },
  { name: 'a terminating pod keeps its successor waiting', pods: ['terminating'], want: 'unavailable' },
  { name: 'a terminating pod that has ended does not', pods: ['terminating failed'], want: 'create; unavailable' },
  { name: 'a failed pod goes, and nothing is created yet', pods: ['failed unready'], want: 'ended 1; unavailable' },
  {
    name: 'a failed pod beside running ones goes with the duplicates',
    pods: ['failed unready', '', '', ''],
    want: 'remove 2; ended 1; unavailable',
  },
  { name: 'a succeeded pod goes', pods: ['succeeded unready'], want: 'ended 1; unavailable' },
  { name: 'pods that no longer match are released and replaced', pods: ['foreign', 'foreign'], want: 'create; release 2; unavailable' },
  { name: 'NoSchedule leaves a running pod', pods: [''], node: 'NoSchedule', want: 'settled' },
  { name: 'NoSchedule creates none', pods: [], node: 'NoSchedule', want: 'settled' },
  { name: 'NoExecute removes a running pod', pods: [''], node: 'NoExecute', want: 'remove 1; settled' },
  { name: 'a terminating pod is not removed again', pods: ['terminating'], node: 'NoExecute', want: 'unavailable' },
  { name: 'a bound pod on a vanished node is left alone', pods: [''], node: 'missing', want: 'settled' },
  {
    name: 'an unbound pod pinned to a vanished node is removed',
    pods: ['unbound unready'],
    node: 'missing',
    want: 'remove 1; unavailable',
  },
  { name: 'an old available pod may be replaced', pods: ['old'], want: 'candidate' },
  { name: 'an old pod that is not ready is replaced now', pods: ['old unready'], want: 'replaceNow' },
  { name: 'an old pod beside a new one counts as down', pods: ['old', ''], want: 'remove 1; unavailable' },
  { name: 'a new pod that is not ready counts as down', pods: ['unready'], want: 'unavailable' },
  { name: 'a new pod beside a terminating old one counts by itself', pods: ['old terminating', ''], want: 'settled' },
  { name: 'ready is not yet available', pods: ['readyFor=10'], daemonSet: { minReadySeconds: 15 }, want: 'unavailable; ripening' },
  { name: 'available at the very end of minReadySeconds', pods: ['readyFor=15'], daemonSet: { minReadySeconds: 15 }, want: 'settled' },
  {
    name: 'an old pod not ready for long enough is replaced now',
    pods: ['old readyFor=10'],
    daemonSet: { minReadySeconds: 15 },
    want: 'replaceNow; ripening',
  },
]

describe('judgeNode', () => {
  it.each(cases)('$name', ({ pods, daemonSet: options, node: state, want }) => {
    const taints = state === 'NoSchedule' || state === 'NoExecute' ? [{ key: 'gpu', effect: state }] : []
    const here = state === 'missing' ? undefined : node('a', {}, taints)
    const verdict = judgeNode(
      { daemonSet: daemonSet(options), hash: 'new' },
      here,
      pods.map((words) => pod('a', words)),
      nowMs,
    )
    expect(inShort(verdict)).toBe(want)
  })

  it('keeps the bound pod, then the older one, whatever its revision', () => {
    const [younger, older, unbound] = [pod('a'), pod('a', 'old older'), pod('a', 'older unbound')]
    const verdict = judgeNode({ daemonSet: daemonSet(), hash: 'new' }, node('a'), [unbound, younger, older], nowMs)
    expect(names(verdict.remove)).toEqual(names([younger, unbound]))
  })

  it('counts only the first pod towards the status', () => {
    const verdict = judgeNode({ daemonSet: daemonSet(), hash: 'new' }, node('a'), [pod('a'), pod('a', 'old older unready')], nowMs)
    expect(verdict.counts).toEqual({ desired: 1, current: 1, misscheduled: 0, ready: 0, available: 0, updated: 0 })
  })

  it('counts a pod where none should run as misscheduled', () => {
    const tainted = node('a', {}, [{ key: 'gpu', effect: 'NoSchedule' }])
    const verdict = judgeNode({ daemonSet: daemonSet(), hash: 'new' }, tainted, [pod('a')], nowMs)
    expect(verdict.counts).toEqual({ desired: 0, current: 0, misscheduled: 1, ready: 0, available: 0, updated: 0 })
  })

  it('counts nothing on a missing node', () => {
    const { counts } = judgeNode({ daemonSet: daemonSet(), hash: 'new' }, undefined, [pod('a')], nowMs)
    expect(Object.values(counts).every((count) => count === 0)).toBe(true)
  })
})

function inShort({ create, remove, ended, release, rolling, ripening }: NodeVerdict): string {
  const count = (word: string, pods: readonly Pod[]): string => (pods.length > 0 ? `${word} ${pods.length}` : '')
  const words = [create ? 'create' : '', count('remove', remove), count('ended', ended), count('release', release), rolling.kind]
  return [...words, ripening ? 'ripening' : ''].filter((word) => word !== '').join('; ')
}

function names(pods: readonly Pod[]): readonly string[] {
  return pods.map((one) => one.metadata.name)
}
