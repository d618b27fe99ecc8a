import type { KubeClient, ListOptions } from '@tranche/kube-client'
import type { DaemonSet, KubeObject } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { listCopies } from '../src/ports/pin/list-copies.ts'

const daemonSet = { metadata: { namespace: 'demo', name: 'agent', uid: 'u' } } as unknown as DaemonSet
const signal = new AbortController().signal

describe('the list of the copies of a DaemonSet', () => {
  it('asks for metadata, in small chunks, of the objects with its label', async () => {
    const { asked } = await listed(3)
    expect(asked).toMatchObject({ namespace: 'demo', labelSelector: 'tranche.dev/config-of=u', metadataOnly: true, chunk: 50 })
  })

  it('keeps no object that only has the label', async () => {
    expect((await listed(9)).copies).toMatchObject([{ name: 'a-0' }, { name: 'a-3' }, { name: 'a-6' }])
  })

  it('is whole with 500 objects', async () => {
    expect(await listed(500)).toMatchObject({ isCut: false, seen: 500 })
  })

  it('ends after 500 objects, says so, and keeps the copies among them', async () => {
    const { isCut, seen, copies } = await listed(10_000)
    expect({ isCut, seen, kept: copies.length }).toEqual({ isCut: true, seen: 501, kept: 167 })
  })

  it('fails with an error of the API server', async () => {
    const client = { list: () => Promise.reject(new Error('503')) } as unknown as KubeClient
    await expect(listCopies(client, 'ConfigMap', daemonSet, signal)).rejects.toThrow('503')
  })
})

/** Every third object of the namespace is a copy. */
async function listed(objects: number) {
  let asked: ListOptions<unknown> | undefined
  let seen = 0
  const list = async (_path: unknown, options: ListOptions<unknown>): Promise<object> => {
    asked = options
    for (let at = 0; at < objects; at++) {
      seen++
      options.transform?.(objectAt(at))
    }
    return { items: [], resourceVersion: '1' }
  }
  const found = await listCopies({ list } as unknown as KubeClient, 'ConfigMap', daemonSet, signal)
  return { ...found, asked, seen }
}

function objectAt(at: number): KubeObject {
  const owned = { annotations: { 'tranche.dev/copy-of': 'a' }, ownerReferences: [{ uid: 'u' }] }
  const labels = { 'tranche.dev/config-of': 'u' }
  return { metadata: { name: `a-${at}`, uid: `${at}`, resourceVersion: '1', labels, ...(at % 3 === 0 && owned) } } as unknown as KubeObject
}
