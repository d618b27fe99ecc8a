import { readFileSync } from 'node:fs'
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
})
afterAll(async () => {
  for (const object of installed.toReversed()) await cluster.send('DELETE', `${pathOf(object)}/${object.metadata.name}`)
  await cluster.end()
})

describe('an executor', () => {
  it('may create the helper pod of a template, also of one with init containers and the network of its node', async () => {
    for (const spec of [template, { ...template, hostNetwork: true, serviceAccountName: 'default', initContainers: template.containers }]) {
      const { status, body } = await create(helper(spec))
      expect([status, body.message]).toEqual([201, undefined])
      await cluster.send('DELETE', `${pods()}/${body.metadata.name}`)
    }
  })

  it('may create a helper pod with what the API server adds to each pod', async () => {
    const { containers } = helper().spec as Loose['spec']
    const ofServer = { schedulerName: 'default-scheduler', dnsPolicy: 'ClusterFirst', nodeSelector: { pool: 'a' } }
    const limits = { limits: { cpu: '0', memory: '0', 'ephemeral-storage': '1Gi' } }
    const ofContainer = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' }
    const changed = containers.map((one) => ({ ...one, ...ofContainer, resources: { ...one.resources, ...limits } }))
    const { metadata, ...pod } = helper() as unknown as Loose
    const labels = { ...metadata.labels, 'topology.kubernetes.io/zone': 'a', 'topology.kubernetes.io/region': 'r' }
    const annotations = { ...metadata.annotations, 'kubernetes.io/limit-ranger': 'LimitRanger plugin set: limit' }
    const sent = inSpec({ ...pod, metadata: { ...metadata, labels, annotations } }, { ...ofServer, containers: changed })
    const { status, body } = await create(sent)
    expect([status, body.message]).toEqual([201, undefined])
    await cluster.send('DELETE', `${pods()}/${body.metadata.name}`)
  })

  it.each<[sentence: string, change: (pod: Loose) => Loose]>([
    ['has not the label of helper pods', (pod) => inMetadata(pod, { labels: {} })],
    ['has the labels of another pod', (pod) => inMetadata(pod, { labels: { ...pod.metadata.labels, app: 'web' } })],
    ['has annotations for a network', (pod) => inMetadata(pod, { annotations: { 'k8s.v1.cni.cncf.io/networks': 'a' } })],
    ['has a finalizer', (pod) => inMetadata(pod, { finalizers: ['example.com/keep'] })],
    ['has the name of a pod of a StatefulSet', (pod) => inMetadata(pod, { name: 'web-0' })],
    ['is owned by no BatchRelease', (pod) => inMetadata(pod, { ownerReferences: [] })],
    [
      'is owned by a BatchRelease and one more object',
      (pod) => inMetadata(pod, { ownerReferences: [...pod.metadata.ownerReferences, anotherOwner] }),
    ],
    ['is owned by another object', (pod) => inMetadata(pod, { ownerReferences: [{ ...anotherOwner, controller: true }] })],
    ['keeps its owner from being deleted', (pod) => inMetadata(pod, { ownerReferences: pod.metadata.ownerReferences.map(blocking) })],
    ['is bound to no node', (pod) => inSpec(pod, { nodeName: undefined })],
    ['ends slowly', (pod) => inSpec(pod, { terminationGracePeriodSeconds: 3600 })],
    ['has the Services of its namespace in its environment', (pod) => inSpec(pod, { enableServiceLinks: true })],
    ['has sysctls', (pod) => inPodSecurity(pod, { sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }] })],
    ['has groups of users', (pod) => inPodSecurity(pod, { supplementalGroups: [1] })],
    ['is unconfined', (pod) => inPodSecurity(pod, { seccompProfile: { type: 'Unconfined' } })],
    ['has the priority of the system', (pod) => inSpec(pod, { priorityClassName: 'system-node-critical' })],
    ['requests memory', (pod) => inContainer(pod, { resources: requesting({ memory: '64Gi' }) })],
    [
      'requests CPU and states no limit',
      (pod) => inContainer(pod, { resources: { requests: { cpu: '8', memory: '0', 'ephemeral-storage': '0' } } }),
    ],
    ['requests storage of the node', (pod) => inContainer(pod, { resources: requesting({ 'ephemeral-storage': '1Ti' }) })],
    ['requests devices', (pod) => inContainer(pod, { resources: { ...requesting(gpus), limits: { cpu: '0', memory: '0', ...gpus } } })],
    ['leaves its requests to a LimitRange', (pod) => inContainer(pod, { resources: {} })],
    ['has capabilities', (pod) => inSecurity(pod, { capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } })],
    ['keeps capabilities', (pod) => inSecurity(pod, { capabilities: undefined })],
    ['has another profile of seccomp', (pod) => inSecurity(pod, { seccompProfile: { type: 'Unconfined' } })],
    ['may gain rights', (pod) => inSecurity(pod, { allowPrivilegeEscalation: true })],
    ['may write to its file system', (pod) => inSecurity(pod, { readOnlyRootFilesystem: false })],
    ['may run as another user than root', (pod) => inSecurity(pod, { runAsUser: undefined })],
    ['may run as root', (pod) => inSecurity(pod, { runAsNonRoot: undefined })],
    ['runs the program of its image where user 0 means nothing', (pod) => inContainer(pod, { command: undefined })],
    ['runs a program of its choice there', (pod) => inContainer(pod, { command: ['/tranche.dev/only-pulls-images', 'x'] })],
    ['has arguments for a program', (pod) => inContainer(pod, { args: ['x'] })],
    ['takes a port of its node', (pod) => inContainer(pod, { ports: [{ containerPort: 443, hostPort: 443 }] })],
    ['is privileged', (pod) => inSecurity(pod, { privileged: true, allowPrivilegeEscalation: undefined })],
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

  it('may create no pod that has an overhead of its own, which most API servers reject by themselves', async () => {
    const { status } = await create(inSpec(helper() as unknown as Loose, { overhead: { cpu: '8' } }))
    expect([403, 422]).toContain(status)
  })

  it.each(Object.entries(otherFields.pod))('may create no pod with the field %s', async (field, value) => {
    await expectNoField(inSpec(helper() as unknown as Loose, { [field]: value }), (pod) => pod.spec[field])
  })

  it.each(Object.entries(otherFields.container))('may create no pod with the field %s of a container', async (field, value) => {
    await expectNoField(inContainer(helper() as unknown as Loose, { [field]: value }), (pod) => pod.spec.containers[0]?.[field])
  })

  it('is tried with each field of pods and containers that helper pods lack', () => {
    const fields = (type: string): readonly string[] => Object.keys(schema[`core/v1.${type}`] ?? {})
    const { spec } = helper({ ...template, serviceAccountName: 'a', runtimeClassName: 'a', hostNetwork: true }) as unknown as Loose
    const known = (own: object, ofServer: readonly string[], others: object): readonly string[] =>
      [...Object.keys(own), ...ofServer, ...Object.keys(others)].toSorted()
    expect(known(spec, serverFields.pod, otherFields.pod)).toEqual([...fields('PodSpec')].toSorted())
    expect(known(spec.containers[0]!, serverFields.container, otherFields.container)).toEqual([...fields('Container')].toSorted())
  })
})

/** The API server rejects the pod, or does not know the field yet. */
async function expectNoField(pod: Loose, valueIn: (pod: Loose) => unknown): Promise<void> {
  const { status, body } = await create(pod)
  if (status === 201) expect(valueIn(body as unknown as Loose)).toBeUndefined()
  else expect(status).toBe(422)
}

/** Fields that the API server writes into each pod. */
const serverFields = {
  pod: ['serviceAccount', 'schedulerName', 'dnsPolicy', 'priority', 'priorityClassName', 'preemptionPolicy', 'overhead', 'nodeSelector'],
  container: ['terminationMessagePath', 'terminationMessagePolicy', 'resizePolicy'],
}

const probe = { exec: { command: ['true'] } }
/** Fields that no helper pod has, each with a value. */
const otherFields = {
  pod: {
    activeDeadlineSeconds: 60,
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }] } },
    dnsConfig: { nameservers: ['192.0.2.1'] },
    ephemeralContainers: [{ name: 'own', image: 'registry.example/agent:v2' }],
    hostAliases: [{ ip: '192.0.2.1', hostnames: ['a'] }],
    hostIPC: true,
    hostPID: true,
    hostUsers: false,
    hostname: 'a',
    hostnameOverride: 'a',
    initContainers: [{ name: 'own', image: 'registry.example/agent:v2' }],
    os: { name: 'windows' },
    readinessGates: [{ conditionType: 'example.com/a' }],
    resourceClaims: [{ name: 'a', resourceClaimName: 'a' }],
    resources: { requests: { cpu: '8' } },
    schedulingGates: [{ name: 'example.com/a' }],
    schedulingGroup: { podGroupName: 'a' },
    setHostnameAsFQDN: true,
    shareProcessNamespace: true,
    subdomain: 'a',
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' }],
    volumes: [{ name: 'root', hostPath: { path: '/' } }],
  },
  container: {
    args: ['x'],
    env: [{ name: 'A', value: 'b' }],
    envFrom: [{ secretRef: { name: 'a' } }],
    lifecycle: { postStart: probe },
    livenessProbe: probe,
    ports: [{ containerPort: 443, hostPort: 443 }],
    readinessProbe: probe,
    restartPolicy: 'Always',
    restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }],
    startupProbe: probe,
    stdin: true,
    stdinOnce: true,
    tty: true,
    volumeDevices: [{ name: 'a', devicePath: '/dev/a' }],
    volumeMounts: [{ name: 'a', mountPath: '/a' }],
    workingDir: '/',
  },
}

const schemaPath = '../../packages/simulator/sim-api/src/schema/builtin.generated.json'
const schema = JSON.parse(readFileSync(new URL(schemaPath, import.meta.url), 'utf8')) as Readonly<Record<string, object>>

it('other users create pods as before', async () => {
  for (const object of installed.toReversed()) await cluster.send('DELETE', `${pathOf(object)}/${object.metadata.name}`)
  installed = await forAccount('system:serviceaccount:tranche-system:tranche-executor')
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'own' }, spec: { containers: [runs] } }
  await vi.waitFor(async () => expect((await create(pod)).status).toBe(201), { timeout: 30_000 })
})

interface Loose {
  readonly metadata: {
    readonly labels: object
    readonly annotations: object
    readonly ownerReferences: readonly object[]
  }
  readonly spec: Fields & { readonly containers: readonly Container[] }
}

type Fields = Readonly<Record<string, unknown>>
type Container = Fields & { readonly resources?: object; readonly securityContext?: object }

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

const anotherOwner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: '5b1f6a52-7a0e-4f3e-9f1f-3a2f5a2c9b12' }
const gpus = { 'example.com/gpu': '8' }

function blocking(owner: object): object {
  return { ...owner, blockOwnerDeletion: true }
}

function requesting(more: object): object {
  return { requests: { cpu: '0', memory: '0', 'ephemeral-storage': '0', ...more } }
}

function inMetadata(pod: Loose, fields: object): Loose {
  return { ...pod, metadata: { ...pod.metadata, ...fields } }
}

function inPodSecurity(pod: Loose, fields: object): Loose {
  return inSpec(pod, { securityContext: { seccompProfile: { type: 'RuntimeDefault' }, ...fields } })
}

function inSecurity(pod: Loose, fields: object): Loose {
  return inContainer(pod, { securityContext: { ...pod.spec.containers[0]?.securityContext, ...fields } })
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
