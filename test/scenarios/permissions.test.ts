import { readFileSync } from 'node:fs'
import { resourcePaths } from '@tranche/kube-client'
import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { afterEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { chartRules, type Rules, scopedRoles } from '../../scripts/chart-rules.ts'
import { byLabel, consumerNames, DRIVER, expectNoMarks, labelled, makeConsumer, makeVolume, setDrainStage } from './drain-stage.ts'
import { forbidPods } from './hands.ts'
import { expectNoLocks, LEASES, setLockStage } from './lock-stage.ts'
import { untilPausedAt, untilReleased } from './looks.ts'
import { setPinnedStage, untilContents } from './pinned-stage.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

/** Permissions of each program in docs/operations/permissions.md, as `verb group/resource`. */
const page = chartRules()
const given: Given = { controller: rightsOf('tranche-controller'), executor: rightsOf('tranche-executor') }
const ofCluster: Given = { controller: clusterRightsOf('tranche-controller'), executor: clusterRightsOf('tranche-executor') }

type Given = Readonly<Record<'controller' | 'executor', ReadonlySet<string>>>

let stage: Stage
afterEach(() => stage.end())

describe('with the permissions of docs/operations/permissions.md', () => {
  it.each([
    ['every namespace', undefined],
    ['the listed namespaces', [stageKey.namespace, 'network']],
  ])('releases, rollbacks, pauses, policies and endings need no further rights, and use nearly all, in %s', async (_name, namespaces) => {
    const asked = { controller: new Set<string>(), executor: new Set<string>() }
    stage = await setStage({
      nodes: 4,
      minReadySeconds: 2,
      controllers: ['controller-1', 'controller-2'],
      faults: enforced(asked, namespaces),
      ...(namespaces !== undefined && { namespaces }),
    })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.until('it is stopped', async () => (await stage.release())?.status?.flight?.state === 'stopped')
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await act('1', 'abort')
    await untilReleased(stage, 'v1')
    await act('2', 'retry')
    await applyPolicy()
    await stage.setImage('v3')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v3')
    await forbidPods(stage)
    await stage.setImage('v4')
    await stage.until('events are listed to find why no pod is created', () => asked.controller.has('list /events'))
    await stage.client.delete(resourcePaths.rollouts, stageKey)
    await stage.until('it is gone', async () => (await stage.release()) === undefined)
    expect(missing(asked)).toEqual([])
    expect(unused(asked)).toEqual([])
  })

  it('the room on nodes is read with the role tranche-room, in the listed namespaces too', async () => {
    const asked = { controller: new Set<string>(), executor: new Set<string>() }
    const namespaces = [stageKey.namespace]
    const faults = enforced(asked, namespaces, { executor: rightsOf('tranche-room') })
    stage = await setStage({ nodes: 4, steps: [{ replicas: '100%' }], policy: { nodes: { room: 'Check' } }, faults, namespaces })
    await stage.client.create(resourcePaths.priorityClasses, importantClass)
    await stage.patchDaemonSet({ spec: { template: { spec: { priorityClassName: importantClass.metadata.name } } } })
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    for (const right of rightsOf('tranche-room')) expect(asked.executor).toContain(right)
  })

  it('ConfigMaps are read with the role tranche-config, in the listed namespaces, and only where the installation lets them', async () => {
    const asked = { controller: new Set<string>(), executor: new Set<string>() }
    const namespaces = [stageKey.namespace]
    const faults = enforced(asked, namespaces, { controller: rightsOf('tranche-config') })
    stage = await setStage({ nodes: 4, steps: [{ replicas: '100%' }], configMaps: ['agent'], readConfig: true, faults, namespaces })
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    for (const right of rightsOf('tranche-config')) expect(asked.controller).toContain(right)
    expect(missing(asked)).toEqual([...rightsOf('tranche-config')].map((right) => `controller: ${right}`))
  })

  it('config is pinned with the roles tranche-config-pin and tranche-pod-policy, in the listed namespaces too', async () => {
    const asked = { controller: new Set<string>(), executor: new Set<string>() }
    const namespaces = [stageKey.namespace]
    const both = new Set([...rightsOf('tranche-config-pin'), ...rightsOf('tranche-pod-policy')])
    stage = await setPinnedStage({ config: '1', faults: enforced(asked, namespaces, { controller: both }), namespaces })
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilContents(stage, ['1', '1', '1', '1', '1'])
    // Copies are patched and deleted when nothing names them any more.
    const used = [...both].filter((right) => !/^(patch|delete) /.test(right))
    for (const right of used) expect(asked.controller).toContain(right)
    expect(missing(asked).filter((right) => !both.has(right.replace('controller: ', '')))).toEqual([])
  })

  it('nodes are drained with the role tranche-drain, in the listed namespaces too', async () => {
    const asked = { controller: new Set<string>(), executor: new Set<string>() }
    const namespaces = [stageKey.namespace]
    const consumers = [{ csiDriver: DRIVER }, ...(byLabel.consumers ?? [])]
    const rules = { consumers, timeout: '1m', onTimeout: 'Continue' } as const
    stage = await setDrainStage(rules, { faults: enforced(asked, namespaces, { executor: rightsOf('tranche-drain') }), namespaces })
    await makeVolume(stage, 'data')
    await makeConsumer(stage, 'db', 'node-001', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] })
    await makeConsumer(stage, 'web', 'node-002', {}, { labels: labelled })
    await makeConsumer(stage, 'kept', 'node-003', {}, { labels: labelled, finalizers: ['example.com/keep'] })
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await expectNoMarks(stage)
    expect(await consumerNames(stage)).toEqual(['kept'])
    for (const right of rightsOf('tranche-drain')) expect(asked.executor).toContain(right)
  })

  it('conditions of drained nodes are written with the role tranche-drain-conditions, and with no further right', async () => {
    const asked = { controller: new Set<string>(), executor: new Set<string>() }
    const namespaces = [stageKey.namespace]
    const both = new Set([...rightsOf('tranche-drain'), ...rightsOf('tranche-drain-conditions')])
    stage = await setDrainStage({}, { faults: enforced(asked, namespaces, { executor: both }), namespaces, drainConditions: true })
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await expectNoMarks(stage)
    expect([...asked.executor].filter((right) => right.includes('nodes/status'))).toEqual([...rightsOf('tranche-drain-conditions')])
  })

  it('nodes are locked with the role tranche-node-locks, and with no further right', async () => {
    const asked = { controller: new Set<string>(), executor: new Set<string>() }
    const namespaces = [stageKey.namespace]
    const faults = enforced(asked, [...namespaces, LEASES], { executor: rightsOf('tranche-node-locks') })
    stage = await setLockStage({ faults, namespaces })
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    await expectNoLocks(stage)
    const used = [...rightsOf('tranche-node-locks')].filter((right) => !right.startsWith('patch'))
    for (const right of used) expect(asked.executor).toContain(right)
  })

  it('helper pods are created with the role tranche-pre-pull, and with no further right', async () => {
    const asked = { controller: new Set<string>(), executor: new Set<string>() }
    const namespaces = [stageKey.namespace]
    const faults = enforced(asked, namespaces, { executor: rightsOf('tranche-pre-pull') })
    stage = await setStage({ nodes: 4, steps: [{ replicas: '100%' }], policy: { prePull: {} }, faults, namespaces })
    await stage.setImage('v2')
    await untilReleased(stage, 'v2')
    for (const right of rightsOf('tranche-pre-pull')) expect(asked.executor).toContain(right)
    expect(missing(asked)).toEqual([...rightsOf('tranche-pre-pull')].map((right) => `executor: ${right}`))
  })
})

const importantClass = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'important' },
  value: 1_000,
}

async function act(id: string, type: string): Promise<void> {
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id, type }) } } })
  await stage.until(`${type} is answered`, async () => (await stage.rollout()).status?.lastAction?.id === id)
}

async function applyPolicy(): Promise<void> {
  const policy = parse(readFileSync(`${import.meta.dirname}/../../examples/policy.yaml`, 'utf8')) as { metadata: object }
  await stage.client.create(resourcePaths.releasePolicies, {
    ...policy,
    metadata: { ...policy.metadata, namespace: stageKey.namespace },
  } as never)
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/release-policy': 'careful' } } })
}

/** Rejects requests without a right on the page, also by namespace, and records all requested rights. */
function enforced(
  asked: Record<'controller' | 'executor', Set<string>>,
  namespaces: readonly string[] | undefined,
  further: Partial<Given> = {},
): FaultInjector {
  return {
    onRequest({ actor, verb, resource, subresource, namespace }) {
      const program = actor.startsWith('controller-') ? 'controller' : actor.startsWith('executor-') ? 'executor' : null
      if (program === null) return undefined
      // Discovery and OpenAPI are open to every authenticated user.
      if (resource.resource === 'documents') return undefined
      const right = `${verb} ${resource.group}/${resource.resource}${subresource === undefined ? '' : `/${subresource}`}`
      asked[program].add(right)
      // The Lease of controllers has its own namespace.
      const isThere = namespaces === undefined || resource.resource === 'leases' || namespaces.includes(namespace ?? '')
      if ((isThere ? given : ofCluster)[program].has(right) || further[program]?.has(right) === true) return undefined
      return { kind: 'error', error: new ApiStatusError(403, 'Forbidden', `${actor} may not ${right}`) }
    },
  }
}

function missing(asked: Readonly<Record<'controller' | 'executor', ReadonlySet<string>>>): readonly string[] {
  return (['controller', 'executor'] as const).flatMap((program) =>
    [...asked[program]].filter((right) => !given[program].has(right)).map((right) => `${program}: ${right}`),
  )
}

/** Rights that these stories do not use. */
const rare: readonly string[] = [
  // An API server requires it if OwnerReferencesPermissionEnforcement is on.
  'controller: update rollouts.kruise.io/rollouts/finalizers',
  // For a notification or its failure.
  'controller: patch rollouts.kruise.io/rollouts/status',
  // For a withdrawn permit.
  'executor: patch /pods',
  // For a node that is removed while its pod is in flight.
  'executor: get /nodes',
  'controller: patch tranche.dev/releasepolicies/status',
]

function unused(asked: Readonly<Record<'controller' | 'executor', ReadonlySet<string>>>): readonly string[] {
  return (['controller', 'executor'] as const).flatMap((program) =>
    [...given[program]]
      .filter((right) => !asked[program].has(right))
      .map((right) => `${program}: ${right}`)
      .filter((right) => !rare.includes(right)),
  )
}

function rightsOf(name: string): ReadonlySet<string> {
  return rightsBy([...(page.ClusterRole[name] ?? []), ...(page.Role[name] ?? [])])
}

function clusterRightsOf(name: string): ReadonlySet<string> {
  return rightsBy(scopedRoles()[name]?.Cluster ?? [])
}

function rightsBy(rules: Rules): ReadonlySet<string> {
  return new Set(
    rules.flatMap(({ apiGroups = [], resources = [], verbs = [] }) =>
      verbs.flatMap((verb) => apiGroups.flatMap((group) => resources.map((resource) => `${verb} ${group}/${resource}`))),
    ),
  )
}
