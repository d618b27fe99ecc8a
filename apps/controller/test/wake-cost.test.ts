import { controlledBy } from '@tranche/planner'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'
import { expect, it } from 'vitest'
import { cpuMs } from '../../../test/fakes/cpu-ms.ts'
import { wakeReaders } from '../src/wake.ts'

it('twenty changes of ConfigMaps in a namespace with twenty large DaemonSets keep the controller busy for less than a second', () => {
  const { cluster } = aNamespace(20)
  const beganMs = cpuMs()
  const woken: string[] = []
  for (let at = 0; at < 20; at++)
    wakeReaders(cluster, (key) => woken.push(key), ['tenant', { kind: 'ConfigMap', name: 'other' }, undefined])
  expect(cpuMs() - beganMs).toBeLessThan(1_000)
  expect(woken).toEqual([])
})

it('a change of a ConfigMap wakes exactly the Rollouts of DaemonSets that read it at that time', () => {
  const { cluster, daemonSets } = aNamespace(2)
  const wokenBy = (name: string): readonly string[] => {
    const woken: string[] = []
    wakeReaders(cluster, (key) => woken.push(key), ['tenant', { kind: 'ConfigMap', name }, undefined])
    return woken
  }
  expect(wokenBy('c7')).toEqual(['tenant/d0', 'tenant/d1'])
  daemonSets[0] = { ...daemonSets[0]!, spec: { template: { spec: {} } } }
  expect(wokenBy('c7')).toEqual(['tenant/d1'])
  expect(wokenBy('other')).toEqual([])
})

it('1,000 looks at a DaemonSet with a control-info of 256 KiB take less than 100 milliseconds', () => {
  const text = JSON.stringify({ name: 'a', uid: 'b', more: Array.from({ length: 60_000 }, () => ({})) })
  const daemonSet = { metadata: { annotations: { [daemonSetAnnotations.controlInfo]: text } }, spec: {} } as unknown as DaemonSet
  const beganMs = cpuMs()
  for (let at = 0; at < 1_000; at++) expect(controlledBy(daemonSet)?.name).toBe('a')
  expect(cpuMs() - beganMs).toBeLessThan(100)
})

type Cluster = Parameters<typeof wakeReaders>[0]

/** DaemonSets of about 1 MB, as the API server stores them, each with a Rollout of its name. */
function aNamespace(count: number): { readonly cluster: Cluster; readonly daemonSets: DaemonSet[] } {
  const env = Array.from({ length: 12_000 }, (_, at) => ({
    name: `V${at}`,
    valueFrom: { configMapKeyRef: { name: `c${at % 100}`, key: 'k' } },
  }))
  const template = { spec: { nodeSelector: { none: 'x' }, containers: [{ name: 'a', image: 'a', env }] } }
  const names = Array.from({ length: count }, (_, at) => `d${at}`)
  const daemonSets = names.map((name) => {
    const metadata = { namespace: 'tenant', name, uid: name }
    return JSON.parse(JSON.stringify({ metadata, spec: { template } })) as DaemonSet
  })
  const cluster = {
    daemonSets: {
      store: { list: () => daemonSets, get: ({ name: one }: { name: string }) => daemonSets.find(({ metadata }) => metadata.name === one) },
    },
    rollouts: {
      store: {
        get: ({ name }: { name: string }) => aRollout(name),
        byIndex: (_index: string, key: string) => [aRollout(key.split('/')[1] ?? '')],
      },
    },
    batchReleases: { store: { byIndex: () => [] } },
  }
  return { cluster: cluster as unknown as Cluster, daemonSets }
}

function aRollout(name: string): object {
  const workloadRef = { apiVersion: 'apps/v1', kind: 'DaemonSet', name }
  return {
    metadata: { namespace: 'tenant', name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { workloadRef, strategy: {} },
  }
}
