import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type Cluster, startCluster } from '../clients/cluster.ts'
import { runProgram } from '../clients/run-program.ts'
import { chart, helm, type HelmOptions, programs, type Values } from './chart.ts'
import { olderChart } from './older-chart.ts'
import { findHelm3 } from './programs.ts'
import { choices } from './values.ts'

const helm3 = programs === null ? null : findHelm3()
if (helm3 === null && process.env['CI'] !== undefined) throw new Error('helm 3 is not installed; under CI no suite is skipped')
const namespace = 'tranche-system'

describe.skipIf(helm3 === null)('Helm 3', () => {
  let cluster: Cluster
  beforeAll(async () => (cluster = await startCluster(0, { definitions: false })))
  afterAll(() => cluster.end())

  it('is the tested version', async () => {
    expect((await run(['version', '--short'])).stdout).toMatch(/^v3\.18\./)
  })

  it.each(Object.entries(choices))('renders what Helm 4 renders: %s', async (_name, values) => {
    const args = ['template', 'tranche', chart, '--namespace', namespace, '--kube-version', '1.36.0']
    const [three, four] = await Promise.all([run(args, values), helm(args, { values })])
    expect(three).toMatchObject({ code: 0, stderr: '' })
    expect(objectsOf(three.stdout)).toEqual(objectsOf(four.stdout))
  })

  it('lints without a complaint', async () => {
    expect(await run(['lint', '--strict', chart])).toMatchObject({ code: 0 })
  })

  it('installs, upgrades with definitions, rolls back, and uninstalls', async () => {
    const older = olderChart()
    const target = ['--namespace', namespace]
    await succeeds(['install', 'tranche', older.path, ...target, '--create-namespace'])
    older.remove()
    expect(await keepsStableRevision()).toBe(false)
    await succeeds(['upgrade', 'tranche', chart, ...target], choices['distributed'])
    expect(await keepsStableRevision()).toBe(true)
    expect(await names('deployments')).toHaveLength(3)
    await succeeds(['upgrade', 'tranche', chart, ...target])
    await succeeds(['rollback', 'tranche', ...target])
    expect(await names('deployments')).toHaveLength(3)
    await succeeds(['uninstall', 'tranche', ...target])
    expect(await names('deployments,services,serviceaccounts,clusterroles,clusterrolebindings,roles,rolebindings')).toEqual([])
    expect(await names('customresourcedefinitions')).toHaveLength(3)
  })

  it('takes over definitions of another installation if its flags say so', async () => {
    await kubectl(['label', 'crd', '--all', 'app.kubernetes.io/managed-by-', '--overwrite'])
    await kubectl(['annotate', 'crd', '--all', 'meta.helm.sh/release-name=kruise-rollout', '--overwrite'])
    await succeeds(['install', 'tranche', chart, '--namespace', namespace, '--take-ownership'])
  })

  function run(args: readonly string[], values: Values = {}) {
    const options: HelmOptions = { values, kubeconfig: cluster.kubeconfig, program: helm3! }
    return helm(args, options)
  }

  async function succeeds(args: readonly string[], values: Values = {}): Promise<void> {
    const { code, stderr } = await run(args, values)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  }

  function kubectl(args: readonly string[]) {
    return runProgram(programs!.kubectl, ['--kubeconfig', cluster.kubeconfig, ...args])
  }

  async function names(kinds: string): Promise<readonly string[]> {
    const { stdout } = await kubectl(['get', kinds, '-A', '-o', 'name', '-l', 'app.kubernetes.io/part-of=tranche'])
    return stdout.split('\n').filter((line) => line !== '')
  }

  /** A field that the older definitions lack. */
  async function keepsStableRevision(): Promise<boolean> {
    const path = '{.spec.versions[0].schema.openAPIV3Schema.properties.status.properties.stableRevision.type}'
    const { stdout } = await kubectl(['get', 'crd', 'rollouts.rollouts.kruise.io', '-o', `jsonpath=${path}`])
    return stdout === 'string'
  }
})

/** Helm 4 leaves out the empty lines of templates. */
/** In one order: the two versions sort objects of unknown kinds differently. */
function objectsOf(text: string): readonly unknown[] {
  const objects = parseAllDocuments(text).flatMap((document) => (document.toJS() as Named | null) ?? [])
  const at = ({ kind, metadata }: Named): string => `${kind}/${metadata.name}`
  return objects.toSorted((a, b) => (at(a) < at(b) ? -1 : 1))
}

interface Named {
  readonly kind: string
  readonly metadata: { readonly name: string }
}
