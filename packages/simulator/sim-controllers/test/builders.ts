import type { DaemonSet, Node, Pod, PodPlacement, Taint } from '@tranche/kube-types'

/** Wall time at which tests of pure functions judge. */
export const nowMs = Date.parse('2026-01-01T00:10:00Z')

let uids = 0

export function node(name: string, labels: Readonly<Record<string, string>> = {}, taints: readonly Taint[] = []): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name, resourceVersion: '1', labels }, spec: { taints } }
}

export interface DaemonSetOptions {
  readonly placement?: PodPlacement
  readonly minReadySeconds?: number
  readonly updateStrategy?: NonNullable<DaemonSet['spec']['updateStrategy']>
  readonly generation?: number
  readonly annotations?: Readonly<Record<string, string>>
}

export function daemonSet({ placement, generation = 1, annotations, ...spec }: DaemonSetOptions = {}): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'demo', uid: 'ds', resourceVersion: '1', generation, ...(annotations && { annotations }) },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'agent', image: 'agent:v1' }], ...placement } },
      ...spec,
    },
  }
}

/**
 * A pod of the DaemonSet from words: `old` or `new` revision, `unready` `ready`, `readyFor=20` seconds, `terminating`,
 * `failed` `succeeded`, `unbound`, `foreign` labels, `older`. Without words: of the new revision, bound and ready for long.
 */
export function pod(nodeName: string, words = ''): Pod {
  const has = (word: string): boolean => words.split(' ').includes(word)
  const readyFor = Number(/readyFor=(\d+)/.exec(words)?.[1] ?? 600)
  const since = new Date(nowMs - readyFor * 1000).toISOString().replace('.000Z', 'Z')
  const phase = has('failed') ? 'Failed' : has('succeeded') ? 'Succeeded' : 'Running'
  const pin = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [pinTerm(nodeName)] } } }
  const uid = `pod-${++uids}`
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: uid,
      namespace: 'demo',
      uid,
      resourceVersion: '1',
      creationTimestamp: has('older') ? '2025-01-01T00:00:00Z' : '2025-06-01T00:00:00Z',
      labels: { app: has('foreign') ? 'other' : 'agent', 'controller-revision-hash': has('old') ? 'old' : 'new' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'ds', controller: true }],
      ...(has('terminating') && { deletionTimestamp: '2026-01-01T00:10:30Z' }),
    },
    spec: { ...(has('unbound') ? {} : { nodeName }), affinity: pin },
    status: { phase, conditions: [{ type: 'Ready', status: has('unready') ? 'False' : 'True', lastTransitionTime: since }] },
  }
}

function pinTerm(nodeName: string): NonNullable<unknown> {
  return { matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }
}
