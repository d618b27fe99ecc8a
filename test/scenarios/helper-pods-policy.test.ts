import { EXECUTOR_ACCOUNT, helperPodsPolicy, type PolicyObject } from '@tranche/admission'
import { helperManifest, type HelperManifest } from '@tranche/pre-pull'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type AdmissionCluster, startAdmissionCluster } from './admission-cluster.ts'

let cluster: AdmissionCluster
let installed: readonly PolicyObject[]

beforeAll(async () => {
  cluster = await startAdmissionCluster('policy')
  installed = await forAccount(await ownName())
  const probe = { ...helper(), metadata: { name: 'probe' } }
  await vi.waitFor(async () => expect((await create(probe)).status).toBe(422), { timeout: 30_000 })
}, 120_000)
afterAll(async () => {
  for (const object of installed.toReversed()) await cluster.send('DELETE', `${pathOf(object)}/${object.metadata.name}`)
  await cluster.end()
})

describe('an executor', () => {
  it('may create the helper pod of a template, also of one with init containers and the network of its node', async () => {
    for (const spec of [template, { ...template, hostNetwork: true, runtimeClassName: undefined, initContainers: template.containers }]) {
      const { status, body } = await create(helper(spec))
      expect([status, body.message]).toEqual([201, undefined])
      await cluster.send('DELETE', `${pods()}/${body.metadata.name}`)
    }
  })

  it.each<[sentence: string, change: (pod: Loose) => Loose]>([
    ['has not the label of helper pods', (pod) => ({ ...pod, metadata: { ...pod.metadata, labels: {} } })],
    ['is owned by no BatchRelease', (pod) => ({ ...pod, metadata: { ...pod.metadata, ownerReferences: [] } })],
    ['may run as another user than root', (pod) => inContainer(pod, { securityContext: { runAsNonRoot: true } })],
    ['may run as root', (pod) => inContainer(pod, { securityContext: { runAsUser: 0 } })],
    ['is privileged', (pod) => inContainer(pod, { securityContext: { runAsNonRoot: true, runAsUser: 0, privileged: true } })],
    ['has one more container, which runs', (pod) => inSpec(pod, { containers: [...pod.spec.containers, runs] })],
    ['has an init container', (pod) => inSpec(pod, { initContainers: [runs] })],
    ['has a volume of the node', (pod) => inSpec(pod, { volumes: [{ name: 'root', hostPath: { path: '/' } }] })],
    ['has a projected token', (pod) => inSpec(pod, { volumes: [{ name: 'token', projected: { sources: [tokenSource] } }] })],
    ['has the token of its account', (pod) => inSpec(pod, { automountServiceAccountToken: true })],
    ['sees the processes of the node', (pod) => inSpec(pod, { hostPID: true })],
    ['sees the shared memory of the node', (pod) => inSpec(pod, { hostIPC: true })],
    [
      'is a process of a Windows node',
      (pod) => inSpec(pod, { hostNetwork: true, securityContext: { windowsOptions: { hostProcess: true } } }),
    ],
    ['starts again', (pod) => inSpec(pod, { restartPolicy: 'Always' })],
  ])('may create no pod that %s', async (_sentence, change) => {
    const { status, body } = await create(change(helper() as unknown as Loose))
    expect([status, body.message]).toEqual([422, expect.stringContaining('executors of Tranche create only helper pods of prePull')])
  })
})

it('other users create pods as before', async () => {
  for (const object of installed.toReversed()) await cluster.send('DELETE', `${pathOf(object)}/${object.metadata.name}`)
  installed = await forAccount('system:serviceaccount:tranche-system:tranche-executor')
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'own' }, spec: { containers: [runs] } }
  await vi.waitFor(async () => expect((await create(pod)).status).toBe(201), { timeout: 30_000 })
})

interface Loose {
  readonly metadata: object
  readonly spec: { readonly containers: readonly object[] }
}

const image = 'registry.example/agent:v2'
const runs = { name: 'own', image }
const tokenSource = { serviceAccountToken: { path: 'token' } }
const template = {
  containers: [
    { name: 'agent', image },
    { name: 'side', image: 'registry.example/side:v1' },
  ],
  imagePullSecrets: [{ name: 'keys' }],
}

function helper(spec: object = template): HelperManifest {
  const release = { name: 'agent', uid: '5b1f6a52-7a0e-4f3e-9f1f-3a2f5a2c9b11' }
  const daemonSet = { namespace: cluster.namespace, name: 'agent' }
  return helperManifest({ daemonSet, template: { spec }, revision: 'abc', release, seenAt: '1', node: 'node-1' })!
}

function inSpec(pod: Loose, fields: object): Loose {
  return { ...pod, spec: { ...pod.spec, ...fields } }
}

function inContainer(pod: Loose, fields: object): Loose {
  const [first, ...others] = pod.spec.containers
  return inSpec(pod, { containers: [{ ...first, ...fields }, ...others] })
}

const pods = (): string => `/api/v1/namespaces/${cluster.namespace}/pods`

function create(pod: object): ReturnType<AdmissionCluster['send']> {
  return cluster.send('POST', pods(), pod)
}

/** Name of the user of this test. */
async function ownName(): Promise<string> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const { body } = await cluster.send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review)
  return (body as unknown as { readonly status: { readonly userInfo: { readonly username: string } } }).status.userInfo.username
}

/** Installs the policy for an account, in the namespace of this run. */
async function forAccount(account: string): Promise<readonly PolicyObject[]> {
  const text = JSON.stringify(helperPodsPolicy).replaceAll(EXECUTOR_ACCOUNT, account)
  const matchResources = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': cluster.namespace } } }
  const objects = (JSON.parse(text) as readonly PolicyObject[]).map((object) => {
    const name = `${cluster.namespace}-${object.metadata.name}`
    const binding = 'policyName' in object.spec && { policyName: name, matchResources }
    return { ...object, metadata: { name }, spec: { ...object.spec, ...binding } }
  })
  for (const object of objects) expect((await cluster.send('POST', pathOf(object), object)).status).toBe(201)
  return objects
}

function pathOf({ kind }: PolicyObject): string {
  return `/apis/admissionregistration.k8s.io/v1/${kind.endsWith('Binding') ? 'validatingadmissionpolicybindings' : 'validatingadmissionpolicies'}`
}
