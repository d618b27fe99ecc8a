import { createSharedClusterCache } from '@tranche/cluster'
import { FakeClock } from '@tranche/clock'
import type { KubeClient } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { type Logger, silentLogger } from '@tranche/telemetry'
import { expect, it } from 'vitest'

/** OpenKruise's definitions require no `spec`; such an object stays stored when those of Tranche are applied over them. */
const stored: Readonly<Record<string, readonly KubeObject[]>> = {
  rollouts: [rollout('tenant', {}), rollout('demo', { spec: { workloadRef: { kind: 'DaemonSet', name: 'agent' }, strategy: {} } })],
  batchreleases: [rollout('tenant', { spec: null }), rollout('demo', { spec: { workloadRef: { name: 'agent' }, releasePlan: {} } })],
}

function rollout(namespace: string, fields: object): KubeObject {
  return { metadata: { namespace, name: 'agent', uid: namespace, resourceVersion: '3' }, ...fields }
}

it('a Rollout or BatchRelease without a spec is left out, logged once, and does not keep those of other namespaces from being read', async () => {
  const clock = new FakeClock()
  const ending = new AbortController()
  const lines: string[] = []
  const log: Logger = {
    ...silentLogger,
    error: ({ object, err }, message) => void lines.push(`${message}: ${String(object)}: ${(err as Error).message}`),
    child: () => log,
  }
  const client = {
    async list({ plural }: { readonly plural: string }, { transform }: { transform: (object: KubeObject) => unknown }) {
      return { items: (stored[plural] ?? []).map(transform).filter((one) => one !== null), resourceVersion: '5' }
    },
    async *watch(_resource: unknown, { signal }: { readonly signal: AbortSignal }) {
      yield { type: 'BOOKMARK', resourceVersion: '6' }
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  }
  const failed: unknown[] = []
  const cache = createSharedClusterCache({ client: client as unknown as KubeClient, clock, log })
  cache.start(ending.signal, (error) => failed.push(error))
  await clock.advanceAsync(0)
  const kept = [cache.rollouts, cache.batchReleases].map(({ synced, store }) => [
    synced,
    store.list().map(({ metadata }) => metadata.namespace),
  ])
  const refreshed = cache.rollouts.refresh(ending.signal)
  await clock.advanceAsync(1_000)
  await refreshed
  ending.abort(new Error('over'))
  expect(failed).toEqual([])
  expect(kept).toEqual([
    [true, ['demo']],
    [true, ['demo']],
  ])
  const line = 'left out an object that cannot be read: tenant/agent: it has no spec; add one, or delete it'
  expect(lines).toEqual([line, line])
})
