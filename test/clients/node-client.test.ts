import {
  ADD,
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  DELETE,
  type Informer,
  KubeConfig,
  KubernetesObjectApi,
  type ListPromise,
  makeInformer,
  type ObjectCallback,
  PatchStrategy,
  setHeaderOptions,
  UPDATE,
  type V1ConfigMap,
} from '@kubernetes/client-node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agentManifest, type Cluster, startCluster } from './cluster.ts'

let cluster: Cluster
let config: KubeConfig
let core: CoreV1Api

const namespace = 'default'

beforeEach(async () => {
  cluster = await startCluster(0)
  config = new KubeConfig()
  config.loadFromFile(cluster.kubeconfig)
  core = config.makeApiClient(CoreV1Api)
})

afterEach(() => cluster.end())

describe('an informer', () => {
  let informer: Informer<V1ConfigMap>
  let events: string[]

  beforeEach(() => {
    const list: ListPromise<V1ConfigMap> = () => core.listNamespacedConfigMap({ namespace })
    informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list)
    events = []
    for (const verb of [ADD, UPDATE, DELETE] as const) informer.on(verb, note(verb))
  })

  afterEach(() => {
    // To stop is an error for it too: it would start again for ever, without a cluster.
    informer.off('error', restart)
    return informer.stop()
  })

  it('reports existing objects and every change', async () => {
    await core.createNamespacedConfigMap({ namespace, body: configMap('first') })
    await informer.start()
    await core.createNamespacedConfigMap({ namespace, body: configMap('second') })
    await core.replaceNamespacedConfigMap({ namespace, name: 'first', body: { ...configMap('first'), data: { a: '1' } } })
    await core.deleteNamespacedConfigMap({ namespace, name: 'second' })
    await expect.poll(() => events).toEqual(['add first', 'add second', 'update first', 'delete second'])
  })

  it('lists again when its watch is answered with 410', async () => {
    let gaps = 0
    cluster.simulator.server.useFaults({
      onEvent: ({ object }) => (object.metadata.name === 'second' && gaps++ === 0 ? { kind: 'gap' } : undefined),
    })
    informer.on('error', restart)
    await informer.start()
    for (const name of ['first', 'second', 'third']) await core.createNamespacedConfigMap({ namespace, body: configMap(name) })
    await expect.poll(() => events.toSorted()).toEqual(['add first', 'add second', 'add third'])
    expect(gaps).toBeGreaterThan(0)
  })

  function restart(): void {
    void informer.start()
  }

  function note(verb: string): ObjectCallback<V1ConfigMap> {
    return ({ metadata }) => void events.push(`${verb} ${metadata?.name}`)
  }
})

describe('a patch', () => {
  const formats: Record<string, { readonly format: PatchStrategy; readonly body: object }> = {
    'JSON Patch': {
      format: PatchStrategy.JsonPatch,
      body: [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'agent:v2' }],
    },
    'merge patch': {
      format: PatchStrategy.MergePatch,
      body: { spec: { template: { spec: { containers: [{ name: 'main', image: 'agent:v2' }] } } } },
    },
    'strategic merge patch': {
      format: PatchStrategy.StrategicMergePatch,
      body: { spec: { template: { spec: { containers: [{ name: 'main', image: 'agent:v2' }] } } } },
    },
  }

  it.each(Object.entries(formats))('in the form of a %s changes the image of a DaemonSet', async (_name, { format, body }) => {
    const apps = config.makeApiClient(AppsV1Api)
    await apps.createNamespacedDaemonSet({ namespace, body: agentManifest('v1') })
    const patched = await apps.patchNamespacedDaemonSet({ namespace, name: 'agent', body }, setHeaderOptions('Content-Type', format))
    expect(patched.spec?.template.spec?.containers[0]?.image).toBe('agent:v2')
  })

  it('of the status of a Rollout does not change its spec', async () => {
    const custom = config.makeApiClient(CustomObjectsApi)
    const kind = { group: 'rollouts.kruise.io', version: 'v1beta1', plural: 'rollouts', namespace }
    await custom.createNamespacedCustomObject({ ...kind, body: rollout })
    const status = { message: 'seen', currentStepIndex: 1, currentStepState: 'StepReady' }
    const body = { status, spec: { disabled: true } }
    const headers = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)
    const patched = (await custom.patchNamespacedCustomObjectStatus({ ...kind, name: 'agent', body }, headers)) as typeof body
    expect([patched.status.message, patched.spec.disabled ?? false]).toEqual(['seen', false])
  })
})

it('an object of any kind is found by discovery', async () => {
  const objects = KubernetesObjectApi.makeApiClient(config)
  await objects.create(agentManifest('v1'))
  const read = await objects.read({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'agent', namespace } })
  expect(read.metadata?.generation).toBe(1)
})

function configMap(name: string): V1ConfigMap {
  return { metadata: { name } }
}

const rollout = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
  metadata: { name: 'agent' },
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
    strategy: { canary: { steps: [{ replicas: '50%' }, { replicas: '100%' }] } },
  },
}
