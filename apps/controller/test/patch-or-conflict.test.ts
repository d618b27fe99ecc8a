import { type JsonPatchOperation, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { describe, expect, it } from 'vitest'
import { patchOrConflict } from '../src/ports/patch-or-conflict.ts'

const message = { op: 'add', path: '/status/message', value: 'written since' } as const

describe('a patch of one of our objects', () => {
  it.each<[string, object | undefined, readonly object[]]>([
    [
      'tests the permit record of a BatchRelease, which other CRDs lack (F11)',
      { flight: { workloadUid: 'ds', epoch: 3 }, phase: 'Progressing' },
      [{ op: 'test', path: '/status/flight/workloadUid', value: 'ds' }],
    ],
    [
      'tests the digest of the stable template of a Rollout (F11, G12)',
      { stableDigest: 'sha', phase: 'Healthy' },
      [{ op: 'test', path: '/status/stableDigest', value: 'sha' }],
    ],
    ['tests nothing if the status has nothing to remember', { phase: 'Initial' }, []],
    ['tests nothing without a status', undefined, []],
  ])('%s', async (_title, status, tests) => {
    const sent: (readonly JsonPatchOperation[])[] = []
    const client = {
      patch: async (_resource: unknown, _key: unknown, { body }: { readonly body: readonly JsonPatchOperation[] }) => void sent.push(body),
    } as unknown as KubeClient
    const object = {
      metadata: { namespace: 'demo', name: 'agent', uid: 'u', resourceVersion: '1' },
      ...(status !== undefined && { status }),
    }
    await patchOrConflict(client, resourcePaths.batchReleases, object, [message], {})
    expect(sent).toEqual([[...tests, message]])
  })
})
