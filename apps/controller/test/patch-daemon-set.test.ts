import type { WatchedCluster } from '@tranche/cluster'
import { type KubeClient, KubeStatusError } from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { patchDaemonSet } from '../src/ports/patch-daemon-set.ts'

const version = (resourceVersion: string): DaemonSet =>
  ({ metadata: { namespace: 'demo', name: 'agent', uid: 'u', resourceVersion } }) as unknown as DaemonSet
const failed = (status: number): KubeStatusError => new KubeStatusError({ attempt: 'PATCH', status })

describe('a patch of a DaemonSet', () => {
  it.each<[string, Partial<Record<'patch' | 'get', DaemonSet | KubeStatusError>>, string | undefined, readonly string[]]>([
    ['learns what was written', { patch: version('2') }, undefined, ['2']],
    [
      'learns the present DaemonSet after a lost race, and is decided again',
      { patch: failed(422), get: version('3') },
      'WRITE_CONFLICT',
      ['3'],
    ],
    [
      'says that its content was rejected if the DaemonSet has not changed',
      { patch: failed(422), get: version('1') },
      'API_REFUSED',
      ['1'],
    ],
    ['learns nothing if the DaemonSet is gone', { patch: failed(404), get: failed(404) }, 'WRITE_CONFLICT', []],
    ['leaves the watch to catch up if it cannot be read', { patch: failed(422), get: failed(500) }, 'WRITE_CONFLICT', []],
    ['reads nothing after another failure', { patch: failed(403) }, 'API_REFUSED', []],
  ])('%s', async (_title, answers, code, versions) => {
    const learnt: string[] = []
    const answer = (call: 'patch' | 'get') => async () => {
      const given = answers[call]
      if (given === undefined) throw new Error(`${call} was not expected`)
      if (given instanceof KubeStatusError) throw given
      return given
    }
    const client = { patch: answer('patch'), get: answer('get') } as unknown as KubeClient
    const overlay = { daemonSets: { learn: ({ metadata }: DaemonSet) => void learnt.push(metadata.resourceVersion) } }
    const parts = { client, overlay: overlay as unknown as WatchedCluster['overlay'] }
    const ended = patchDaemonSet(parts, version('1'), [], new AbortController().signal)
    await expect(
      ended.then(
        () => undefined,
        (error: { readonly code?: string }) => error.code,
      ),
    ).resolves.toBe(code)
    expect(learnt).toEqual(versions)
  })
})
