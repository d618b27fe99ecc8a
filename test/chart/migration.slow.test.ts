import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startController } from '../../apps/controller/src/index.ts'
import { startExecutor } from '../../apps/executor/src/index.ts'
import type { Rollout } from '../../packages/words/api-schema/src/index.ts'
import { systemClock } from '../../packages/words/clock/src/index.ts'
import { createKubeClient, type KubeClient, resourcePaths } from '../../packages/adapters/kube-client/src/index.ts'
import type { DaemonSet, Pod } from '../../packages/words/kube-types/src/index.ts'
import { silentLogger } from '../../packages/words/telemetry/src/index.ts'
import { createInProcessQueue } from '../../packages/ports/queue/src/index.ts'
import { programs } from './chart.ts'
import { type Cluster, startCluster } from '../clients/cluster.ts'
import { leaveAsKruise, type KruiseCluster, startKruise } from '../scenarios/kruise-leftovers.ts'
import { daemonSetManifest, goesBy, policyKey, stageKey } from '../scenarios/stage-objects.ts'

const page = readFileSync('docs/guides/migration.md', 'utf8')
const idleKey = { namespace: stageKey.namespace, name: 'log-agent' }
const kruiseKeys = ['rollouts.kruise.io/daemonset-revision', 'rollouts.kruise.io/daemonset-advanced-control']

let cluster: Cluster
let client: KubeClient
let folder: string
let kruise: { stop(): void }
let ours: readonly { stop(): Promise<void> }[] = []
/** Pods of the DaemonSet that OpenKruise left in mid-release, before Tranche ran. */
let podsBefore: readonly string[]

describe.skipIf(programs === null)('the commands of docs/guides/migration.md, in their order', () => {
  beforeAll(async () => {
    cluster = await startCluster(10)
    client = createKubeClient({
      exchange: cluster.simulator.exchangeFor('admin'),
      clock: systemClock,
      userAgent: 'story/1',
      log: silentLogger,
    })
    folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
    for (const [name, program] of Object.entries(programs!)) symlinkSync(program, join(folder, name))
    writeFileSync(join(folder, 'tranche'), `#!/bin/sh\nexec ${process.execPath} ${resolve('apps/launcher/bin/tranche.mjs')} "$@"\n`)
    chmodSync(join(folder, 'tranche'), 0o755)
    mkdirSync(join(folder, 'work'))
    symlinkSync(resolve('charts'), join(folder, 'work/charts'))
    await setTheStage()
  })

  afterAll(async () => {
    kruise?.stop()
    await Promise.all(ours.map((program) => program.stop()))
    await cluster?.end()
    rmSync(folder, { recursive: true, force: true })
  })

  it('show the present state', async () => {
    const said = await run('1. Take inventory')
    expect(said).toMatch(/log-agent +Healthy/)
    expect(said).toMatch(/node-agent +Progressing/)
    expect(said).toContain('no problems')
  })

  it('stop OpenKruise, and no pod changes', async () => {
    await run('2. Stop OpenKruise where it acts on DaemonSets')
    expect(await replicasOf('kruise-rollout', 'kruise-rollout-controller-manager')).toBe(0)
    kruise.stop()
    expect(await podNames(stageKey.name)).toEqual(podsBefore)
  })

  it('install Tranche over its definitions', async () => {
    const [install, wait] = splitBefore(commandsOf('3. Install Tranche'), 'kubectl -n tranche-system')
    await bash(install)
    await startOurs()
    expect(await bash(wait)).toContain('successfully rolled out')
  })

  it('show that every release is at the same step as before', async () => {
    const said = await run('4. Check the takeover')
    expect(said).toMatch(/^ok\s.*no other controller rolls out DaemonSets/m)
    expect(said).toMatch(/log-agent .*Done/)
    expect(said).toMatch(/node-agent .*Waiting/)
    expect(said).toContain('step    1 of 3, StepPaused')
    expect((await daemonSet(idleKey.name)).spec.updateStrategy?.type).toBe('OnDelete')
    const { annotations = {} } = (await daemonSet(stageKey.name)).metadata
    expect(Object.keys(annotations).filter((key) => kruiseKeys.includes(key))).toEqual([])
    expect(await podNames(stageKey.name)).toEqual(podsBefore)
  })

  it('end the interrupted release', async () => {
    expect(await run('5. Resume interrupted releases')).toContain('exit code 3')
    expect(await tagsOf(stageKey.name)).toEqual(['v2'])
  })

  it('release a new version with Tranche alone', async () => {
    const said = await run('6. Release with Tranche')
    expect(said).toContain('exit code 3')
    expect(said).toContain('the first nodes are well')
    expect(await tagsOf(idleKey.name)).toEqual(['v2'])
  })

  it('go back to OpenKruise, and leave no key of Tranche', async () => {
    const [leave, back] = splitBefore(commandsOf('Return to OpenKruise'), 'helm uninstall')
    const said = await bash(leave)
    expect(said).not.toContain('daemonset.apps/')
    for (const name of [stageKey.name, idleKey.name]) {
      const { metadata, spec } = await daemonSet(name)
      expect(spec.updateStrategy?.type).toBe('RollingUpdate')
      expect(Object.keys({ ...metadata.annotations, ...metadata.labels }).filter((key) => /kruise\.io|tranche\.dev/.test(key))).toEqual([])
    }
    await Promise.all(ours.map((program) => program.stop()))
    ours = []
    await bash(back)
    expect(await replicasOf('kruise-rollout', 'kruise-rollout-controller-manager')).toBe(2)
    expect(
      (await bash('kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations -o name')).trim().split('\n'),
    ).toHaveLength(2)
    const { items } = await client.list<Rollout>(resourcePaths.rollouts, { namespace: stageKey.namespace })
    expect(items.map(({ metadata }) => metadata.name).toSorted()).toEqual([idleKey.name, stageKey.name])
  })

  it('remove OpenKruise, and leave the definitions and every Rollout', async () => {
    expect((await bash('helm list -A -q')).trim()).toBe('kruise-rollout')
    const said = await run('Remove OpenKruise')
    for (const name of itsDefinitions) expect(said).toContain(name)
    expect(readFileSync(join(folder, 'work/kruise-rollout.yaml'), 'utf8')).toContain('name: rollouts.rollouts.kruise.io')
    expect((await bash('helm list -A -q')).trim()).toBe('')
    const { items } = await client.list<Rollout>(resourcePaths.rollouts, { namespace: stageKey.namespace })
    expect(items.map(({ metadata }) => metadata.name).toSorted()).toEqual([idleKey.name, stageKey.name])
  })
})

/** OpenKruise with an idle DaemonSet, and with one in the pause of its first step. */
async function setTheStage(): Promise<void> {
  const [agent, idle] = [stageKey.name, idleKey.name].map((name) => named(daemonSetManifest({ maxUnavailable: 5 }), name))
  await create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: stageKey.namespace } }, agent, idle, itsIdleRollout)
  for (const { name } of [stageKey, idleKey]) await until(async () => (await daemonSet(name)).status?.numberAvailable === 10)
  await client.patch(resourcePaths.daemonSets, stageKey, { type: 'merge', body: { spec: { updateStrategy: { type: 'OnDelete' } } } })
  await leaveAsKruise(kruiseCluster(), { step: 1, state: 'StepPaused', updated: 2, size: 2 })
  await leaveIdle()
  await hurry()
  kruise = await startKruise(kruiseCluster(), 5)
  await create(itsDeployment, itsValidation)
  await installItsChart()
  podsBefore = await podNames(stageKey.name)
}

const itsDefinitions = ['rollouts.rollouts.kruise.io', 'batchreleases.rollouts.kruise.io']

/** As in its own chart, the definitions are templates: Helm deletes them with the release. */
async function installItsChart(): Promise<void> {
  const chart = join(folder, 'work/its-chart')
  mkdirSync(join(chart, 'templates'), { recursive: true })
  for (const name of itsDefinitions) {
    copyFileSync(`packages/words/api-schema/crds/${name}.yaml`, join(chart, `${name}.yaml`))
    writeFileSync(join(chart, `templates/${name}.yaml`), `{{ .Files.Get "${name}.yaml" }}`)
  }
  writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: kruise-rollout\nversion: 0.6.2\n')
  await bash('helm install kruise-rollout ./its-chart -n kruise-rollout --take-ownership --force-conflicts')
}

const labels = { app: 'kruise-rollout' }
const itsDeployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'kruise-rollout', name: 'kruise-rollout-controller-manager' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'manager', image: 'registry.example/manager:v1' }] } },
  },
}

const itsValidation = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'kruise-rollout-validating-webhook-configuration' },
}

const itsIdleRollout = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
  metadata: { ...idleKey, finalizers: ['rollouts.kruise.io/rollout'], annotations: { 'rollouts.kruise.io/hash': 'f00d' } },
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: idleKey.name },
    strategy: { canary: { steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }] } },
  },
}

/** The state in which OpenKruise leaves a healthy Rollout: a label on the DaemonSet, and a status. */
async function leaveIdle(): Promise<void> {
  const where = { currentStepIndex: 0, currentStepState: 'Completed' }
  const status = { observedGeneration: 1, phase: 'Healthy', message: 'rollout is healthy', ...where }
  await client.patch(resourcePaths.rollouts, idleKey, { type: 'merge', body: { status } }, { subresource: 'status' })
  const body = { metadata: { labels: { 'rollouts.kruise.io/workload-type': 'daemonset' } } }
  await client.patch(resourcePaths.daemonSets, idleKey, { type: 'merge', body })
}

/** By default Tranche observes a release for ten seconds more when every node is updated; a policy shortens that. */
async function hurry(): Promise<void> {
  await create({ apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy', metadata: policyKey, spec: { soak: { final: '1s' } } })
  const body = { metadata: { annotations: goesBy(policyKey.name) } }
  for (const key of [stageKey, idleKey]) await client.patch(resourcePaths.rollouts, key, { type: 'merge', body })
}

/** Starts the programs of the Deployment in the chart, and writes the status that its controller would write. */
async function startOurs(): Promise<void> {
  const deployment = { namespace: 'tranche-system', name: 'tranche' }
  expect(await replicasOf(deployment.namespace, deployment.name)).toBe(1)
  const shared = { clock: systemClock, log: silentLogger }
  const queue = createInProcessQueue(shared)
  const exchangeFor = (name: string) => ({ ...shared, identity: name, exchange: cluster.simulator.exchangeFor(name), queue })
  const controller = startController({ ...exchangeFor('tranche-1'), admission: 'none', leaderElection: true })
  const executor = startExecutor(exchangeFor('tranche-2'))
  ours = [controller, executor]
  await Promise.all([controller.ready, executor.ready])
  const status = '{"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1}}'
  await bash(`kubectl -n ${deployment.namespace} patch deployment ${deployment.name} --subresource=status --type=merge -p '${status}'`)
}

/** The cluster for a play that leaves a release behind, in real time. */
function kruiseCluster(): KruiseCluster {
  return {
    client,
    clock: { nowMs: () => systemClock.nowMs(), setTimer: (ms, ring) => systemClock.setTimer(ms, ring), run: async () => 'done' },
    until: (_what, done) => until(async () => done()),
    daemonSet: () => daemonSet(stageKey.name),
    pods: () => podsOf(stageKey.name),
    setImage: async (tag) => {
      const body = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: `registry.example/node-agent:${tag}` }] as const
      await client.patch(resourcePaths.daemonSets, stageKey, { type: 'json', body })
    },
    patchDaemonSet: async (body) => void (await client.patch(resourcePaths.daemonSets, stageKey, { type: 'merge', body })),
  }
}

function named(manifest: object, name: string): object {
  return JSON.parse(
    JSON.stringify({ ...manifest, metadata: { ...stageKey, name } }).replaceAll('"app":"node-agent"', `"app":"${name}"`),
  ) as object
}

async function daemonSet(name: string): Promise<DaemonSet> {
  return client.get<DaemonSet>(resourcePaths.daemonSets, { ...stageKey, name })
}

async function podsOf(app: string): Promise<readonly Pod[]> {
  const { items } = await client.list<Pod>(resourcePaths.pods, { namespace: stageKey.namespace })
  return items.filter(({ metadata }) => metadata.labels?.['app'] === app)
}

async function podNames(app: string): Promise<readonly string[]> {
  return (await podsOf(app)).map(({ metadata }) => metadata.name).toSorted()
}

async function tagsOf(app: string): Promise<readonly string[]> {
  const specs = (await podsOf(app)).map(({ spec }) => spec as unknown as { readonly containers: readonly { readonly image: string }[] })
  return [...new Set(specs.map(({ containers }) => containers[0]?.image.split(':').at(-1) ?? ''))]
}

async function replicasOf(namespace: string, name: string): Promise<number> {
  return Number(await bash(`kubectl -n ${namespace} get deployment ${name} -o jsonpath={.spec.replicas}`))
}

async function create(...items: readonly (object | undefined)[]): Promise<void> {
  await bash(`kubectl create -f - <<'END'
${JSON.stringify({ apiVersion: 'v1', kind: 'List', items })}
END`)
}

async function until(done: () => Promise<boolean>): Promise<void> {
  await vi.waitUntil(done, { timeout: 60_000, interval: 20 })
}

/** Content of the sh blocks of a section. */
function commandsOf(heading: string): string {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text = '']) => text).join('')
}

function splitBefore(text: string, line: string): readonly [string, string] {
  const at = text.indexOf(line)
  expect(at).toBeGreaterThan(0)
  return [text.slice(0, at), text.slice(at)]
}

async function run(heading: string): Promise<string> {
  const commands = commandsOf(heading)
  expect(commands).not.toBe('')
  return bash(commands)
}

async function bash(script: string): Promise<string> {
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, KUBECONFIG: cluster.kubeconfig, HOME: folder }
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: join(folder, 'work'), env })
  return stdout
}
