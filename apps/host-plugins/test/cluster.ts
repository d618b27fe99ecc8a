import { readFileSync } from 'node:fs'
import { customResourceDefinitions } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, Pod } from '@tranche/kube-types'
import { createSimulator, type Simulator } from '@tranche/sim'
import { resources } from '@tranche/sim-api'
import { silentLogger } from '@tranche/telemetry'
import type { Exchange } from '@tranche/wire'
import { vi } from 'vitest'
import { parse } from 'yaml'

/** Key of the Rollout of the cluster. */
export const key = { namespace: 'demo', name: 'agent' }

/** A simulated cluster of three nodes with one Rollout that waits for approval; Tranche does not run. */
export interface Cluster {
  readonly simulator: Simulator
  readonly admin: KubeClient
  /** @returns client with the rights of a user */
  clientOf(user: string): KubeClient
  exchangeOf(user: string): Exchange
  /** Grants rules of the chart to a user in the namespace of the Rollout. */
  grant(user: string, roles: readonly string[]): Promise<void>
  /** Grants rules to a user in the namespace of the Rollout. */
  allow(user: string, ...rules: readonly object[]): Promise<void>
}

/** @param users names of users without rights; any other user may do everything */
export async function startCluster(users: readonly string[]): Promise<Cluster> {
  const actors = Object.fromEntries(users.map((name) => [name, { name, groups: ['system:authenticated'] }]))
  const simulator = createSimulator({ clock: systemClock, nodes: 3, watchDelayMs: 0, actors })
  const exchangeOf = (user: string): Exchange => simulator.exchangeFor(user)
  const clientOf = (user: string): KubeClient =>
    createKubeClient({ exchange: exchangeOf(user), clock: systemClock, log: silentLogger, userAgent: 'tranche-test/1' })
  const admin = clientOf('admin')
  await simulator.start()
  await furnish(admin)
  const writer = simulator.clientFor({ name: 'admin' })
  const allow = async (user: string, ...rules: readonly object[]): Promise<void> => {
    const metadata = { name: `${user}-${crypto.randomUUID()}`, namespace: key.namespace }
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name }
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }]
    await writer.create(resources.roles, { metadata, rules })
    await writer.create(resources.roleBindings, { metadata, roleRef, subjects })
  }
  const { ClusterRole: rules } = parse(readFileSync('charts/tranche/files/rules.yaml', 'utf8')) as { ClusterRole: Record<string, object[]> }
  return {
    ...{ simulator, admin, clientOf, exchangeOf, allow },
    grant: (user, roles) => allow(user, ...roles.flatMap((role) => rules[role] ?? [])),
  }
}

async function furnish(admin: KubeClient): Promise<void> {
  for (const definition of customResourceDefinitions) await admin.create(resourcePaths.customResourceDefinitions, definition as never)
  await admin.create(resourcePaths.namespaces, { metadata: { name: key.namespace } })
  const labels = { app: 'agent' }
  const template = {
    metadata: { labels, annotations: { 'sim.tranche.dev/start-ms': '1' } },
    spec: { containers: [{ name: 'agent', image: 'registry.example/agent:v1' }] },
  }
  await admin.create(resourcePaths.daemonSets, { metadata: key, spec: { selector: { matchLabels: labels }, template } } as never)
  const spec = {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: key.name },
    strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] } },
  }
  await admin.create(resourcePaths.rollouts, { metadata: key, spec } as never)
  await vi.waitFor(async () => {
    const { status } = await admin.get<DaemonSet>(resourcePaths.daemonSets, key)
    if (status?.numberAvailable !== 3) throw new Error('pods are not available')
  })
  const { items } = await admin.list<Pod>(resourcePaths.pods, { namespace: key.namespace })
  const hash = items[0]?.metadata.labels?.['controller-revision-hash'] ?? ''
  await writeStatus(admin, {
    phase: 'Progressing',
    observedGeneration: 1,
    message: 'waits for approval',
    currentStepIndex: 1,
    currentStepState: 'StepPaused',
    conditions: [{ type: 'Progressing', status: 'True', reason: 'InRolling', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    canaryStatus: {
      ...{ currentStepIndex: 1, nextStepIndex: 2, currentStepState: 'StepPaused', finalisingStep: '', podTemplateHash: hash },
      ...{ canaryRevision: hash, stableRevision: 'v0', canaryReplicas: 1, canaryReadyReplicas: 1 },
    },
  })
}

/** Writes the status of the Rollout, as the controller does. */
export async function writeStatus(admin: KubeClient, status: object): Promise<void> {
  await admin.patch(resourcePaths.rollouts, key, { type: 'merge', body: { status } }, { subresource: 'status' })
}
