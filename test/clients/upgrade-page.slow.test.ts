import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { programs } from '../chart/chart.ts'
import { agentManifest, agentRollout, type Cluster, startCluster } from './cluster.ts'
import { type Programs, startPrograms } from './programs.ts'
import { runProgram } from './run-program.ts'

const page = readFileSync('docs/operations/upgrade.md', 'utf8')
const protection = parse(readFileSync('charts/tranche/files/definitions-policy.yaml', 'utf8')) as { readonly policies: readonly object[] }

/** Command blocks of a section, in order. */
function blocksOf(section: string): readonly string[] {
  const [, text = ''] = page.split(`\n## ${section}\n`)
  return [...(text.split('\n## ')[0] ?? '').matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
}

let folder: string
let cluster: Cluster
let fresh: Cluster | undefined
const running: Programs[] = []

describe.skipIf(programs === null)('the commands of docs/operations/upgrade.md', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tranche-life-'))
    for (const name of ['helm', 'kubectl'] as const) symlinkSync(resolve(programs![name]), join(folder, name))
    for (const name of ['packages', 'charts']) symlinkSync(resolve(name), join(folder, name))
    cluster = await startCluster(3)
    running.push(await startPrograms(cluster))
    await apply(cluster, agentManifest('v1'))
    await sh(cluster, 'kubectl rollout status ds/agent --timeout=30s')
    await apply(cluster, agentRollout)
    await until(cluster, '{.status.phase}=Healthy')
  })

  afterAll(async () => {
    await Promise.all(running.map((program) => program.stop()))
    await Promise.all([cluster?.end(), fresh?.end()])
    rmSync(folder, { recursive: true, force: true })
  })

  it('restore a release in progress into a fresh cluster, where it deletes nothing and the blocked revision stays blocked', async () => {
    await release(cluster, 'v2')
    await sh(cluster, `kubectl annotate rollout agent tranche.dev/action='{"id":"stop","type":"abort"}'`)
    await until(cluster, '{.status.heldRevisions[0].reverted}=true')
    await until(cluster, '{.status.phase}=Healthy')
    await release(cluster, 'v3')

    const [save = '', restore = ''] = blocksOf('Backup and restore')
    await sh(cluster, save)
    const daemonSet = JSON.parse(await sh(cluster, 'kubectl get ds agent -o json')) as Kept
    fresh = await startCluster(3, { definitions: false })
    const { name, namespace, labels, annotations } = daemonSet.metadata
    await apply(fresh, { ...daemonSet, metadata: { name, namespace, labels, annotations }, status: undefined })
    await sh(fresh, restore)
    await sh(fresh, `kubectl wait ds/agent --for=jsonpath='{.status.numberReady}'=3 --timeout=30s`)
    const before = await podsOf(fresh)
    running.push(await startPrograms(fresh))
    await until(fresh, '{.status.observedGeneration}=1')
    expect(await sh(fresh, `kubectl get rollout agent -o jsonpath='{.status.canaryStatus.currentStepState}'`)).toBe('StepPaused')
    await sh(
      fresh,
      `kubectl patch rollout agent --subresource=status --type=merge -p '{"status":{"canaryStatus":{"currentStepState":"StepReady"}}}'`,
    )
    await until(fresh, '{.status.phase}=Healthy')
    await sh(fresh, 'kubectl set image ds/agent main=agent:v2')
    await sh(fresh, 'kubectl wait rollout/agent --for=condition=Stalled --timeout=30s')
    expect(await podsOf(fresh)).toEqual(before)
  })

  it('upgrade, downgrade, and downgrade the definitions', async () => {
    await sh(cluster, 'helm install tranche charts/tranche -n tranche-system --create-namespace --take-ownership --force-conflicts')
    await sh(cluster, blocksOf('Upgrade and downgrade').join(''))
    expect((await sh(cluster, 'kubectl get crd -o name')).match(/tranche\.dev|kruise\.io/g)).toHaveLength(3)
    expect(await sh(cluster, 'helm get manifest tranche -n tranche-system')).not.toContain('kind: CustomResourceDefinition')
  })

  it('uninstall, restore the strategy of every DaemonSet, and leave nothing', async () => {
    await sh(
      cluster,
      `kubectl patch rollout agent --subresource=status --type=merge -p '{"status":{"canaryStatus":{"currentStepState":"StepReady"}}}'`,
    )
    await until(cluster, '{.status.phase}=Healthy')
    const pods = await podsOf(cluster)
    // An API server enforces the policy of the chart for up to a second after its deletion.
    for (const object of protection.policies) await apply(cluster, object)
    const { stdout } = await runProgram('bash', ['-euo', 'pipefail', '-c', blocksOf('Uninstall').join('')], options(cluster))
    expect(stdout).toMatch(/^rollout.rollouts.kruise.io "agent" deleted/m)
    expect(stdout).toMatch(/^release "tranche" uninstalled$/m)
    const { metadata, spec } = JSON.parse(await sh(cluster, 'kubectl get ds agent -o json')) as Kept
    expect(spec.updateStrategy.type).toBe('RollingUpdate')
    expect(Object.keys(metadata.annotations ?? {}).filter((key) => /kruise|tranche/.test(key))).toEqual([])
    expect(await podsOf(cluster)).toEqual(pods)
    expect(await sh(cluster, 'kubectl get crd -o name')).toBe('')
  })
})

interface Kept {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: { readonly updateStrategy: { readonly type: string } }
}

/** Releases the tag until the first step waits for an approval. */
async function release(on: Cluster, tag: string): Promise<void> {
  await sh(on, `kubectl set image ds/agent main=agent:${tag}`)
  await until(on, '{.status.phase}=Progressing')
  await until(on, '{.status.canaryStatus.currentStepState}=StepPaused')
}

async function until(on: Cluster, state: string): Promise<void> {
  const at = state.lastIndexOf('=')
  await sh(on, `kubectl wait rollout/agent --for=jsonpath='${state.slice(0, at)}'${state.slice(at)} --timeout=60s`)
}

async function podsOf(on: Cluster): Promise<readonly string[]> {
  return (await sh(on, 'kubectl get pods -o name')).split('\n').toSorted()
}

async function apply(on: Cluster, object: object): Promise<void> {
  const { code, stderr } = await runProgram('kubectl', ['create', '-f', '-'], { ...options(on), input: JSON.stringify(object) })
  if (code !== 0) throw new Error(stderr)
}

/** @throws {Error} with the output of a failed command */
async function sh(on: Cluster, commands: string): Promise<string> {
  return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], options(on))).stdout
}

function options(on: Cluster): { readonly cwd: string; readonly env: Readonly<Record<string, string>> } {
  return { cwd: folder, env: { PATH: `${folder}:${process.env['PATH']}`, KUBECONFIG: on.kubeconfig, HOME: folder } }
}
