import { PINNED_CONFIG_ANNOTATION, RECORDED_COPIES_ANNOTATION } from '@tranche/config'
import { type KubeClient, KubeStatusError, type ListOptions } from '@tranche/kube-client'
import type { DaemonSet, KubeObject, ObjectKey } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { createForeignNames } from '../src/ports/pin/foreign-names.ts'
import { readPinView } from '../src/ports/pin/read-pin-view.ts'

const MIB = 1024 * 1024
const signal = new AbortController().signal
const COPIES = 60

describe('copies that a template names, and whose names do not say what they hold', () => {
  it.each([
    ['in a list', true],
    ['beyond a list of 500', false],
  ])('%s are read eight at a time, and no more than 48 MiB of them are kept', async (_, isListed) => {
    const world = aWorld(isListed)
    const parts = { client: world.client, kinds: ['ConfigMap'] as const, taken: createForeignNames(() => 'salt') }
    const { copies } = await readPinView(parts, { daemonSet, revisions: [] }, signal)
    const named = copies.filter(({ name }) => name.startsWith('copy-'))
    expect(named).toHaveLength(COPIES)
    expect(named.filter(({ content }) => content !== undefined)).toHaveLength(48)
    expect(world.most).toBe(8)
  })
})

const names = Array.from({ length: COPIES }, (_, at) => String(at))
const daemonSet = {
  metadata: {
    ...{ namespace: 'demo', name: 'agent', uid: 'u', generation: 1 },
    annotations: { [RECORDED_COPIES_ANNOTATION]: names.map((at) => `copy-${at}`).join(',') },
  },
  spec: {
    template: {
      metadata: { annotations: { [PINNED_CONFIG_ANNOTATION]: names.map((at) => `ConfigMap/c${at}=copy-${at}`).join(',') } },
      spec: { containers: [{ name: 'a', envFrom: names.map((at) => ({ configMapRef: { name: `c${at}` } })) }] },
    },
  },
} as unknown as DaemonSet

interface CopyWorld {
  readonly client: KubeClient
  /** Largest number of reads at a time. */
  most: number
}

/** Small objects, and a copy of 1 MiB of each, which another client made with a salt of its own. */
function aWorld(isListed: boolean): CopyWorld {
  const world = { most: 0 }
  let open = 0
  const get = async (_path: unknown, { name }: ObjectKey): Promise<object> => {
    world.most = Math.max(world.most, ++open)
    await Promise.resolve()
    open--
    if (name.startsWith('copy-')) return { ...copyAt(name.slice(5)), immutable: true, data: { text: 'x'.repeat(MIB) } }
    if (/^c\d+$/.test(name)) return { metadata: { name, uid: name, resourceVersion: '1' }, data: { text: 'x' } }
    throw new KubeStatusError({ attempt: 'it', status: 404 })
  }
  const list = async (_path: unknown, { transform }: ListOptions<unknown>): Promise<object> => {
    const others = Array.from({ length: 501 }, () => ({ metadata: { name: 'other', uid: 'o', resourceVersion: '1' } }))
    for (const object of isListed ? names.map(copyAt) : others) transform?.(object as unknown as KubeObject)
    return { items: [], resourceVersion: '1' }
  }
  return Object.assign(world, { client: { get, list } as unknown as KubeClient })
}

function copyAt(at: string): Pick<KubeObject, 'metadata'> {
  const annotations = { 'tranche.dev/copy-of': `c${at}`, 'tranche.dev/copy-salt': 'salt' }
  const labels = { 'tranche.dev/config-of': 'u' }
  const metadata = { name: `copy-${at}`, uid: `copy-${at}`, resourceVersion: '1', labels, annotations, ownerReferences: [{ uid: 'u' }] }
  return { metadata } as unknown as Pick<KubeObject, 'metadata'>
}
