import type { Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { afterEach, describe, expect, it } from 'vitest'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }
const MANY = 60

/** A tenant with one DaemonSet that many Rollouts name. */
async function setTenant(): Promise<void> {
  stage = await setStage({ nodes: 5, records: false, counts: true })
  const { client } = stage
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant' } })
  const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'x', image: 'registry.example/x:v1' }] } }
  const spec = { selector: { matchLabels: { app: 'x' } }, updateStrategy: { type: 'OnDelete' }, template }
  await client.create(resourcePaths.daemonSets, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'tenant', name: 'x' },
    spec,
  })
  for (let at = 0; at < MANY; at++) await client.create(resourcePaths.rollouts, rolloutManifest(`r-${100 + at}`))
  await stage.until('all have a status', async () => (await tenantRollouts()).every(({ status }) => status?.phase !== undefined))
  await stage.pass(60_000)
}

function rolloutManifest(name: string): object & { metadata: { name: string } } {
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: { namespace: 'tenant', name },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'x' },
      strategy: { canary: { steps: [{ replicas: '100%' }] } },
    },
  } as never
}

async function tenantRollouts(): Promise<readonly Rollout[]> {
  return (await stage.client.list<Rollout>(resourcePaths.rollouts, { namespace: 'tenant' })).items
}

/** Number of passes over Rollouts so far. */
async function passes(): Promise<number> {
  const text = (await stage.scrape('controller-1')) ?? ''
  const counts = [...text.matchAll(/^tranche_passes_total\{[^}]*controller="rollout"[^}]*\} (\d+)$/gm)].map(([, count]) => Number(count))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function passesOf(change: () => Promise<unknown>): Promise<number> {
  const before = await passes()
  await change()
  await stage.pass(5_000)
  return (await passes()) - before
}

/** Name of the Rollout that the others say holds the DaemonSet; each says the same. */
async function heldBy(): Promise<string | undefined> {
  const taken = (await tenantRollouts()).flatMap(({ status }) => {
    const stalled = status?.conditions?.find(({ type, reason }) => type === 'Stalled' && reason === 'WorkloadTaken')
    return stalled === undefined ? [] : [/the Rollout (\S+) already/.exec(stalled.message ?? '')?.[1]]
  })
  const names = new Set(taken)
  return taken.length === MANY - 1 && names.size === 1 ? taken[0] : undefined
}

describe('many Rollouts of a tenant for one DaemonSet', () => {
  it('cost no passes when a node, a pod or the DaemonSet changes: only the one that holds it has some', async () => {
    await setTenant()
    expect(await heldBy()).toBe('r-100')
    const [node] = (await stage.client.list(resourcePaths.nodes, {})).items as readonly { readonly metadata: { readonly name: string } }[]
    const label = (value: string): Promise<unknown> =>
      stage.client.patch(
        resourcePaths.nodes,
        { namespace: '', name: node!.metadata.name },
        { type: 'merge', body: { metadata: { labels: { value } } } },
      )
    const annotate = (): Promise<unknown> =>
      stage.client.patch(
        resourcePaths.daemonSets,
        { namespace: 'tenant', name: 'x' },
        { type: 'merge', body: { metadata: { annotations: { a: 'b' } } } },
      )
    expect(await passesOf(() => label('one'))).toBeLessThan(10)
    expect(await passesOf(annotate)).toBeLessThan(10)
    expect(await passesOf(() => stage.client.create(resourcePaths.rollouts, rolloutManifest('r-999')))).toBeLessThan(10)
  })

  it('follow one another: where the one that holds it is deleted or disabled, the next one does, and all others say so', async () => {
    await setTenant()
    await stage.client.delete(resourcePaths.rollouts, { namespace: 'tenant', name: 'r-100' })
    await stage.client.create(resourcePaths.rollouts, rolloutManifest('r-998'))
    await stage.until('the second holds it', async () => (await heldBy()) === 'r-101')
    const disabled = { type: 'merge', body: { spec: { disabled: true } } } as const
    await stage.client.patch(resourcePaths.rollouts, { namespace: 'tenant', name: 'r-101' }, disabled)
    await stage.client.create(resourcePaths.rollouts, rolloutManifest('r-999'))
    await stage.until('the third holds it', async () => (await heldBy()) === 'r-102')
  })
})
