import { VirtualClock } from '@tranche/clock'
import { createRoomReader } from '@tranche/cluster'
import type { KubeClient, ListOptions } from '@tranche/kube-client'
import type { DaemonSet, KubeObject } from '@tranche/kube-types'
import { expect, it } from 'vitest'
import { cpuMs } from '../../../../test/fakes/cpu-ms.ts'

const node = { metadata: { name: 'n1', uid: 'n1', labels: {} }, spec: {}, status: { allocatable: { cpu: '4', pods: '110' } } }
const daemonSet = {
  metadata: { namespace: 'demo', name: 'agent', uid: 'x' },
  spec: { selector: { matchLabels: { app: 'a' } }, template: { spec: asking('1') } },
} as unknown as DaemonSet

it('ten pending pods of a megabyte keep an executor busy for less than a second', async () => {
  const nodeSelector = Object.fromEntries(Array.from({ length: 90_000 }, (_, key) => [`a${key}`, 'b']))
  const pods = Array.from({ length: 10 }, (_, at) => pendingPod(at, { nodeSelector, containers: [] }))
  const read = readerOf(pods)
  const beganMs = cpuMs()
  for (let at = 0; at < 10; at++) expect(await read()).toBeNull()
  expect(cpuMs() - beganMs).toBeLessThan(1_000)
})

it.each([0, 1, 2_500, 4_999])('of 5,000 pending pods, the one of the highest priority counts as the %s. of the list', async (index) => {
  const pods = Array.from({ length: 5_000 }, (_, at) => pendingPod(at, at === index ? { ...asking('4'), priority: 7 } : asking('0')))
  expect(await readerOf(pods)()).toContain('a pending pod of another namespace, of priority 7, would take')
})

it('of 1,001 pending pods, the one of the lowest priority does not count', async () => {
  const pods = Array.from({ length: 1_001 }, (_, at) => pendingPod(at, at === 0 ? asking('4') : { ...asking('5'), priority: 1 }))
  expect(await readerOf(pods)()).toBeNull()
  expect(await readerOf(pods.slice(0, 1_000))()).toContain('a pending pod of another namespace, of priority 0, would take')
})

it('a pending pod counts once where the list is read again', async () => {
  const pods = [pendingPod(0, asking('2'))]
  expect(await readerOf([...pods, ...pods])()).toBeNull()
})

function asking(cpu: string): object {
  return { containers: [{ name: 'a', resources: { requests: { cpu } } }] }
}

/** A pod that a tenant with `create pods` in its own namespace leaves pending. */
function pendingPod(at: number, spec: object): KubeObject {
  const metadata = { namespace: 'tenant', name: `p${at}`, uid: `p${at}` }
  return JSON.parse(JSON.stringify({ metadata, spec, status: { phase: 'Pending' } })) as KubeObject
}

function readerOf(pods: readonly KubeObject[]): () => Promise<string | null> {
  const client = {
    get: () => Promise.resolve(node),
    list({ plural }: { plural: string }, { fieldSelector = '', transform = (one) => one }: ListOptions<unknown>) {
      const isPending = plural === 'pods' && fieldSelector.includes('Pending')
      const items = isPending ? pods.map(transform).filter((one) => one !== null) : []
      return Promise.resolve({ items, resourceVersion: '1' })
    },
  }
  const room = createRoomReader(client as unknown as KubeClient, new VirtualClock())
  return () => room.read(daemonSet, 'n1', new AbortController().signal)
}
