import type { BatchRelease } from '@tranche/api-schema'
import { type KubeClient, KubeStatusError } from '@tranche/kube-client'
import { expect, it } from 'vitest'
import { createRolloutPort, type RolloutPortParts } from '../src/ports/rollout-port.ts'

function release(generation: number, { uid = 'u', workloadUid = 'ds' }: { readonly uid?: string; readonly workloadUid?: string } = {}) {
  const metadata = { namespace: 'demo', name: 'agent', uid, resourceVersion: '1', generation }
  return { metadata, spec: {}, status: { flight: { workloadUid } } } as unknown as BatchRelease
}

it.each([
  ['rejected for its content if it has not changed', release(4), 'API_REFUSED'],
  ['a lost race if its spec has changed', release(5), 'WRITE_CONFLICT'],
  ['a lost race if its record has changed', release(4, { workloadUid: 'other' }), 'WRITE_CONFLICT'],
  ['a lost race if it was created again', release(4, { uid: 'other' }), 'WRITE_CONFLICT'],
] as const)('an update of a BatchRelease that the API server answers with 422 is %s', async (_what, live, code) => {
  const learnt: BatchRelease[] = []
  const client = {
    patch: async () => {
      throw new KubeStatusError({ attempt: 'PATCH', status: 422 })
    },
    get: async () => live,
  } as unknown as KubeClient
  const cluster = { overlay: { batchReleases: { learn: (one: BatchRelease) => void learnt.push(one) } } }
  const port = createRolloutPort({ client, cluster } as unknown as RolloutPortParts)
  const ended = port.updateRelease(release(4), {} as BatchRelease['spec'], new AbortController().signal)
  await expect(ended).rejects.toMatchObject({ code })
  expect(learnt).toEqual([live])
})
