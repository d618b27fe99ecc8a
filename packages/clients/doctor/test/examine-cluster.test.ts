import { podPolicy } from '@tranche/admission'
import { customResourceDefinitions, type DoctorFinding } from '@tranche/api-schema'
import { FakeClock, systemClock } from '@tranche/clock'
import { createKubeClient, isAlreadyExists, resourcePaths } from '@tranche/kube-client'
import { createSimulator, type Simulator } from '@tranche/sim'
import { silentLogger } from '@tranche/telemetry'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { examineCluster } from '../src/index.ts'
import { command } from './doctor-signs.ts'

const MINUTE_MS = 60_000
let simulator: Simulator

beforeEach(() => {
  simulator = createSimulator({ clock: systemClock, nodes: 0, watchDelayMs: 0 })
})
afterEach(() => simulator.stop())

describe('an examination of a cluster', () => {
  it.each([
    [-10, 'behind'],
    [10, 'ahead of'],
  ])('computes the age of a Lease by the clock of the API server, on a machine whose clock is wrong by %d min', async (minutes, text) => {
    await writeLease()
    const found = await examined({ skewMs: minutes * MINUTE_MS })
    expect(found['controller']).toMatchObject({ state: 'ok' })
    expect(found['clock']?.message).toMatch(new RegExp(`^the clock of this machine is (10m00|9m59)s ${text} the API server$`))
  })

  it('does not take pods in namespaces that it may not list for absent', async () => {
    await writeControllerPod()
    const mayUser = async (right: object): Promise<boolean> =>
      !('resource' in right) || ('namespace' in right && right.namespace === 'demo')
    const found = await examined({ behalf: { mayUser, account: 'the account' }, namespaces: ['demo'] })
    expect(found['versions']).toEqual({ check: 'versions', state: 'unknown', message: 'you may not list pods in all namespaces' })
  })

  it('reads the pods of the installation alone, although others have its label', async () => {
    await writeControllerPod()
    await writeControllerPod({ namespace: 'tenant', image: 'tranche:0.0.1' })
    expect((await examined({ leaseNamespace: 'tranche-system' }))['versions']?.message).not.toContain('0.0.1')
    expect((await examined({ leaseNamespace: 'elsewhere' }))['versions']?.message).toContain('0.0.1')
    const mayUser = async (right: object): Promise<boolean> =>
      !('resource' in right) || ('namespace' in right && ['tenant', 'tranche-system'].includes(String(right.namespace)))
    const behalf = { mayUser, account: 'the account' }
    expect((await examined({ leaseNamespace: 'tranche-system', behalf }))['versions']?.message).not.toContain('0.0.1')
    expect((await examined({ leaseNamespace: 'elsewhere', namespaces: ['tenant'], behalf }))['versions']).toMatchObject({
      state: 'unknown',
    })
  })

  it('reads the policy for pods that the controller names, where it pins config', async () => {
    await writeControllerPod({ args: ['--pod-policy=pods'] })
    expect((await examined())['config']).toBeUndefined()
    await clientOf().delete(resourcePaths.pods, { namespace: 'tranche-system', name: 'c' })
    await writeControllerPod({ args: ['--pin-config', '--pod-policy=pods'] })
    expect((await examined())['config']?.message).toContain('there is no MutatingAdmissionPolicy pods')
    for (const { kind, ...object } of podPolicy) {
      const plural = kind === 'MutatingAdmissionPolicy' ? 'mutatingadmissionpolicies' : 'mutatingadmissionpolicybindings'
      const path = { group: 'admissionregistration.k8s.io', version: 'v1', plural, namespaced: false }
      await clientOf().create(path, { kind, ...object } as never)
    }
    expect((await examined())['config']).toMatchObject({ state: 'ok' })
    const mayUser = async (right: object): Promise<boolean> =>
      !('resource' in right) || right.resource !== 'mutatingadmissionpolicybindings'
    expect((await examined({ behalf: { mayUser, account: 'the account' } }))['config']).toMatchObject({ state: 'unknown' })
  })

  it('reads the policies that Rollouts name, each with the right of the user', async () => {
    for (const definition of customResourceDefinitions)
      await clientOf().create(resourcePaths.customResourceDefinitions, definition as never)
    await clientOf().create(resourcePaths.namespaces, { metadata: { name: 'demo' } } as never)
    const strategy = { canary: { steps: [{ replicas: '100%' }] } }
    const metadata = { name: 'agent', namespace: 'demo', annotations: { 'tranche.dev/release-policy': 'careful' } }
    const spec = { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' }, strategy }
    await clientOf().create(resourcePaths.rollouts, { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', metadata, spec } as never)
    expect((await examined())['policies']).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('demo/careful does not exist'),
    })
    const policy = { apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy', metadata: { name: 'careful', namespace: 'demo' }, spec: {} }
    await clientOf().create(resourcePaths.releasePolicies, policy as never)
    expect((await examined())['policies']).toMatchObject({ state: 'ok' })
    const mayUser = async (right: object): Promise<boolean> => !('resource' in right) || right.resource !== 'releasepolicies'
    expect((await examined({ behalf: { mayUser, account: 'the account' } }))['policies']).toEqual({
      check: 'policies',
      state: 'unknown',
      message: expect.stringContaining('you may not get releasepolicies.tranche.dev'),
    })
  })

  it('asks for no more permissions of service accounts than an installation needs', async () => {
    await writeControllerPod({ args: Array.from({ length: 1_000 }, (_, at) => `--watch-namespace=n${at}`) })
    expect((await examined())['accounts']).toMatchObject({
      state: 'unknown',
      message: expect.stringContaining('more than 10000') as string,
    })
  })

  it('names what programs that were uninstalled in mid-work have left, and the commands that remove it', async () => {
    const mark = { namespace: 'demo', name: 'node-agent', uid: 'u', podUid: 'p', podResourceVersion: '7', cordoned: true }
    const annotations = { 'tranche.dev/cordon': JSON.stringify(mark) }
    await clientOf().create(resourcePaths.nodes, { metadata: { name: 'node-1', annotations }, spec: { unschedulable: true } } as never)
    await clientOf().create(resourcePaths.namespaces, { metadata: { name: 'demo' } } as never)
    const spec = { nodeName: 'node-1', containers: [{ name: 'pull', image: 'registry.example/agent:v2' }] }
    const helper = { namespace: 'demo', name: 'helper', labels: { 'tranche.dev/pre-pull': 'abc' } }
    await clientOf().create(resourcePaths.pods, { metadata: helper, spec } as never)
    const lease = { namespace: 'kube-system', name: 'tranche-group.demo.agents', labels: { 'tranche.dev/group': 'agents' } }
    await clientOf().create(resourcePaths.leases, { metadata: lease, spec: { holderIdentity: 'demo/node-agent/u' } } as never)
    expect(await left()).toEqual([
      'kubectl uncordon node-1 && kubectl annotate nodes node-1 tranche.dev/cordon-',
      'kubectl delete pods -n demo -l tranche.dev/pre-pull',
      'kubectl delete leases -n kube-system -l tranche.dev/group',
    ])
    await writeLease()
    expect(await left()).toEqual([])
  })

  it('is not failed by definitions that are missing', async () => {
    const found = await examined()
    expect(found['resources']).toMatchObject({ state: 'problem', command: expect.stringMatching(/^kubectl apply /) as string })
    const mayUser = async (right: object): Promise<boolean> =>
      !('resource' in right) || ('namespace' in right && right.namespace === 'demo')
    const limited = await examined({ behalf: { mayUser, account: 'the account' }, namespaces: ['demo'] })
    expect(limited['resources']).toMatchObject({ state: 'problem' })
  })
})

type Options = Partial<Parameters<typeof examineCluster>[0]> & { readonly skewMs?: number }

/** @returns the last finding of each check */
async function examined(options: Options = {}): Promise<Readonly<Record<string, DoctorFinding>>> {
  return Object.fromEntries((await allExamined(options)).map((one) => [one.check, one]))
}

/** @returns commands of the findings about what is left */
async function left(): Promise<readonly (string | undefined)[]> {
  return (await allExamined()).filter(({ check }) => check === 'left').map((one) => one.command)
}

async function allExamined({ skewMs = 0, ...options }: Options = {}): Promise<readonly DoctorFinding[]> {
  return examineCluster({
    client: clientOf(),
    exchange: simulator.exchangeFor('admin'),
    server: 'the API server',
    clock: new FakeClock(Date.now() + skewMs),
    namespace: 'demo',
    namespaces: [],
    leaseNamespace: 'kube-system',
    redis: null,
    prepareRedisCheck: null,
    behalf: null,
    examiner: command,
    signal: new AbortController().signal,
    ...options,
  })
}

function clientOf() {
  return createKubeClient({ exchange: simulator.exchangeFor('admin'), clock: systemClock, userAgent: 'test/1', log: silentLogger })
}

async function writeLease(): Promise<void> {
  const spec = { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: new Date().toISOString() }
  await clientOf().create(resourcePaths.leases, { metadata: { namespace: 'kube-system', name: 'tranche-controller' }, spec } as never)
}

async function writeControllerPod({
  namespace = 'tranche-system',
  image = 'tranche:0.1.0',
  args = [] as readonly string[],
} = {}): Promise<void> {
  await clientOf()
    .create(resourcePaths.namespaces, { metadata: { name: namespace } })
    .catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error
    })
  const labels = { 'app.kubernetes.io/part-of': 'tranche', 'app.kubernetes.io/component': 'controller' }
  const spec = { containers: [{ name: 'tranche', image, args: ['controller', ...args] }] }
  await clientOf().create(resourcePaths.pods, { metadata: { namespace, name: 'c', labels }, spec } as never)
}
