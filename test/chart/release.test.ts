import type { FaultInjector } from '@tranche/sim-api'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { parse } from 'yaml'
import { chartRules } from '../../scripts/chart-rules.ts'
import { freePort, type RedisServer, startRedis } from '../../scripts/redis-server.ts'
import { agentManifest, type Cluster, startCluster } from '../clients/cluster.ts'
import { type Ended, runProgram } from '../clients/run-program.ts'
import { chart, helm, programs } from './chart.ts'
import { bundleImage, type Image } from './image.ts'
import { commandsOfNotes, openNotesShell } from './notes.ts'
import { type ContainerSpec, type RunningContainer, runContainer, whyNoContainers } from './pods.ts'

interface PodSpec {
  readonly serviceAccountName: string
  readonly containers: readonly ContainerSpec[]
}
interface Deployment {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly replicas: number; readonly template: { readonly spec: PodSpec } }
}

const namespace = 'tranche-system'
const accountName = `system:serviceaccount:${namespace}:`
const components = ['controller', 'executor', 'api'] as const
type Component = (typeof components)[number]

const redisServer = inject('redisServer')
const missing = programs === null || redisServer === null ? 'helm or redis-server is not installed' : whyNoContainers()
if (missing !== null) {
  if (process.env['CI'] !== undefined) throw new Error(`${missing}; under CI no suite is skipped`)
  console.log(`skipped: the suite that runs what the chart starts, because ${missing}`)
}

/** Requests of our accounts as `verb group/resource`. */
const asked: Readonly<Record<Component, Set<string>>> = { controller: new Set(), executor: new Set(), api: new Set() }
const containers = new Map<string, RunningContainer>()
let cluster: Cluster
let redis: RedisServer
let image: Image
let apiUrl: string

describe.skipIf(missing !== null)(
  'what the chart starts, with the rendered arguments, environment and rights and nothing else',
  { timeout: 120_000 },
  () => {
    beforeAll(async () => {
      image = await bundleImage()
      redis = await startRedis({ program: redisServer! })
      cluster = await startCluster(6, { definitions: false, faults: { onRequest: note } })
      const values = {
        mode: 'distributed',
        redis: { url: `redis://127.0.0.1:${redis.port}` },
        executor: { replicas: 1 },
        api: { replicas: 1 },
      }
      const target = ['tranche', chart, '--namespace', namespace, '--create-namespace']
      const { code, stderr } = await helm(['install', ...target], { ...cluster, values })
      if (code !== 0) throw new Error(stderr)
      for (const deployment of await get<readonly Deployment[]>('deployments', '{.items}')) await start(deployment)
      apiUrl = /http:\/\/[^"]+/.exec(await container('tranche-api-0').said('started at'))![0]
    }, 240_000)

    afterAll(async () => {
      for (const { terminate } of containers.values()) terminate()
      await Promise.all([...containers.values()].map(({ ended }) => ended))
      await cluster?.end()
      await redis?.dispose()
      image?.remove()
    }, 60_000)

    it('elects a leader, and stands by otherwise', async () => {
      await Promise.any(['tranche-controller-0', 'tranche-controller-1'].map((name) => container(name).said('became leader')))
    })

    it('releases a new version, and waits for whoever approves over REST', async () => {
      await apply(agentManifest('v1'))
      await apply(rollout)
      await kubectl(['wait', 'rollout/agent', '--for=jsonpath={.status.phase}=Healthy', '--timeout=60s'])
      await kubectl(['set', 'image', 'daemonset/agent', 'main=agent:v2'])
      await kubectl(['wait', 'rollout/agent', '--for=jsonpath={.status.canaryStatus.currentStepState}=StepPaused', '--timeout=60s'])
      expect(await get<number>('daemonset/agent', '{.status.updatedNumberScheduled}')).toBe(1)

      await kubectl(['create', 'serviceaccount', 'pipeline'])
      await kubectl(['create', 'rolebinding', 'pipeline', '--clusterrole=tranche-approver', '--serviceaccount=default:pipeline'])
      const response = await fetch(`${apiUrl}/api/v1/namespaces/default/rollouts/agent/actions/approve?wait=30`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await tokenOf('pipeline', 'default')}`, 'content-type': 'application/json' },
        body: JSON.stringify({ expectedStep: 1, reason: 'looks good' }),
      })
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"state":"acknowledged"')])
      await kubectl(['wait', 'rollout/agent', '--for=jsonpath={.status.phase}=Healthy', '--timeout=60s'])
      expect(await get<number>('daemonset/agent', '{.status.updatedNumberScheduled}')).toBe(6)
    })

    it('prints commands that do what it says, one after the other', async () => {
      await kubectl(['create', 'namespace', 'demo'])
      await kubectl([
        'create',
        'rolebinding',
        'pipeline',
        '-n',
        'demo',
        '--clusterrole=tranche-viewer',
        '--serviceaccount=default:pipeline',
      ])
      await apply({ ...agentManifest('v1'), metadata: { name: 'node-agent', namespace: 'demo' } })
      const { stdout: notes } = await helm(['get', 'notes', 'tranche', '--namespace', namespace], cluster)
      using shell = openNotesShell(`${image.folder}/bin/tranche.mjs`, cluster.kubeconfig)
      const said: string[] = []
      for (const command of commandsOfNotes(notes)) {
        const { code, stdout, stderr } = await shell.type(onThisMachine(command))
        expect({ command, code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringMatching(/error|INVALID/i) as string })
        said.push(stdout)
        if (command.startsWith('kubectl apply')) await releaseNodeAgent()
      }
      expect(said.join('')).toMatch(/demo\/node-agent: approve accepted[\s\S]*"name":"node-agent"/)
    })

    it('tells the kubelet that it is ready, whether it leads or not', async () => {
      const words = await Promise.all(
        ['tranche-controller-0', 'tranche-controller-1', 'tranche-executor-0'].map(async (name) => {
          const [url] = /http:\/\/[^"]+/.exec(await container(name).said('says how it is at'))!
          const response = await fetch(url)
          const { programs: said } = (await response.json()) as { readonly programs: Readonly<Record<string, string>> }
          return [response.status, ...Object.values(said)].join(' ')
        }),
      )
      expect(words.toSorted()).toEqual(['200 leading', '200 ready', '200 standing by'])
      expect((await fetch(`${apiUrl}/readyz`)).status).toBe(200)
    })

    it('passes helm test', async () => {
      const { stdout } = await helm(['get', 'hooks', 'tranche', '--namespace', namespace], cluster)
      const { spec } = parse(stdout) as { readonly spec: PodSpec }
      for (const one of spec.containers) {
        const args = one.args.map((arg) => arg.replace(/^--server=.*/, `--server=${apiUrl}`))
        const run = runContainer({ ...one, args }, await accountOf(spec))
        expect([await run.ended, run.output()]).toEqual([0, expect.stringMatching(/agent|Kubernetes/)])
      }
    })

    it('asks for nothing that it may not, and may hardly do what it does not ask for', () => {
      const page = chartRules()
      for (const component of components) {
        const granted = [page.ClusterRole, page.Role].flatMap((roles) => roles[`tranche-${component}`] ?? [])
        const rights = granted.flatMap(({ apiGroups = [], resources = [], verbs = [] }) =>
          verbs.flatMap((verb) => apiGroups.flatMap((group) => resources.map((resource) => `${verb} ${group}/${resource}`))),
        )
        expect([...asked[component]].filter((right) => !rights.includes(right))).toEqual([])
        if (component === 'api') expect(rights.filter((right) => !asked.api.has(right) && !rareOfApi.includes(right))).toEqual([])
      }
      for (const { output } of containers.values()) expect(output()).not.toMatch(/"level":(40|50)|Forbidden/)
    })

    it('ends with 0 when it is asked to', async () => {
      for (const { terminate } of containers.values()) terminate()
      for (const { ended } of containers.values()) expect(await ended).toBe(0)
    })
  },
)

const rareOfApi: readonly string[] = [
  // Where somebody asks to undo or restart.
  'get apps/daemonsets',
  'patch apps/daemonsets',
  // Where somebody asks for a forecast; apps/api/test/permissions.test.ts asks for one.
  'get rollouts.kruise.io/batchreleases',
  'get tranche.dev/releasepolicies',
  'list /serviceaccounts',
  'list /resourcequotas',
  'list /limitranges',
  'get scheduling.k8s.io/priorityclasses',
  // The simulator shows no reviews; without them everything that is asked over REST here would be refused.
  'create authentication.k8s.io/tokenreviews',
  'create authorization.k8s.io/subjectaccessreviews',
]

const rollout = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
  metadata: { name: 'agent', namespace: 'default' },
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
    strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] } },
  },
}

function note({ actor, verb, resource, subresource }: Parameters<NonNullable<FaultInjector['onRequest']>>[0]): undefined {
  const component = components.find((one) => actor === `${accountName}tranche-${one}`)
  if (component === undefined || resource.resource.startsWith('self')) return undefined
  asked[component].add(`${verb} ${resource.group}/${resource.resource}${subresource === undefined ? '' : `/${subresource}`}`)
  return undefined
}

/** Nothing runs the pods of the cluster, or waits for them; what they are has an address of this machine. */
function onThisMachine(command: string): string {
  return command
    .replace(/ rollout status .*/, '$& --watch=false')
    .replace(/^helm test .*/, '$& --filter name=!tranche-test')
    .replace(/ port-forward (service\/\S+) 8080:\d+$/, ' get $1')
    .replace('http://127.0.0.1:8080', apiUrl)
    .replace('ACCOUNT', 'pipeline')
}

/** The notes say in words that the image is changed, and that the rest waits then. */
async function releaseNodeAgent(): Promise<void> {
  const wait = ['wait', '-n', 'demo', 'rollout/node-agent', '--timeout=60s']
  await kubectl([...wait, '--for=jsonpath={.status.phase}=Healthy'])
  await kubectl(['set', 'image', '-n', 'demo', 'daemonset/node-agent', 'main=agent:v2'])
  await kubectl([...wait, '--for=jsonpath={.status.canaryStatus.currentStepState}=StepPaused'])
}

/** What a pod has of its own, a machine shares: addresses and ports are exchanged, and nothing else. */
async function start({ metadata, spec: { replicas, template } }: Deployment): Promise<void> {
  const [main] = template.spec.containers
  for (let index = 0; index < replicas; index++) {
    const [health, http, metrics] = [await freePort(), await freePort(), await freePort()]
    const args = main!.args.map((arg) =>
      arg
        .replace(/-host=0\.0\.0\.0$/, '-host=127.0.0.1')
        .replace('--health-port=8081', `--health-port=${health}`)
        .replace('--metrics-port=8082', `--metrics-port=${metrics}`)
        .replace('--api-port=8080', `--api-port=${http}`),
    )
    containers.set(`${metadata.name}-${index}`, runContainer({ ...main!, args }, await accountOf(template.spec)))
  }
}

async function accountOf({ serviceAccountName }: PodSpec) {
  return {
    image: image.folder,
    server: cluster.url,
    caCertificate: cluster.caCertificate,
    token: await tokenOf(serviceAccountName, namespace),
    namespace,
  }
}

async function tokenOf(account: string, of: string): Promise<string> {
  return (await kubectl(['create', 'token', account, '--namespace', of])).stdout.trim()
}

function container(name: string): RunningContainer {
  const found = containers.get(name)
  if (found === undefined) throw new Error(`there is no ${name}, only ${[...containers.keys()].join(', ')}`)
  return found
}

async function apply(object: object): Promise<void> {
  await kubectl(['apply', '-f', '-'], JSON.stringify(object))
}

async function get<Value>(what: string, path: string): Promise<Value> {
  const of = what === 'deployments' ? namespace : 'default'
  return JSON.parse((await kubectl(['get', what, '--namespace', of, '-o', `jsonpath=${path}`])).stdout) as Value
}

async function kubectl(args: readonly string[], input = ''): Promise<Ended> {
  const ended = await runProgram(programs!.kubectl, ['--kubeconfig', cluster.kubeconfig, ...args], { input })
  if (ended.code !== 0)
    throw new Error(`kubectl ${args.join(' ')}: ${ended.stderr}\n${[...containers.values()].map((one) => one.output()).join('')}`)
  return ended
}
