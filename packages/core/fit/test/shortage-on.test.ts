import { type PodToCome, shortageOn, toPendingPod, type PendingPod } from '@tranche/fit'
import type { Node, Pod } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'

const node = {
  metadata: { name: 'n1', uid: 'n1', labels: { 'kubernetes.io/hostname': 'n1' } },
  spec: { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] },
  status: { allocatable: { cpu: '4', pods: '10' } },
} as unknown as Node

const owner = { metadata: { namespace: 'demo', uid: 'agent' }, spec: { selector: { matchLabels: { app: 'agent' } } } }
const ours: PodToCome = { owner, spec: asking('1'), priority: 10 }

describe('the shortage on a node', () => {
  it.each<[sentence: string, pods: readonly Pod[], shortage: string | null]>([
    ['is none where the rest is free', [pod('a', asking('3'))], null],
    ['is what others request', [pod('a', asking('3500m'))], 'no room for the new pod: cpu: 1 requested, 500m of 4 free'],
    ['counts no pod of the DaemonSet, which leaves before', [pod('a', asking('3')), pod('old', asking('4'), 'agent')], null],
    [
      'counts a pod of another namespace that names the DaemonSet as its owner (F15)',
      [inNamespace('tenant', pod('forged', asking('4'), 'agent'))],
      'no room for the new pod: cpu: 1 requested, 0 of 4 free',
    ],
    ['counts the pod of another DaemonSet', [pod('a', asking('4'), 'other')], 'no room for the new pod: cpu: 1 requested, 0 of 4 free'],
    [
      'counts no pod that has ended',
      [
        { ...pod('a', asking('4')), status: { phase: 'Succeeded' } },
        { ...pod('b', asking('4')), status: { phase: 'Failed' } },
      ],
      null,
    ],
    ['counts no helper pod of the DaemonSet, which is deleted before', [helper(pod('a', asking('3500m')))], null],
    [
      'counts a pod that has the label of helper pods and no BatchRelease as its controller',
      [{ ...helper(pod('forged', asking('4'))), metadata: { ...helper(pod('forged', asking('4'))).metadata, ownerReferences: [] } }],
      'no room for the new pod: cpu: 1 requested, 0 of 4 free',
    ],
    [
      'counts a pod of another namespace that has the label of helper pods',
      [helper(inNamespace('tenant', pod('forged', asking('4'))))],
      'no room for the new pod: cpu: 1 requested, 0 of 4 free',
    ],
  ])('%s', (_sentence, pods, shortage) => {
    expect(shortageOn({ node, pods, pending: [] }, ours)).toBe(shortage)
  })

  const tolerant = { tolerations: [{ key: 'dedicated', operator: 'Exists' }] }

  it.each<[sentence: string, spec: object, isTaken: boolean]>([
    ['a pod that may run there takes the room', { ...asking('4'), ...tolerant, priority: 10 }, true],
    ['a pod of lower priority does not', { ...asking('4'), ...tolerant, priority: 9 }, false],
    ['a pod that does not tolerate its taints does not', { ...asking('4'), priority: 10 }, false],
    [
      'a pod that asks for another node does not',
      { ...asking('4'), ...tolerant, priority: 10, nodeSelector: { 'kubernetes.io/hostname': 'n2' } },
      false,
    ],
  ])('where a pod waits: %s', (_sentence, spec, isTaken) => {
    const pending = [toPendingPod(pod('w', spec))!]
    const text = 'the pending pod w, of priority 10, would take the room of the new pod: cpu: 1 requested, 0 of 4 free'
    expect(shortageOn({ node, pods: [], pending }, ours)).toBe(isTaken ? text : null)
  })

  it.each<[sentence: string, present: readonly Pod[], policy: object, isTaken: boolean]>([
    ['that preempts others once the present pod is gone', [pod('old', { ...asking('1'), priority: 10 }, 'agent')], {}, true],
    ['unless its class forbids that', [pod('old', { ...asking('1'), priority: 10 }, 'agent')], { preemptionPolicy: 'Never' }, false],
    ['unless there is no present pod', [], {}, false],
    ['unless it could have preempted the present pod', [pod('old', { ...asking('1'), priority: 9 }, 'agent')], {}, false],
  ])('is what a pending pod takes %s', (_sentence, present, policy, isTaken) => {
    const pods = [pod('low', { ...asking('3'), priority: 1 }), ...present]
    const pending = [toPendingPod(pod('w', { ...asking('4'), ...tolerant, priority: 10, ...policy }))!]
    const shortage = shortageOn({ node, pods, pending }, ours)
    expect(shortage === null ? null : shortage.slice(0, 17)).toBe(isTaken ? 'the pending pod w' : null)
  })

  it('is none beside a pending pod of the DaemonSet, which the release deletes', () => {
    const pending = [toPendingPod(pod('old', { ...asking('4'), ...tolerant, priority: 10 }, 'agent'))!]
    expect(shortageOn({ node, pods: [], pending }, ours)).toBeNull()
  })

  it('is the port of a forged pod that waits for the node, not that of a pod of the DaemonSet (F15)', () => {
    const port = { containers: [{ ports: [{ hostPort: 9100 }] }] }
    const old = pod('old', { ...port, ...tolerant, priority: 10 }, 'agent')
    const forged = inNamespace('tenant', pod('forged', { ...port, ...tolerant, priority: 10 }, 'agent'))
    expect(shortageOn({ node, pods: [], pending: [toPendingPod(old)!] }, { ...ours, spec: port })).toBeNull()
    const both = [old, forged].map((one) => toPendingPod(one)!)
    expect(shortageOn({ node, pods: [], pending: both }, { ...ours, spec: port })).toContain('a pending pod of another namespace')
  })

  it('names no pod of another namespace', () => {
    const port = { containers: [{ ports: [{ hostPort: 9100 }] }] }
    const foreign = (name: string): Pod => inNamespace('tenant', pod(name, { ...port, ...tolerant, priority: 10 }))
    const asked = { ...ours, spec: port }
    expect(shortageOn({ node, pods: [foreign('secret-project')], pending: [] }, asked)).toBe(
      'no room for the new pod: TCP port 9100 is taken by a pod of another namespace',
    )
    expect(shortageOn({ node, pods: [], pending: [toPendingPod(foreign('secret-project'))!] }, asked)).toBe(
      'a pending pod of another namespace, of priority 10, would take the room of the new pod: TCP port 9100 is taken by a pod of another namespace',
    )
  })

  it('is none on a cordoned node for a pod that only other pods would take', () => {
    const cordoned = { ...node, spec: { unschedulable: true } }
    const pending = [toPendingPod(pod('w', { ...asking('4'), priority: 10 }))!]
    expect(shortageOn({ node: cordoned, pods: [], pending }, ours)).toBeNull()
  })

  const many = Array.from({ length: 1_000 }, (_, at) => `k${at}`)
  const requirement = { matchExpressions: many.map((key) => ({ key, operator: 'Exists' })) }
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [requirement] } }
  it.each<[sentence: string, spec: object]>([
    ['a node selector', { ...tolerant, nodeSelector: Object.fromEntries(many.map((key) => [key, 'v'])) }],
    ['an affinity', { ...tolerant, affinity: { nodeAffinity: required } }],
    ['tolerations', { tolerations: many.map((key) => ({ key, operator: 'Exists' })) }],
  ])('is what a pending pod would take, also where %s of a thousand entries may keep it from the node', (_sentence, spec) => {
    const pending = toPendingPod(pod('w', { ...asking('4'), ...spec, priority: 10 }))!
    expect(shortageOn({ node, pods: [], pending: [pending] }, ours)).toContain('the pending pod w, of priority 10, would take the room')
  })

  it('is none where a pending pod with a large affinity asks for another node by its node selector', () => {
    const where = { ...tolerant, affinity: { nodeAffinity: required }, nodeSelector: { 'kubernetes.io/hostname': 'n2' } }
    const pending = toPendingPod(pod('w', { ...asking('4'), ...where, priority: 10 }))!
    expect(shortageOn({ node, pods: [], pending: [pending] }, ours)).toBeNull()
  })
})

it('less than 32 KiB of a pending pod is kept', () => {
  const many = <T>(one: (at: number) => T): readonly T[] => Array.from({ length: 20_000 }, (_, at) => one(at))
  const labels = Object.fromEntries(many((at) => [`l${at}`, 'v']))
  const quantities = Object.fromEntries(many((at) => [`example.com/r${at}`, '1']))
  const large = pod('w', {
    nodeSelector: labels,
    tolerations: many((at) => ({ key: `k${at}` })),
    affinity: { podAffinity: labels, nodeAffinity: { preferred: labels, requiredDuringSchedulingIgnoredDuringExecution: labels } },
    containers: [{ env: many((at) => `e${at}`), resources: { requests: quantities }, ports: many((at) => ({ hostPort: at + 1 })) }],
  })
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'x'.repeat(1_000_000), uid: 'x', controller: true }
  const metadata = { ...large.metadata, labels, annotations: labels, ownerReferences: [owner] }
  const pending = toPendingPod({ ...large, metadata })!
  const text = JSON.stringify(pending, (_key, value: unknown) => (value instanceof Map ? [...value].map(String) : value))
  expect(text.length).toBeLessThan(32 * 1_024)
  expect(pending.demand.requests.get('pods')).toBe(1_000_000_000n)
})

it.each<[sentence: string, pod: Pod, waits: boolean]>([
  ['without a node', pod('a', {}), true],
  ['with a node', pod('a', { nodeName: 'n1' }), false],
  ['that is held back by a gate', pod('a', { schedulingGates: [{ name: 'quota' }] }), false],
  ['that is being deleted', { ...pod('a', {}), metadata: { ...pod('a', {}).metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }, false],
  ['that has failed before it had a node', { ...pod('a', {}), status: { phase: 'Failed' } }, false],
])('a pod %s waits for one: %#', (_sentence, given, waits) => {
  const pending: PendingPod | null = toPendingPod(given)
  expect(pending !== null).toBe(waits)
})

const byRelease = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', name: 'agent', uid: 'r1', controller: true }

function helper(one: Pod): Pod {
  return { ...one, metadata: { ...one.metadata, labels: { 'tranche.dev/pre-pull': 'abc' }, ownerReferences: [byRelease] } }
}

function inNamespace(namespace: string, given: Pod): Pod {
  return { ...given, metadata: { ...given.metadata, namespace } }
}

function asking(cpu: string): object {
  return { containers: [{ resources: { requests: { cpu } } }] }
}

function pod(name: string, spec: object, ownerUid?: string): Pod {
  const ownerReferences =
    ownerUid === undefined ? [] : [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'x', uid: ownerUid, controller: true }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'demo', name, uid: name, resourceVersion: '1', labels: { app: 'agent' }, ownerReferences },
    spec,
  } as unknown as Pod
}
