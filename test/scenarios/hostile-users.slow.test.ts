import type { Rollout } from '@tranche/api-schema'
import { isForbidden, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { ControllerRevision, DaemonSet, Pod as KubePod } from '@tranche/kube-types'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { chartRules } from '../../scripts/chart-rules.ts'
import { type AnyCluster, openAnyCluster } from './any-cluster.ts'
import { startWholeProgram, type WholeProgram } from './whole-program.ts'

/** A value in the pod templates under attack. */
const secret = 'literal-7f3a'
const evil = { metadata: { labels: { app: 'agent' } }, spec: { hostPID: true, containers: [{ name: 'main', image: 'evil:1' }] } }
const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }
const rbac = (plural: string, namespaced: boolean) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', plural, namespaced })

type Pod = KubePod & {
  readonly spec: { readonly nodeName?: string; readonly hostPID?: boolean; readonly containers: readonly { readonly image?: string }[] }
}

let cluster: AnyCluster
let program: WholeProgram
let admin: KubeClient
/** Namespace of the DaemonSets under attack. The tenant may do everything in the other namespace. */
let victim: string
let tenant: string

describe('users with few rights', { timeout: 300_000 }, () => {
  beforeAll(async () => {
    cluster = await openAnyCluster(6)
    admin = cluster.admin
    ;[victim, tenant] = [`${cluster.run}-victim`, `${cluster.run}-tenant`]
    for (const name of [victim, tenant])
      await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } as never)
    program = await startWholeProgram(cluster.kubeconfig)
  })

  afterAll(async () => {
    if (program !== undefined) await tidy()
    await program?.stop()
    await cluster?.end()
  })

  it('of another namespace, who name the DaemonSet as an owner, decide neither what an abort puts back nor what is released (F15)', async () => {
    const mallory = await tenantOf('mallory')
    await expect(mallory.list(resourcePaths.controllerRevisions, { namespace: victim })).rejects.toSatisfy(isForbidden)
    await releaseHealthy('agent')
    await setImage('agent', 'agent:2')
    await untilPaused('agent')
    const owner = await daemonSet('agent')
    const stable = (await revisionsOf('agent')).find(({ revision }) => revision === 1)!
    const hash = stable.metadata.labels!['controller-revision-hash']!
    await forgeRevision(mallory, owner, hash, 1)
    await forgeRevision(mallory, owner, 'forged', 999)
    const nodes = (await podsOf('agent')).map(({ spec }) => spec.nodeName!).toSorted()
    for (const nodeName of nodes.slice(0, 2)) await forgePod(mallory, owner, nodeName)
    const before = await podUids()

    await program.stop()
    program = await startWholeProgram(cluster.kubeconfig)
    // The answer proves that the controller has handled the forged revision 999.
    await act('agent', { id: 'look', type: 'resume' })
    expect(await podUids()).toEqual(before)
    await act('agent', { id: 'back', type: 'abort' })
    await untilOn('agent', 'agent:1')
    expect((await daemonSet('agent')).spec.template.spec).not.toHaveProperty('hostPID')

    await setImage('agent', 'agent:3')
    await untilPaused('agent')
    await act('agent', { id: 'all', type: 'promote' })
    await untilOn('agent', 'agent:3')
    expect((await daemonSet('agent')).spec.template.spec).not.toHaveProperty('hostPID')
    expect((await podsOf('agent')).every(({ spec }) => spec.hostPID !== true)).toBe(true)
  })

  it('with rights on one Rollout neither act on nor read another DaemonSet by changing workloadRef', async () => {
    await Promise.all([releaseHealthy('mine'), releaseHealthy('theirs')])
    await setImage('theirs', 'agent:2')
    await untilPaused('theirs')
    const verbs = ['get', 'update', 'patch', 'approve', 'pause', 'resume', 'promote', 'abort', 'retry', 'jump', 'undo', 'restart']
    // They have no right on any DaemonSet.
    const rules = [{ apiGroups: ['rollouts.kruise.io'], resources: ['rollouts'], resourceNames: ['mine'], verbs }]
    const token = await cluster.token(victim, 'pipeline')
    await grant(victim, 'pipeline', rules, account('pipeline'))
    await untilAllowed(token, 'mine')
    const pipeline = await cluster.as(`system:serviceaccount:${victim}:pipeline`)
    const { metadata, spec } = await daemonSet('theirs')
    const workloadRef = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'theirs' }
    await pipeline.patch(resourcePaths.rollouts, { namespace: victim, name: 'mine' }, { type: 'merge', body: { spec: { workloadRef } } })
    await vi.waitUntil(async () => (await rest(token, 'GET', '/rollouts/mine')).text.includes('notBound'), waiting)

    const bodies = { approve: { expectedStep: 1 }, jump: { expectedStep: 1, step: 2 } } as Record<string, object>
    const actions = ['approve', 'pause', 'resume', 'promote', 'abort', 'retry', 'jump', 'undo', 'restart']
    const taken: string[] = []
    for (const action of actions) {
      const { status } = await rest(token, 'POST', `/rollouts/mine/actions/${action}?wait=5`, bodies[action] ?? {})
      if (status !== 409) taken.push(`${action} ${status}`)
    }
    // These actions change only the caller's own Rollout.
    expect(taken).toEqual(['pause 200', 'resume 200'])
    expect(await rest(token, 'POST', '/rollouts/theirs/actions/abort', {})).toMatchObject({ status: 403 })
    const texts = await Promise.all(partsOf('mine').map((path) => rest(token, 'GET', path)))
    expect(texts.filter(({ text }) => text.includes('agent:2') || text.includes(secret))).toEqual([])
    // With kubectl instead of REST, as REST rejects it.
    await act('mine', { id: 'past-rest', type: 'abort' }, pipeline)
    const after = await daemonSet('theirs')
    expect([after.spec, after.metadata.generation]).toEqual([spec, metadata.generation])
    expect((await rollout('theirs')).status?.canaryStatus?.currentStepState).toBe('StepPaused')
  })

  it('with view on Rollouts see no value of a pod template', async () => {
    await grant(victim, 'viewer', chartRules().ClusterRole['tranche-viewer']!, account('viewer'))
    const token = await cluster.token(victim, 'viewer')
    await untilAllowed(token, 'theirs')
    const [revision] = await revisionsOf('theirs')
    const hash = revision!.metadata.labels!['controller-revision-hash']!
    const paths = [...partsOf('theirs'), '/rollouts', '/daemonsets/theirs/history']
    const answers = await Promise.all([
      ...paths.map((path) => rest(token, 'GET', path)),
      rest(token, 'GET', `/rollouts/theirs/revisions/${hash}`),
      rest(token, 'POST', '/rollouts/theirs/plan', { image: 'agent:9' }),
    ])
    expect(answers.filter(({ text }) => text.includes(secret))).toEqual([])
    expect(await rest(token, 'GET', `/rollouts/theirs/revisions/${hash}`)).toMatchObject({ status: 403 })
    expect(answers[0]).toMatchObject({ status: 200 })
  })
})

const waiting = { timeout: 60_000, interval: 100 }

const partsOf = (name: string): readonly string[] =>
  ['', '/batches', '/nodes', '/explain', '/revisions', '/history', '/events'].map((part) => `/rollouts/${name}${part}`)

const account = (name: string) => ({ kind: 'ServiceAccount', name, namespace: victim })

/** A user who may do everything in their own namespace, and nothing elsewhere. */
async function tenantOf(name: string): Promise<KubeClient> {
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  await grant(tenant, name, rules, { kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' })
  const client = await cluster.as(name)
  await vi.waitUntil(
    async () =>
      client.list(resourcePaths.pods, { namespace: tenant }).then(
        () => true,
        () => false,
      ),
    waiting,
  )
  return client
}

async function grant(namespace: string, name: string, rules: readonly object[], subject: object): Promise<void> {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
  await admin.create(rbac('roles', true), { metadata: { namespace, name }, rules } as never)
  await admin.create(rbac('rolebindings', true), { metadata: { namespace, name }, roleRef, subjects: [subject] } as never)
}

/** An owner reference to a DaemonSet of another namespace, and a finalizer that stops the garbage collector. */
function forgedMetadata({ metadata: { name: owner, uid } }: DaemonSet, name: string, hash: string): object {
  return {
    namespace: tenant,
    name,
    labels: { app: 'agent', 'controller-revision-hash': hash },
    finalizers: ['example.com/keep'],
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: owner, uid, controller: true }],
  }
}

async function forgeRevision(client: KubeClient, owner: DaemonSet, hash: string, revision: number): Promise<void> {
  await client.create(resourcePaths.controllerRevisions, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: forgedMetadata(owner, `agent-${hash}`, hash),
    data: { spec: { template: { ...evil, $patch: 'replace' } } },
    revision,
  } as never)
}

async function forgePod(client: KubeClient, owner: DaemonSet, nodeName: string): Promise<void> {
  const name = `forged-${nodeName}`
  const spec = { nodeName, containers: [{ name: 'main', image: 'agent:0' }] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: forgedMetadata(owner, name, 'forged'), spec }
  await vi.waitUntil(
    () =>
      client.create(resourcePaths.pods, pod as never).then(
        () => true,
        () => false,
      ),
    waiting,
  )
  await client.delete(resourcePaths.pods, { namespace: tenant, name })
}

/** Deletes the objects of the run while a controller runs, which removes the finalizers of Rollouts. */
async function tidy(): Promise<void> {
  await removeFinalizers()
  for (const name of ['agent', 'mine', 'theirs']) await admin.delete(resourcePaths.rollouts, { namespace: victim, name }).catch(() => {})
  await vi.waitUntil(async () => (await admin.list(resourcePaths.rollouts, { namespace: victim })).items.length === 0, waiting)
  for (const name of [victim, tenant]) await admin.delete(namespaces, { namespace: '', name })
}

async function removeFinalizers(): Promise<void> {
  for (const resource of [resourcePaths.controllerRevisions, resourcePaths.pods])
    for (const { metadata } of (await admin.list<Pod>(resource, { namespace: tenant })).items)
      await admin
        .patch(resource, { namespace: tenant, name: metadata.name }, { type: 'merge', body: { metadata: { finalizers: null } } })
        .catch(() => {})
}

/** Creates a DaemonSet and its Rollout, and releases it healthily. */
async function releaseHealthy(name: string): Promise<void> {
  const env = [{ name: 'TOKEN', value: secret }]
  await admin.create(resourcePaths.daemonSets, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: victim, name },
    spec: {
      selector: { matchLabels: { app: name } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 3 } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'agent:1', env }] } },
    },
  } as never)
  await vi.waitUntil(async () => {
    const { status } = await daemonSet(name)
    return (
      status?.observedGeneration === 1 && (status.numberAvailable ?? 0) >= 3 && status.numberAvailable === status.desiredNumberScheduled
    )
  }, waiting)
  await admin.create(resourcePaths.rollouts, {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: { namespace: victim, name },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name },
      strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] } },
    },
  } as never)
  await vi.waitUntil(async () => (await rollout(name)).status?.phase === 'Healthy', waiting)
}

async function setImage(name: string, image: string): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } }
  await admin.patch(resourcePaths.daemonSets, { namespace: victim, name }, { type: 'strategic', body })
}

/** Writes the annotation of an action, and waits for the answer. */
async function act(name: string, action: { readonly id: string; readonly type: string }, client = admin): Promise<void> {
  const body = { metadata: { annotations: { 'tranche.dev/action': JSON.stringify(action) } } }
  await client.patch(resourcePaths.rollouts, { namespace: victim, name }, { type: 'merge', body })
  await vi.waitUntil(async () => (await rollout(name)).status?.lastAction?.id === action.id, waiting)
}

async function untilPaused(name: string): Promise<void> {
  await vi.waitUntil(async () => {
    const { status } = await rollout(name)
    return status?.phase === 'Progressing' && status.canaryStatus?.currentStepState === 'StepPaused'
  }, waiting)
}

async function untilOn(name: string, image: string): Promise<void> {
  await vi.waitUntil(async () => {
    const pods = await podsOf(name)
    const isOn = pods.length >= 3 && pods.every(({ spec }) => spec.containers[0]?.image === image)
    return isOn && (await rollout(name)).status?.phase === 'Healthy'
  }, waiting)
}

async function rest(
  token: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${program.url}/api/v1/namespaces/${victim}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

/** Waits for new rights. An API server notices them a moment later, and answers are cached for ten seconds. */
async function untilAllowed(token: string, name: string): Promise<void> {
  await vi.waitUntil(async () => (await rest(token, 'GET', `/rollouts/${name}`)).status === 200, waiting)
}

const rollout = (name: string) => admin.get<Rollout>(resourcePaths.rollouts, { namespace: victim, name })
const daemonSet = (name: string) => admin.get<DaemonSet>(resourcePaths.daemonSets, { namespace: victim, name })
const podsOf = async (name: string) =>
  (await admin.list<Pod>(resourcePaths.pods, { namespace: victim, labelSelector: `app=${name}` })).items
const podUids = async () => (await podsOf('agent')).map(({ metadata }) => metadata.uid).toSorted()
const revisionsOf = async (name: string) =>
  (await admin.list<ControllerRevision>(resourcePaths.controllerRevisions, { namespace: victim, labelSelector: `app=${name}` })).items
