import type { FaultInjector } from '@tranche/sim-api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { chartRules } from '../../scripts/chart-rules.ts'
import { redisForTests } from '../../scripts/redis-for-tests.ts'
import { type RedisServer, startRedis } from '../../scripts/redis-server.ts'
import { agentManifest } from '../clients/cluster.ts'
import { chart, helm, programs, type Values } from './chart.ts'
import { type Image, unpackImage } from './image.ts'
import { type Kubelet, type Pod, type PodSpec, runOnce, startKubelet } from './kubelet.ts'
import { commandsOfNotes, openNotesShell } from './notes.ts'
import { type ChartCopy, olderChart } from './older-chart.ts'
import { openPlace, type Place } from './place.ts'
import { whyNoContainers } from './pods.ts'

const namespace = 'tranche-system'
/** Namespace of the DaemonSet and its Rollout. */
const agents = 'agents'
const accountName = `system:serviceaccount:${namespace}:`
const components = ['controller', 'executor', 'api'] as const
type Component = (typeof components)[number]

const redisServer = programs === null ? null : await redisForTests()
const missing = programs === null || redisServer === null ? 'helm or redis-server is not installed' : whyNoContainers()
if (missing !== null) {
  if (process.env['CI'] !== undefined) throw new Error(`${missing}; under CI no suite is skipped`)
  console.log(`skipped: the suite that runs what the chart starts, because ${missing}`)
}

/** Requests of the accounts of separate processes as `verb group/resource`, as the simulator sees them. */
const asked: Readonly<Record<Component, Set<string>>> = { controller: new Set(), executor: new Set(), api: new Set() }
/** Series of requests that the API server refused because of missing permissions. */
const refused: string[] = []
let place: Place
let redis: RedisServer
let image: Image
let older: ChartCopy
let kubelet: Kubelet
let version = 1

describe.skipIf(missing !== null)(
  'an installation whose processes have only the rendered arguments, environment, files and permissions',
  { timeout: 300_000 },
  () => {
    beforeAll(async () => {
      image = await unpackImage()
      older = olderChart()
      redis = await startRedis({ program: redisServer!, args: ['--requirepass', 'hunter2'] })
      place = await openPlace({ nodes: 6, faults: { onRequest: note } })
      for (const name of [namespace, agents]) await place.kubectl(['create', 'namespace', name])
      await place.kubectl(['create', 'secret', 'generic', 'redis', '-n', namespace, '--from-literal=password=hunter2'])
      kubelet = await startKubelet({ place, image, namespace, onReplaced: noteRefusals })
      await apply(agentOf(version))
    }, 240_000)

    afterAll(async () => {
      await kubelet?.end()
      await place?.kubectl(['delete', 'namespace', namespace, agents, 'demo', '--ignore-not-found', '--wait=false'])
      await place?.kubectl(['delete', 'lease', 'tranche-controller', '-n', 'kube-system', '--ignore-not-found'])
      await place?.end()
      await redis?.dispose()
      older?.remove()
      image?.remove()
    })

    it('of an older chart, whose definitions lack fields, releases nothing and reports why', async () => {
      await helmWaits(['install', 'tranche', older.path], {})
      await apply(rollout)
      await waitFor('rollout/agent', 'condition=Stalled')
      const message = await get<string>('rollout/agent', '{.status.conditions[?(@.type=="Stalled")].message}')
      expect(message).toMatch(
        /outdated.*Rollout lacks status\.stableRevision.*BatchRelease lacks spec\.tranche.*apply those of this version/,
      )
    })

    it('is upgraded with its definitions, and continues automatically with the existing Rollouts', async () => {
      const uid = await get<string>('rollout/agent', '{.metadata.uid}')
      await helmWaits(['upgrade', 'tranche', chart], {})
      await waitFor('rollout/agent', 'jsonpath={.status.phase}=Healthy')
      expect(await get<string>('rollout/agent', '{.metadata.uid}')).toBe(uid)
      expect(await get<string>('rollout/agent', '{.status.stableRevision}')).not.toBe('')
    })

    it.each<[string, Values, typeof approveOverRest, 'before' | 'inMidRelease']>([
      ['as one process', {}, approveOverRest, 'before'],
      ['as one process, with policies', { admission: 'policy' }, approveByKubectl, 'before'],
      ['as separate processes, with policies', { ...distributed, admission: 'policy' }, approveOverRest, 'inMidRelease'],
      ['as separate processes', distributed, approveByKubectl, 'before'],
    ])('releases a version %s', async (_, values, approve, when) => {
      const atRest = values['admission'] === 'policy' ? 'RollingUpdate' : 'OnDelete'
      if (when === 'before') {
        await helmWaits(['upgrade', 'tranche', chart], values)
        await waitFor('daemonset/agent', `jsonpath={.spec.updateStrategy.type}=${atRest}`)
      }
      await releaseUntilPaused()
      if (when === 'inMidRelease') await helmWaits(['upgrade', 'tranche', chart], values)
      await approve()
      await released()
      await waitFor('daemonset/agent', `jsonpath={.spec.updateStrategy.type}=${atRest}`)
    })

    it('reports that every process is ready, and which one leads', async () => {
      const words = kubelet.pods().map(async ({ name, urls }) => {
        const response = await fetch(`${urls['health'] ?? urls['http']}/readyz`)
        const { programs: said = {} } = (await response.json()) as { readonly programs?: Readonly<Record<string, string>> }
        return [response.status, name, ...Object.values(said)].join(' ')
      })
      expect((await Promise.all(words)).toSorted()).toEqual([
        '200 tranche-api',
        '200 tranche-api',
        '200 tranche-controller leading ready',
        '200 tranche-controller standing by ready',
        '200 tranche-executor ready ready',
        '200 tranche-executor ready ready',
      ])
    })

    it('passes helm test', async () => {
      const { stdout } = await helm(['get', 'hooks', 'tranche', '--namespace', namespace], place)
      const hooks = parseAllDocuments(stdout).map((document) => document.toJS() as { readonly kind: string; readonly spec: PodSpec })
      const { spec } = hooks.find(({ kind }) => kind === 'Pod')!
      // Objects that helm creates before the pod, and deletes after it.
      const account = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: hooks.filter(({ kind }) => kind !== 'Pod') })
      await place.kubectl(['apply', '-f', '-'], account)
      for (const one of spec.containers) {
        const args = one.args.map((arg) => arg.replace(/^--server=.*/, `--server=${apiUrl()}`))
        const run = await runOnce({ ...one, args }, spec, { place, image, namespace })
        expect([await run.ended, run.output()]).toEqual([0, expect.stringMatching(/agent|Kubernetes/)])
        expect(run.output()).not.toMatch(/^(problem|unknown)/m)
      }
      await place.kubectl(['delete', '-f', '-'], account)
    })

    it('prints commands with the described effect, one after the other', async () => {
      await place.kubectl(['create', 'namespace', 'demo'])
      const { metadata, ...agent } = agentManifest('v1')
      await apply({ ...agent, metadata: { ...metadata, name: 'node-agent', namespace: 'demo' } })
      await bindPipeline('tranche-viewer', 'demo')
      const { stdout: notes } = await helm(['get', 'notes', 'tranche', '--namespace', namespace], place)
      using shell = openNotesShell(`${image.folder}/bin/tranche.mjs`, place.kubeconfig)
      const said: string[] = []
      for (const command of commandsOfNotes(notes)) {
        const { code, stdout, stderr } = await shell.type(onThisMachine(command))
        expect({ command, code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringMatching(/error|INVALID/i) as string })
        said.push(stdout)
        if (command.startsWith('kubectl apply')) await releaseNodeAgent()
      }
      expect(said.join('')).toMatch(/demo\/node-agent: approve (?:accepted|acknowledged)[\s\S]*"name":"node-agent"/)
      await place.kubectl(['delete', 'rollout/node-agent', 'daemonset/node-agent', '-n', 'demo'])
    })

    it('goes back to the previous values in mid-release, and the release continues', async () => {
      await releaseUntilPaused()
      await helmWaits(['rollback', 'tranche'], {})
      await approveByKubectl()
      await released()
    })

    it('requests nothing beyond its permissions, and the API has hardly any unused permissions', async () => {
      for (const pod of kubelet.pods()) await noteRefusals(pod)
      expect(refused).toEqual([])
      expect(kubelet.outputsOfKept()).not.toMatch(/forbidden|"level":"error"/i)
      if (process.env['TRANCHE_TEST_KUBECONFIG'] !== undefined) return
      const page = chartRules()
      for (const component of components) {
        const granted = [page.ClusterRole, page.Role].flatMap((roles) => [
          ...(roles[`tranche-${component}`] ?? []),
          ...((component === 'controller' && roles['tranche-admission']) || []),
        ])
        const rights = granted.flatMap(({ apiGroups = [], resources = [], verbs = [] }) =>
          verbs.flatMap((verb) => apiGroups.flatMap((group) => resources.map((resource) => `${verb} ${group}/${resource}`))),
        )
        expect([...asked[component]].filter((right) => !rights.includes(right))).toEqual([])
        if (component === 'api') expect(rights.filter((right) => !asked.api.has(right) && !rareOfApi.includes(right))).toEqual([])
      }
    })

    it('is uninstalled in mid-release, and leaves DaemonSets as they are', async () => {
      await releaseUntilPaused()
      const before = await looks()
      const { code, stdout } = await helm(['uninstall', 'tranche', '--namespace', namespace, '--wait'], place)
      expect([code, stdout.match(/\[CustomResourceDefinition\] \S+/g)?.length]).toEqual([0, 3])
      await kubelet.idle()
      expect(kubelet.pods()).toEqual([])
      expect(await looks()).toEqual(before)
      expect(await leftovers()).toEqual([])
      // The Lease is left behind, because there may be no process left to release it.
      await place.kubectl(['delete', 'lease', 'tranche-controller', '-n', 'kube-system'])
    })

    it('continues the release at the same point after it is installed again', async () => {
      await helmWaits(['install', 'tranche', chart], {})
      await waitFor('rollout/agent', 'jsonpath={.status.canaryStatus.currentStepState}=StepPaused')
      await approveByKubectl()
      await released()
    })

    it('leaves nothing behind if the Rollouts are deleted before it', async () => {
      await place.kubectl(['delete', 'rollouts.rollouts.kruise.io', '--all', '-n', agents, '--timeout=60s'])
      expect(await get<string>('daemonset/agent', '{.spec.updateStrategy.type}')).toBe('RollingUpdate')
      const { code } = await helm(['uninstall', 'tranche', '--namespace', namespace, '--wait'], place)
      expect(code).toBe(0)
      await kubelet.idle()
      const carrying = await place.kubectl(['get', 'daemonsets', '-A', '-o', 'name', '-l', 'rollouts.kruise.io/workload-type=daemonset'])
      expect([carrying.stdout, await leftovers()]).toEqual(['', []])
      // An API server enforces the policy that protects them for up to a second after its deletion.
      const definitions = ['crd', '-l', 'app.kubernetes.io/part-of=tranche']
      await place.kubectl(['annotate', ...definitions, 'tranche.dev/allow-delete=true'])
      await place.kubectl(['delete', ...definitions, '--timeout=60s'])
    })

    it('has ended each replaced process with 0, and no process ended by itself', () => {
      expect(kubelet.crashes).toEqual([])
      expect(kubelet.exits.filter((code) => code !== 0)).toEqual([])
      expect(kubelet.outputs()).not.toContain('hunter2')
    })
  },
)

/** Helm waits with ReplicaSets, which the simulator does not serve. There kubectl waits, as in the notes of the chart. */
const waiting = process.env['TRANCHE_TEST_KUBECONFIG'] === undefined ? [] : ['--wait', '--timeout', '120s']

/** The arguments of Redis follow from {@link redis}; its port is known later. */
const distributed: Values = { mode: 'distributed' }

const rollout = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
  metadata: { name: 'agent', namespace: agents },
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
    strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] } },
  },
}

const rareOfApi: readonly string[] = [
  // Only for undo and restart.
  'get apps/daemonsets',
  'patch apps/daemonsets',
  // Only for forecasts, which apps/api/test/permissions.test.ts requests.
  'get rollouts.kruise.io/batchreleases',
  'get tranche.dev/releasepolicies',
  'list /serviceaccounts',
  'list /resourcequotas',
  'list /limitranges',
  'get scheduling.k8s.io/priorityclasses',
  // Only for the Doctor page, which apps/api/test/doctor.test.ts requests.
  'get coordination.k8s.io/leases',
  'list coordination.k8s.io/leases',
  'list admissionregistration.k8s.io/mutatingwebhookconfigurations',
  'list admissionregistration.k8s.io/validatingwebhookconfigurations',
  'list admissionregistration.k8s.io/mutatingadmissionpolicies',
  'list admissionregistration.k8s.io/mutatingadmissionpolicybindings',
  // The simulator does not report reviews; but without these permissions every REST request here would be rejected.
  'create authentication.k8s.io/tokenreviews',
  'create authorization.k8s.io/subjectaccessreviews',
]

function agentOf(tag: number): object {
  const manifest = agentManifest(`v${tag}`)
  return { ...manifest, metadata: { ...manifest.metadata, namespace: agents } }
}

function note({ actor, verb, resource, subresource }: Parameters<NonNullable<FaultInjector['onRequest']>>[0]): undefined {
  const component = components.find((one) => actor === `${accountName}tranche-${one}`)
  // Every authenticated user may read discovery and OpenAPI (`documents`), and review their own permissions.
  if (component === undefined || resource.resource.startsWith('self') || resource.resource === 'documents') return undefined
  asked[component].add(`${verb} ${resource.group}/${resource.resource}${subresource === undefined ? '' : `/${subresource}`}`)
  return undefined
}

async function noteRefusals({ name, urls }: Pod): Promise<void> {
  if (urls['metrics'] === undefined) return
  const text = await (await fetch(`${urls['metrics']}/metrics`)).text()
  refused.push(...text.split('\n').flatMap((line) => (/code="40[13]"/.test(line) ? [`${name}: ${line}`] : [])))
}

/** Installs, upgrades or rolls back, and waits until the new pods are ready and the old ones gone. */
async function helmWaits(args: readonly string[], given: Values): Promise<void> {
  const uses = given['mode'] === 'distributed' && { redis: { url: `redis://127.0.0.1:${redis.port}`, secret: { name: 'redis' } } }
  const { code, stderr } = await helm([...args, '--namespace', namespace, ...waiting], { ...place, values: { ...given, ...uses } })
  expect({ code, stderr }, kubelet.outputs()).toEqual({ code: 0, stderr: '' })
  const { stdout } = await place.kubectl(['get', 'deployments', '-n', namespace, '-o', 'name'])
  for (const name of stdout.trim().split('\n')) await place.kubectl(['rollout', 'status', name, '-n', namespace, '--timeout=120s'])
  await kubelet.idle()
}

async function releaseUntilPaused(): Promise<void> {
  version++
  await place.kubectl(['set', 'image', 'daemonset/agent', `main=agent:v${version}`, '-n', agents])
  await waitFor('rollout/agent', 'jsonpath={.status.canaryStatus.currentStepState}=StepPaused')
  await waitFor('daemonset/agent', 'jsonpath={.status.updatedNumberScheduled}=1')
}

async function released(): Promise<void> {
  await waitFor('rollout/agent', 'jsonpath={.status.phase}=Healthy')
  const desired = await get<number>('daemonset/agent', '{.status.desiredNumberScheduled}')
  expect(desired).toBeGreaterThan(1)
  await waitFor('daemonset/agent', `jsonpath={.status.updatedNumberScheduled}=${desired}`)
}

/** Binds the account of a pipeline to a role in a namespace. */
async function bindPipeline(role: string, where: string): Promise<void> {
  await apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'pipeline', namespace: agents } })
  await apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'pipeline', namespace: where },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: 'pipeline', namespace: agents }],
  })
}

async function approveOverRest(): Promise<void> {
  await bindPipeline('tranche-approver', agents)
  const { stdout: token } = await place.kubectl(['create', 'token', 'pipeline', '-n', agents])
  const response = await fetch(`${apiUrl()}/api/v1/namespaces/${agents}/rollouts/agent/actions/approve?wait=30`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ expectedStep: 1, reason: 'looks good' }),
  })
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"state":"acknowledged"')])
}

async function approveByKubectl(): Promise<void> {
  const action = JSON.stringify({ id: `v${version}`, type: 'approve', by: 'me', expectedStep: 1 })
  await place.kubectl(['annotate', 'rollout', 'agent', '-n', agents, '--overwrite', `tranche.dev/action=${action}`])
  await waitFor('rollout/agent', 'jsonpath={.status.lastAction.result}=Accepted')
}

/** No kubelet runs the pods of the cluster, and nothing waits for them; their services have an address of this machine. */
function onThisMachine(command: string): string {
  return command
    .replace(/ rollout status .*/, '$& --watch=false')
    .replace(/^helm test .*/, '$& --filter name=!tranche-test')
    .replace(/ port-forward (service\/\S+) 8080:\d+$/, ' get $1')
    .replace('http://127.0.0.1:8080', apiUrl())
    .replace('ACCOUNT', `pipeline -n ${agents}`)
}

/** The notes describe the change of the image in words, and the pause after it. */
async function releaseNodeAgent(): Promise<void> {
  const wait = ['wait', '-n', 'demo', 'rollout/node-agent', '--timeout=120s']
  await place.kubectl([...wait, '--for=jsonpath={.status.phase}=Healthy'])
  await place.kubectl(['set', 'image', '-n', 'demo', 'daemonset/node-agent', 'main=agent:v2'])
  await place.kubectl([...wait, '--for=jsonpath={.status.canaryStatus.currentStepState}=StepPaused'])
}

/** URL of any pod that serves the API. */
function apiUrl(): string {
  const url = kubelet.pods().find(({ urls }) => urls['http'] !== undefined)?.urls['http']
  if (url === undefined) throw new Error('no pod serves the REST API')
  return url
}

/** The DaemonSet as a user sees it, and its pods. */
async function looks(): Promise<unknown> {
  const { stdout } = await place.kubectl(['get', 'daemonset/agent', '-n', agents, '-o', 'json'])
  const { metadata, spec } = JSON.parse(stdout) as { readonly metadata: object; readonly spec: object }
  const pods = await place.kubectl(['get', 'pods', '-n', agents, '-o', 'jsonpath={.items[*].metadata.uid}'])
  return { metadata, spec, pods: pods.stdout.split(' ').toSorted() }
}

/** Objects of the chart other than definitions and custom resources. */
async function leftovers(): Promise<readonly string[]> {
  const kinds =
    'deployments,services,serviceaccounts,networkpolicies,poddisruptionbudgets,clusterroles,clusterrolebindings,roles,rolebindings,mutatingadmissionpolicies,validatingadmissionpolicies'
  const { stdout } = await place.kubectl(['get', kinds, '--all-namespaces', '-o', 'name', '-l', 'app.kubernetes.io/part-of=tranche'])
  return stdout.split('\n').filter((line) => line !== '')
}

async function waitFor(object: string, condition: string): Promise<void> {
  try {
    await place.kubectl(['wait', object, '-n', agents, `--for=${condition}`, '--timeout=120s'])
  } catch (error) {
    const { stdout } = await place.kubectl(['get', object, '-n', agents, '-o', 'yaml'])
    throw new Error(`${String(error)}\n${stdout}\n${kubelet.outputs()}`, { cause: error })
  }
}

async function apply(object: object): Promise<void> {
  await place.kubectl(['apply', '-f', '-'], JSON.stringify(object))
}

/** @param path of jsonpath; a text that looks like a number is returned as a number */
async function get<Value>(what: string, path: string): Promise<Value> {
  const { stdout } = await place.kubectl(['get', what, '-n', agents, '-o', `jsonpath=${path}`])
  return (/^\d+$/.test(stdout) ? Number(stdout) : stdout) as Value
}
