import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentManifest, type Cluster, startCluster } from '../clients/cluster.ts'
import { runProgram } from '../clients/run-program.ts'
import { chart, helm, programs, renderText } from './chart.ts'
import { choices } from './values.ts'

const namespace = 'tranche-system'
const target = ['tranche', chart, '--namespace', namespace]

let cluster: Cluster
beforeAll(async () => (cluster = await startCluster(0, { definitions: false })))
afterAll(() => cluster.end())

function kubectl(args: readonly string[], input = '') {
  return runProgram(programs!.kubectl, ['--kubeconfig', cluster.kubeconfig, ...args], { input })
}

async function namesOf(kinds: string): Promise<readonly string[]> {
  const { stdout } = await kubectl(['get', kinds, '--all-namespaces', '-o', 'name', '-l', 'app.kubernetes.io/part-of=tranche'])
  return stdout.split('\n').filter((line) => line !== '')
}

/** In the middle of a release. */
const released = {
  ...agentManifest('v1'),
  metadata: {
    name: 'agent',
    namespace: 'default',
    labels: { 'rollouts.kruise.io/workload-type': 'daemonset' },
    annotations: { 'tranche.dev/rollout': 'agent', 'rollouts.kruise.io/daemonset-partition': '3' },
  },
}

/** The definitions of the Prometheus operator are not there. */
function unwatched(metrics: unknown): object {
  return { ...(metrics as object | undefined), serviceMonitor: { enabled: false }, prometheusRule: { enabled: false } }
}

describe.skipIf(programs === null)('helm, on a cluster', { timeout: 120_000 }, () => {
  it('installs the chart, and says what to do next', async () => {
    const { code, stdout, stderr } = await helm(['install', ...target, '--create-namespace'], cluster)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('kubectl -n tranche-system rollout status deployment/tranche')
    expect(await namesOf('deployments,services,serviceaccounts,networkpolicies')).toEqual([
      'deployment.apps/tranche',
      'service/tranche-api',
      'service/tranche-metrics',
      'serviceaccount/tranche',
      'networkpolicy.networking.k8s.io/tranche',
    ])
  })

  it('prints a Rollout that the API server takes', async () => {
    const { stdout } = await helm(['get', 'notes', 'tranche', '--namespace', namespace], cluster)
    const manifest = /<<'END'\n([\s\S]*?)\n\s*END/.exec(stdout)?.[1]?.replace(/^ {5}/gm, '') ?? ''
    await kubectl(['create', 'namespace', 'demo'])
    const { stdout: said, stderr } = await kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', '-'], manifest)
    expect(said + stderr).toBe('rollout.rollouts.kruise.io/node-agent created (server dry run)\n')
  })

  it('upgrades to separate Deployments', async () => {
    const { code, stderr } = await helm(['upgrade', ...target], { ...cluster, values: choices['distributed']! })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(await namesOf('deployments')).toEqual([
      'deployment.apps/tranche-api',
      'deployment.apps/tranche-controller',
      'deployment.apps/tranche-executor',
    ])
  })

  it('goes back', async () => {
    const { code } = await helm(['rollback', 'tranche', '1', '--namespace', namespace], cluster)
    expect(code).toBe(0)
    expect(await namesOf('deployments')).toEqual(['deployment.apps/tranche'])
  })

  it('uninstalls everything but the definitions, with which every Rollout would go', async () => {
    await kubectl(['apply', '-f', '-'], JSON.stringify(released))
    const daemonSet = async (): Promise<string> => (await kubectl(['get', 'daemonset/agent', '-o', 'json'])).stdout
    const before = await daemonSet()
    const { code, stdout } = await helm(['uninstall', 'tranche', '--namespace', namespace], cluster)
    expect(code).toBe(0)
    expect(stdout.match(/\[CustomResourceDefinition\] \S+/g)).toHaveLength(3)
    expect(JSON.parse(await daemonSet())).toEqual(JSON.parse(before))
    const left = await namesOf('deployments,services,serviceaccounts,networkpolicies,clusterroles,clusterrolebindings,roles,rolebindings')
    expect(left).toEqual([])
    expect(await namesOf('customresourcedefinitions')).toHaveLength(3)
  })

  it('goes over definitions that others have brought, when it is told to', async () => {
    await kubectl(['label', 'crd', '--all', 'app.kubernetes.io/managed-by-', '--overwrite'])
    await kubectl(['annotate', 'crd', '--all', 'meta.helm.sh/release-name=kruise-rollout', '--overwrite'])
    const refused = await helm(['install', ...target], cluster)
    expect(refused.stderr).toContain('exists and cannot be imported into the current release')
    const { code, stderr } = await helm(['install', ...target, '--take-ownership', '--force-conflicts'], cluster)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  it.each(Object.keys(choices))('renders what an API server takes, field by field: %s', async (name) => {
    // The pod of `helm test` needs its account first.
    const text = await renderText({ ...choices[name], metrics: unwatched(choices[name]?.['metrics']), fullnameOverride: 'another' }, [
      '--skip-tests',
    ])
    for (const one of ['monitoring-agents', 'agents', 'network', 'leases']) await kubectl(['create', 'namespace', one])
    const { stdout, stderr } = await kubectl(['create', '--dry-run=server', '--validate=strict', '-f', '-'], text)
    const refused = stderr.split('\n').filter((line) => line !== '' && !/customresourcedefinitions.*already exists/.test(line))
    expect(refused).toEqual([])
    expect(stdout).toMatch(/^deployment.apps\/another\S* created \(server dry run\)$/m)
  })

  it('renders a pod for helm test that an API server takes', async () => {
    const text = await renderText({ fullnameOverride: 'tranche' }, ['--show-only', 'templates/tests/doctor.yaml'])
    const { stdout, stderr } = await kubectl(['create', '--dry-run=server', '--validate=strict', '-f', '-'], text)
    expect(stdout + stderr).toBe('pod/tranche-test created (server dry run)\n')
  })
})
