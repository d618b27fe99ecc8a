import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentManifest, type Cluster, startCluster } from '../clients/cluster.ts'
import { runProgram } from '../clients/run-program.ts'
import { chart, helm, programs, renderText, type Values } from './chart.ts'
import { choices } from './values.ts'

const namespace = 'tranche-system'
const tranche = 'apps/launcher/src/main.ts'
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

/** A status in mid-release. */
const released = {
  ...agentManifest('v1'),
  metadata: {
    name: 'agent',
    namespace: 'default',
    labels: { 'rollouts.kruise.io/workload-type': 'daemonset' },
    annotations: { 'tranche.dev/rollout': 'agent', 'rollouts.kruise.io/daemonset-partition': '3' },
  },
}

/** The cluster has no definitions of the Prometheus operator and of cert-manager. */
function withoutOthers({ metrics, webhook: _webhook, api, ...values }: Values): Values {
  const { httpRoute: _route, ...others } = (api ?? {}) as Values
  return {
    ...values,
    api: others,
    metrics: { ...(metrics as object | undefined), serviceMonitor: { enabled: false }, prometheusRule: { enabled: false } },
  }
}

describe.skipIf(programs === null)('helm, on a cluster', () => {
  it('installs the chart, and prints the next steps', async () => {
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

  it('prints a Rollout that the API server accepts', async () => {
    const { stdout } = await helm(['get', 'notes', 'tranche', '--namespace', namespace], cluster)
    const manifest = /<<'END'\n([\s\S]*?)\n\s*END/.exec(stdout)?.[1]?.replace(/^ {5}/gm, '') ?? ''
    await kubectl(['create', 'namespace', 'demo'])
    const { stdout: said, stderr } = await kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', '-'], manifest)
    expect(said + stderr).toBe('rollout.rollouts.kruise.io/node-agent created (server dry run)\n')
  })

  it('grants all permissions that its processes need, and the doctor notices when some are removed', async () => {
    const { stdout } = await kubectl(['get', 'deployment', 'tranche', '-n', namespace, '-o', 'json'])
    const { template } = (JSON.parse(stdout) as { readonly spec: { readonly template: { readonly metadata: object } } }).spec
    const pod = { apiVersion: 'v1', kind: 'Pod', ...template, metadata: { ...template.metadata, name: 'tranche-0', namespace } }
    await kubectl(['create', '-f', '-'], JSON.stringify(pod))
    await kubectl(['delete', 'clusterrolebinding', 'tranche-executor'])
    const doctor = await runProgram(process.execPath, [tranche, 'doctor', '--kubeconfig', cluster.kubeconfig, '-o', 'json'])
    expect(JSON.parse(doctor.stdout)).toContainEqual(
      expect.objectContaining({
        ...{ check: 'accounts', state: 'problem' },
        message: 'the service account tranche-system/tranche of all-in-one may not get nodes, get pods, delete pods',
        fix: expect.stringContaining('helm upgrade restores the permissions of the chart') as string,
      }),
    )
    await kubectl(['delete', 'pod', 'tranche-0', '-n', namespace, '--now'])
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

  it('returns to the previous values', async () => {
    const { code } = await helm(['rollback', 'tranche', '1', '--namespace', namespace], cluster)
    expect(code).toBe(0)
    expect(await namesOf('deployments')).toEqual(['deployment.apps/tranche'])
  })

  it('keeps the certificates of the webhook at an upgrade', async () => {
    const upgrade = () => helm(['upgrade', ...target], { ...cluster, values: choices['a webhook']! })
    expect(await upgrade()).toMatchObject({ code: 0, stderr: '' })
    const caBundle = Buffer.from(cluster.caCertificate).toString('base64')
    const trust = [{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: caBundle }]
    const keep = { data: { 'tls.crt': caBundle } }
    const patch = (of: readonly string[], type: string, body: unknown) =>
      kubectl(['patch', ...of, '--type', type, '--patch', JSON.stringify(body)])
    expect((await patch(['mutatingwebhookconfiguration', 'tranche'], 'json', trust)).code).toBe(0)
    expect((await patch(['secret', 'tranche-webhook', '-n', namespace], 'merge', keep)).code).toBe(0)
    expect(await upgrade()).toMatchObject({ code: 0, stderr: '' })
    const read = async (...args: readonly string[]): Promise<string> => (await kubectl(['get', ...args])).stdout
    expect(await read('mutatingwebhookconfiguration', 'tranche', '-o', 'jsonpath={.webhooks[0].clientConfig.caBundle}')).toBe(caBundle)
    expect(await read('secret', 'tranche-webhook', '-n', namespace, '-o', 'jsonpath={.data.tls\\.crt}')).toBe(caBundle)
  })

  it('uninstalls everything but the definitions, whose removal would delete every Rollout', async () => {
    await kubectl(['apply', '-f', '-'], JSON.stringify(released))
    const daemonSet = async (): Promise<string> => (await kubectl(['get', 'daemonset/agent', '-o', 'json'])).stdout
    const before = await daemonSet()
    const { code, stdout } = await helm(['uninstall', 'tranche', '--namespace', namespace], cluster)
    expect(code).toBe(0)
    expect(stdout.match(/\[CustomResourceDefinition\] \S+/g)).toHaveLength(3)
    expect(JSON.parse(await daemonSet())).toEqual(JSON.parse(before))
    const left = await namesOf(
      'deployments,services,secrets,serviceaccounts,networkpolicies,clusterroles,clusterrolebindings,roles,rolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations',
    )
    expect(left).toEqual([])
    expect(await namesOf('customresourcedefinitions')).toHaveLength(3)
  })

  it('takes over definitions of another installation if its flags say so', async () => {
    await kubectl(['label', 'crd', '--all', 'app.kubernetes.io/managed-by-', '--overwrite'])
    await kubectl(['annotate', 'crd', '--all', 'meta.helm.sh/release-name=kruise-rollout', '--overwrite'])
    const refused = await helm(['install', ...target], cluster)
    expect(refused.stderr).toContain('exists and cannot be imported into the current release')
    const { code, stderr } = await helm(['install', ...target, '--take-ownership', '--force-conflicts'], cluster)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  it.each(Object.keys(choices))('renders objects whose fields an API server accepts: %s', async (name) => {
    // The pod of `helm test` needs its account first.
    const text = await renderText({ ...withoutOthers(choices[name]!), fullnameOverride: 'another' }, ['--skip-tests'])
    for (const one of ['monitoring-agents', 'agents', 'network', 'leases', 'medik8s-leases', 'gpu-operator'])
      await kubectl(['create', 'namespace', one])
    const { stdout, stderr } = await kubectl(['create', '--dry-run=server', '--validate=strict', '-f', '-'], text)
    const refused = stderr.split('\n').filter((line) => line !== '' && !/customresourcedefinitions.*already exists/.test(line))
    expect(refused).toEqual([])
    expect(stdout).toMatch(/^deployment.apps\/another\S* created \(server dry run\)$/m)
  })

  it('renders an account and a pod for helm test that an API server accepts', async () => {
    const rendered = (file: string) => renderText({ fullnameOverride: 'tranche' }, ['--show-only', `templates/tests/${file}.yaml`])
    const account = await kubectl(['create', '--validate=strict', '-f', '-'], await rendered('account'))
    expect([account.code, account.stderr]).toEqual([0, ''])
    const { stdout, stderr } = await kubectl(['create', '--dry-run=server', '--validate=strict', '-f', '-'], await rendered('doctor'))
    expect(stdout + stderr).toBe('pod/tranche-test created (server dry run)\n')
  })
})
